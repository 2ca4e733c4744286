/**
 * Invariants about EvictionRequests: whose turn it is, when it passes on, and how requests end
 * (KEP-4563).
 */
import { asRecord, type JsonRecord, textAt } from '../../src/domain/json.ts';
import { labelsOf } from '../../src/domain/object-meta.ts';
import {
  isFinished,
  isTerminating,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import { budgetsOver, isDaemon } from './budget-invariants.ts';
import { lasting } from './durations.ts';
import {
  activeIn,
  IMPERATIVE,
  isOver,
  isTrue,
  processedIn,
  reportIn,
  requestersIn,
  REQUESTS_RESOURCE,
  targetsIn,
  timeIn,
} from './eviction-request-object.ts';
import { type Bench, type Invariant, nameOf, TERM_ENDED, uidOf } from './invariant.ts';

/** `--interceptor-deadline` of worlds: longer than a heartbeat, shorter than a world. */
export const REPORT_DEADLINE_MS = 100_000;
const SKEW_MS = 10_000;
/** Stored times have whole seconds. */
const PRECISION_MS = 2000;
/**
 * From a cause to the written status, in calm: a watch that was lost in an outage too short for the
 * lease to notice is given up after 30 s.
 */
const DECIDED_MS = 45_000;
/** From the turn of the imperative eviction to that of a pod without budgets, in calm. */
const EVICTED_MS = 105_000;
const WINDOW_MS = 10_000;
const WRITES_MAX = 12;

const podOf = ({ site }: Pick<Bench, 'site'>, request: unknown): JsonRecord | undefined => {
  const namespace = textAt(request, 'metadata', 'namespace') ?? '';
  const name = textAt(request, 'spec', 'target', 'pod', 'name') ?? '';
  const pod = site.cluster.store.collection('pods').get({ namespace, name });
  return uidOf(pod) === nameOf(request) ? pod : undefined;
};

const deadlineMs = (request: unknown, interceptor: string, nowMs: number): number => {
  const report = reportIn(request, interceptor);
  const created = Date.parse(textAt(request, 'metadata', 'creationTimestamp') ?? '');
  const start = timeIn(report, 'startTime') ?? created;
  const heartbeat = timeIn(report, 'heartbeatTime') ?? start;
  const isPlausible = heartbeat <= nowMs + SKEW_MS && heartbeat >= start - SKEW_MS;
  return Math.max(start, isPlausible ? heartbeat : start) + REPORT_DEADLINE_MS;
};

const isCompleted = (request: unknown, interceptor: string): boolean =>
  timeIn(reportIn(request, interceptor), 'completionTime') !== undefined;

const startsWith = (list: readonly string[], start: readonly string[]): boolean =>
  start.every((name, place) => list[place] === name);

/** What is wrong with a status by itself; undefined when nothing is. */
const disorder = (request: unknown): string | undefined => {
  const [targets, active, processed] = [
    targetsIn(request),
    activeIn(request),
    processedIn(request),
  ];
  if (active.length > 1) return `${active.join(' and ')} are active`;
  if (!startsWith(targets, processed)) return `${processed.join(', ')} are processed out of turn`;
  if (isOver(request) && active.length > 0) return `${active.join()} is active after the end`;
  const [name] = active;
  return name === undefined || name === targets[processed.length]
    ? undefined
    : `${name} is active out of turn`;
};

/** What is wrong with a change of a status. */
const regression = (before: unknown, after: unknown): string | undefined => {
  const targets = targetsIn(before);
  if (targets.length > 0 && targets.join() !== targetsIn(after).join()) {
    return 'its interceptors were exchanged';
  }
  const processed = processedIn(before);
  if (!startsWith(processedIn(after), processed)) return `${processed.join(', ')} came back`;
  const reopened = (['Canceled', 'Evicted'] as const)
    .find((type) => isTrue(before, type) && !isTrue(after, type));
  return reopened === undefined ? undefined : `it is not ${reopened} any more`;
};

/** ER-23, ER-26 to ER-32: one interceptor at a time, in order, and none after the end. */
export const interceptorsActInTurn = ({ broken, time }: Bench): Invariant => {
  const known = new Map<string, JsonRecord>();
  const passedOver = (before: unknown, after: unknown): string | undefined => {
    const [name] = activeIn(before);
    if (name === undefined || activeIn(after)[0] === name || isOver(after)) return undefined;
    if (isCompleted(after, name)) return undefined;
    const nowMs = time.now();
    return nowMs >= deadlineMs(after, name, nowMs) - PRECISION_MS
      ? undefined
      : `${name} was passed over before its deadline`;
  };
  return {
    change: ({ resource, type, object }) => {
      if (resource !== REQUESTS_RESOURCE) return;
      const uid = uidOf(object);
      const before = known.get(uid);
      if (type === 'DELETED') known.delete(uid);
      else known.set(uid, object);
      const name = nameOf(object);
      if (before !== undefined && type !== 'DELETED') {
        const wrong = regression(before, object);
        if (wrong !== undefined) broken('requests never go back', `"${name}": ${wrong}`);
      }
      const what = disorder(object);
      if (what !== undefined) broken('interceptors act in turn', `"${name}": ${what}`);
      if (before === undefined || type === 'DELETED') return;
      const early = passedOver(before, object);
      if (early !== undefined) broken('interceptors have their time', `"${name}": ${early}`);
    },
  };
};

/** What a request waits for although its controller should act; undefined when it need not. */
const overdueIn = (bench: Bench, request: JsonRecord): string | undefined => {
  const pod = podOf(bench, request);
  if (pod === undefined || isFinished(pod)) return 'its pod has left';
  if (requestersIn(request).length === 0) return 'nobody requests it';
  const [targets, [name], processed] = [
    targetsIn(request),
    activeIn(request),
    processedIn(request),
  ];
  if (targets.length === 0) return 'it has no interceptors';
  if (name === undefined) return processed.length < targets.length ? 'none is active' : undefined;
  if (name === IMPERATIVE) return undefined;
  if (isCompleted(request, name) && !isTerminating(pod)) return `${name} is done`;
  const nowMs = bench.time.now();
  return nowMs >= deadlineMs(request, name, nowMs) ? `${name} is silent` : undefined;
};

const sameLabels = (left: object, right: object): boolean =>
  JSON.stringify(Object.entries(left).toSorted()) ===
    JSON.stringify(Object.entries(right).toSorted());

const openRequests = ({ site }: Bench): readonly JsonRecord[] =>
  [...site.cluster.store.collection(REQUESTS_RESOURCE).objects()]
    .filter((one) => !isOver(one) && textAt(one, 'metadata', 'deletionTimestamp') === undefined);

/** ER-43 to ER-61, ER-63: the status follows from the facts, also after a restart. */
export const requestsMoveOn = (bench: Bench): Invariant => {
  const { broken } = bench;
  const overdue = lasting(bench);
  const unlabelled = lasting(bench);
  const unevicted = lasting(bench);
  const isEvictable = (request: JsonRecord): boolean => {
    const pod = podOf(bench, request);
    return activeIn(request)[0] === IMPERATIVE && pod !== undefined && !isTerminating(pod) &&
      !isFinished(pod) && !isDaemon(pod) && budgetsOver(bench.site, pod).length === 0;
  };
  return {
    tick: () => {
      const open = openRequests(bench);
      const late = open.flatMap((request) => {
        const what = overdueIn(bench, request);
        return what === undefined ? [] : [`"${nameOf(request)}": ${what}`];
      });
      for (const what of overdue(late, DECIDED_MS)) broken('requests move on', what);
      const different = open.filter((request) => {
        const pod = podOf(bench, request);
        return pod !== undefined && !sameLabels(labelsOf(pod), labelsOf(request));
      });
      for (const name of unlabelled(different.map(nameOf), DECIDED_MS)) {
        broken('requests have the labels of their pods', name);
      }
      for (const name of unevicted(open.filter(isEvictable).map(nameOf), EVICTED_MS)) {
        broken('requested pods are evicted', name);
      }
    },
  };
};

/** ER-43, ER-47 to ER-49: what a request ended by is true. */
export const requestsEndTruly = (bench: Bench): Invariant => {
  const { broken } = bench;
  return {
    change: ({ resource, type, object }) => {
      if (resource !== REQUESTS_RESOURCE || type === 'DELETED') return;
      const pod = podOf(bench, object);
      if (pod === undefined || isFinished(pod)) return;
      const name = nameOf(object);
      if (isTrue(object, 'Evicted')) broken('requests end truly', `the pod of "${name}" runs`);
      if (isTrue(object, 'Canceled') && requestersIn(object).length > 0) {
        broken('requests end truly', `"${name}" is canceled although it is requested`);
      }
    },
  };
};

/** ER-31: what interceptors report is theirs. */
export const reportsAreKept = ({ site, broken }: Bench): Invariant => ({
  change: ({ resource, type, object }) => {
    if (resource !== REQUESTS_RESOURCE || type === 'DELETED') return;
    for (const name of targetsIn(object).filter((one) => one !== IMPERATIVE)) {
      const entry = reportIn(object, name);
      if (entry === undefined) continue;
      const wrote = site.interceptors.wrote(uidOf(object), name);
      const isKept = textAt(entry, 'heartbeatTime') === wrote?.heartbeatTime &&
        textAt(entry, 'completionTime') === wrote?.completionTime &&
        (textAt(entry, 'message') ?? '') === (wrote?.message ?? '');
      if (!isKept) {
        broken('reports are kept', `that of ${name} is ${JSON.stringify(entry)}`);
      }
    }
  },
});

const STATUS = /\/evictionrequests\/([^/?]+)\/status/;

/** A request is written about once a second at most. */
export const requestWritesArePaced = ({ time, broken }: Bench): Invariant => {
  const sentMs = new Map<string, readonly number[]>();
  return {
    leaves: ({ process, call }) => {
      const name = call.method === 'GET' ? undefined : STATUS.exec(call.path)?.[1];
      if (name === undefined) return;
      const key = `${process} ${name}`;
      const nowMs = time.monotonic();
      const recent = [...(sentMs.get(key) ?? []).filter((at) => nowMs - at < WINDOW_MS), nowMs];
      sentMs.set(key, recent);
      if (recent.length > WRITES_MAX) {
        broken('status writes are paced', `${recent.length} of "${name}" in ${WINDOW_MS} ms`);
      }
    },
  };
};

/** A pod has one eviction call at a time, whoever asks for it. */
export const oneEvictionAtATime = ({ broken }: Bench): Invariant => {
  const underWay = new Map<string, Map<string, object>>();
  const uidIn = (body: unknown): string =>
    textAt(asRecord(body), 'deleteOptions', 'preconditions', 'uid') ?? '';
  return {
    leaves: ({ process, call }) => {
      if (!call.path.endsWith('/eviction')) return;
      const own = underWay.get(process) ?? new Map<string, object>();
      if (own.has(uidIn(call.body))) broken('one eviction of a pod at a time', call.path);
      underWay.set(process, own.set(uidIn(call.body), call));
    },
    answered: ({ process, call }) => {
      const own = underWay.get(process);
      if (own?.get(uidIn(call.body)) === call) own.delete(uidIn(call.body));
    },
    logged: (process, { message }) => {
      if (message === TERM_ENDED) underWay.delete(process);
    },
  };
};

/** ER-65 to ER-67, ER-73: whether the pod may be evicted for a request as it was observed. */
export const asksToEvict = (request: unknown): boolean => {
  const [targets, processed] = [targetsIn(request), processedIn(request)];
  return activeIn(request)[0] === IMPERATIVE && !isOver(request) &&
    processed.length === targets.length - 1 && requestersIn(request).length > 0 &&
    textAt(request, 'metadata', 'deletionTimestamp') === undefined;
};
