/**
 * A scenario: a fixed world with fixed steps, on simulated time.
 *
 * Promises: every invariant of the simulation is checked, until the world has come to rest; the
 * same scenario gives the same log, byte for byte, on every runtime.
 */
import { createHash } from 'node:crypto';
import { auditCounts, evictionsIn, total } from '../../support/drains/audited-drains.ts';
import { chanceOf, derived } from '../chance.ts';
import type { SiteOptions } from '../embedded-site.ts';
import { ORDINARY_FLAGS, type ProcessFlags } from '../simulated-process.ts';
import type { Breach } from '../world-state.ts';
import { type Finding, type Harness, openHarness, ScenarioEnded } from './harness.ts';

/** A world and its steps. */
export interface Scenario {
  readonly name: string;
  /** Its claim, as the title of its test. */
  readonly shows: string;
  readonly siteOptions: SiteOptions;
  readonly flags?: Partial<ProcessFlags>;
  /** Thousands of pods: takes a while. */
  readonly crowd?: true;
  readonly play: (harness: Harness) => Promise<void>;
}

/** Of one way, in milliseconds: in one zone, across zones, and a busy API server. */
const LATENCIES_MS = [15, 15, 60, 250] as const;
/** A longer lease lets its requests take longer, too. */
const LEASES = [
  ORDINARY_FLAGS.lease,
  { leaseMs: 30_000, renewMs: 20_000, retryMs: 2000 },
] as const;

/** The scenario with another timing: every latency, and the lease unless the scenario sets it. */
export const withTiming = (scenario: Scenario, seed: number): Scenario => {
  const chance = chanceOf(derived(seed, 8));
  const latencyMs = chance.pick(LATENCIES_MS);
  return {
    ...scenario,
    siteOptions: { ...scenario.siteOptions, seed, latencyMs },
    flags: { lease: chance.pick(LEASES), ...scenario.flags },
    play: async (harness) => {
      harness.note(`timing ${seed}: one way takes up to ${latencyMs} ms`);
      await scenario.play(harness);
    },
  };
};

/** The result. */
export interface ScenarioReport {
  readonly name: string;
  readonly breach: Breach | undefined;
  readonly findings: readonly Finding[];
  readonly log: readonly string[];
  /** SHA-256 of the log. */
  readonly digest: string;
  readonly simulatedMs: number;
  /** Eviction calls that the API server answered. */
  readonly evictions: number;
  /** Without watches, leases and Events, as the cost of a drain is counted. */
  readonly requests: number;
}

const rest = async ({ state, interceptor }: Harness): Promise<void> => {
  interceptor.open();
  Object.assign(state.weather, state.fair);
  await state.rest();
  state.check();
};

/** Runs a scenario to its rest. */
export const runScenario = async (scenario: Scenario): Promise<ScenarioReport> => {
  const harness = openHarness(scenario.siteOptions, scenario.flags);
  const { state, processes, site, findings } = harness;
  try {
    await scenario.play(harness);
  } catch (cause) {
    if (!(cause instanceof ScenarioEnded)) throw cause;
  }
  await rest(harness);
  for (const process of processes.all()) process.crash();
  await site.stop();
  const { lines } = state.log;
  const requests = harness.audit();
  return {
    name: scenario.name,
    breach: state.breach(),
    findings,
    log: lines,
    digest: createHash('sha256').update(lines.join('\n')).digest('hex'),
    simulatedMs: state.time.monotonic(),
    evictions: evictionsIn(requests).length,
    requests: total(auditCounts(requests)),
  };
};

/**
 * Whether it succeeded: all steps ran, all checks passed, all invariants held.
 */
export const wentWell = ({ breach, findings }: ScenarioReport): boolean =>
  breach === undefined && findings.length > 0 && findings.every(({ holds }) => holds);
