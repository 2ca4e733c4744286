/**
 * The harness of a scenario: a simulated world that the scenario changes, waits for, and checks.
 *
 * Promises: every invariant of the simulation is checked; a scenario ends with the first violation
 * and with the first timeout; each check is recorded with the actual value.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonRecord } from '../../../src/domain/json.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import type { Change } from '../../support/api/cluster-connection.ts';
import { auditInvariant, targetOf } from '../audit-invariant.ts';
import type { SiteOptions } from '../embedded-site.ts';
import { faultInjector } from '../fault-injector.ts';
import { nameOf } from '../invariant.ts';
import { operatorProcesses } from '../operator-processes.ts';
import { type LogEntry, ORDINARY_FLAGS, type ProcessFlags } from '../simulated-process.ts';
import { type WorldState, worldState } from '../world-state.ts';

/** One check, and its result. */
export interface Finding {
  readonly what: string;
  readonly holds: boolean;
  /** Empty when it holds. */
  readonly instead: string;
}

/** How to continue a wait. */
export interface Patience {
  readonly mostMs?: number;
  readonly everyMs?: number;
}

/** The scenario cannot continue; the cause is recorded. */
export class ScenarioEnded extends Error {}

const LOOK_MS = 50;
const PATIENT_MS = 900_000;
const TEXT_CHARS_MAX = 2000;

const textOf = (value: unknown): string =>
  (JSON.stringify(value) ?? 'undefined').slice(0, TEXT_CHARS_MAX);

/** The checks, in order. */
const makeFindings = (note: (text: string) => void) => {
  const findings: Finding[] = [];
  const add = (what: string, holds: boolean, instead: string): void => {
    findings.push({ what, holds, instead });
    note(holds ? `HOLDS ${what}` : `FAILS ${what}: ${instead}`);
  };
  return {
    findings,
    add,
    /** `found` equals `wanted`. */
    is: (what: string, found: unknown, wanted: unknown): void =>
      isDeepStrictEqual(found, wanted)
        ? add(what, true, '')
        : add(what, false, `${textOf(found)} instead of ${textOf(wanted)}`),
  };
};

/** Requests of the administrator. */
const objectClient = ({ site }: WorldState) => {
  const must = (method: string, path: string, body?: unknown): unknown => {
    const answer = site.ask(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`Cannot ${method} ${path}: ${textOf(answer.body)}`);
  };
  return {
    get: (path: string): unknown => must('GET', path),
    /** The objects of a collection, by its path; from the store, without a request. */
    list: (collection: string): readonly JsonRecord[] => {
      const { apiGroup, resource, namespace } = targetOf(collection);
      const stored = site.cluster.store.collection(
        apiGroup === '' ? resource : `${resource}.${apiGroup}`,
      );
      return [...stored.objects(namespace === '' ? undefined : namespace)];
    },
    create: (collection: string, objects: readonly unknown[]): void => {
      for (const object of objects) must('POST', collection, object);
    },
    patch: (path: string, change: unknown): void => void must('PATCH', path, change),
    remove: (path: string, options?: unknown): void => void must('DELETE', path, options),
  };
};

/** The history of each resource, as a watch would deliver it. */
const makeHistories = ({ site }: WorldState) => {
  const all = new Map<string, Change[]>();
  const changesOf = (resource: string): Change[] => {
    const known = all.get(resource) ?? [];
    all.set(resource, known);
    return known;
  };
  site.cluster.store.subscribe(({ resource, type, object }) =>
    void changesOf(resource).push({ type, object })
  );
  return {
    /** From the start of the world, of `pods`, `upcomingnodes.bigfleet.lucy.sh`, … */
    changesOf: (resource: string): readonly Change[] => changesOf(resource),
    /** Changes from now on. */
    following: (resource: string) => {
      const from = changesOf(resource).length;
      const changes = (): readonly Change[] => changesOf(resource).slice(from);
      return {
        of: (name: string): readonly JsonRecord[] =>
          changes().map(({ object }) => object).filter((one) => nameOf(one) === name),
        deleted: (): readonly string[] =>
          changes().filter(({ type }) => type === 'DELETED').map(({ object }) => nameOf(object)),
      };
    },
  };
};

/** An empty environment. */
export const openHarness = (siteOptions: SiteOptions, flags: Partial<ProcessFlags> = {}) => {
  const interceptor = faultInjector();
  const state = worldState(siteOptions, interceptor.interceptor);
  const processes = operatorProcesses(state, { ...ORDINARY_FLAGS, ...flags });
  const { time, site, log, invariants } = state;
  const audit = auditInvariant(time);
  const logged: (LogEntry & { readonly process: string })[] = [];
  invariants.push(audit.invariant, {
    logged: (process, entry) => void logged.push({ process, ...entry }),
  });
  const { findings, add, is } = makeFindings(log.note);
  return {
    state,
    site,
    time,
    processes,
    interceptor,
    findings,
    is,
    ...objectClient(state),
    ...makeHistories(state),
    /** The log lines of the processes. */
    logged: (): readonly (LogEntry & { readonly process: string })[] => logged,
    /** Requests from `sinceMs` of the wall clock on, in order. */
    audit: (sinceMs = 0): readonly AuditEntry[] =>
      audit.entries.filter(({ receivedMs }) => receivedMs >= sinceMs),
    /** A line of the scenario in the log. */
    note: (text: string): void => log.note(`SCENE ${text}`),
    wait: async (forMs: number): Promise<void> => {
      await state.pass(forMs, () => false, Math.min(forMs, LOOK_MS));
      if (state.breach() !== undefined) throw new ScenarioEnded();
    },
    /** Waits until `look` returns a value, and returns it. */
    until: async <T>(
      what: string,
      look: () => T | undefined | false,
      { mostMs = PATIENT_MS, everyMs = LOOK_MS }: Patience = {},
    ): Promise<T> => {
      let found: T | undefined | false;
      await state.pass(mostMs, () => (found = look()) !== undefined && found !== false, everyMs);
      if (found !== undefined && found !== false) return found;
      if (state.breach() === undefined) add(what, false, `timed out after ${mostMs} ms`);
      throw new ScenarioEnded();
    },
  };
};

/** The environment for scenarios. */
export type Harness = ReturnType<typeof openHarness>;
