/** Invariants about slots of disruption budgets: none is used twice, none is left unused. */
import { rawConditionOf } from '../../src/domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { labelsOf } from '../../src/domain/object-meta.ts';
import { selects } from '../../packages/embedded-kubernetes/src/kinds/label-selector.ts';
import {
  isFinished,
  isReady,
  isTerminating,
  nodeOf,
} from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import { activeIn, IMPERATIVE, isOver, REQUESTS_RESOURCE } from './eviction-request-object.ts';
import { lasting } from './durations.ts';
import {
  type Bench,
  type Invariant,
  isObserved,
  nameOf,
  resourceVersionOf,
  TERM_ENDED,
  uidOf,
  type View,
  viewsOf,
} from './invariant.ts';
import { isDraining, mayEmpty, reclaimAnnotation } from './node-annotations.ts';

const BUDGETS = '/apis/policy/v1/poddisruptionbudgets';
const PODS = '/api/v1/pods';
const NODES = '/api/v1/nodes';
const RESOURCE = 'poddisruptionbudgets.policy';
/** A recently observed status counts as well as the one before it. */
const FRESH_MS = 500;
/** A pod whose readiness has just changed may or may not need a slot. */
const UNSETTLED_MS = 3000;
/** After this time without a list or watch event a probe is allowed (DR-35). */
const SILENCE_MS = 100_000;
/** A slot is held at most this long after the answer and the departure of its pod (DR-32). */
const OVERTIME_MS = 2000;
/** A free slot must be used within this time. */
const UNUSED_MS = 100_000;

const freeOf = (budget: unknown): number =>
  isObserved(budget) ? numberAt(budget, 'status', 'disruptionsAllowed') ?? 0 : 0;

/** The budgets that select a pod. */
export const budgetsOver = (site: Bench['site'], pod: JsonRecord): readonly JsonRecord[] =>
  [...site.cluster.store.collection(RESOURCE).objects(textAt(pod, 'metadata', 'namespace'))]
    .filter((budget) => selects(budget, labelsOf(pod)));

/** Whether the pod is of a DaemonSet: drains leave it. */
export const isDaemon = (pod: JsonRecord): boolean =>
  listOrEmptyAt(pod, 'metadata', 'ownerReferences')
    .some((owner) => textAt(owner, 'kind') === 'DaemonSet');

/** One eviction of a process under a budget, of a pod that takes a slot. */
interface Charge {
  readonly process: string;
  readonly path: string;
  readonly budget: string;
  readonly uid: string;
  /** The revision of the budget that has counted it; Infinity until it is known. */
  countedAt: number;
  /**
   * When it was answered, and when the process observed its pod terminating; Infinity until then.
   */
  answeredMs: number;
  departedMs: number;
  /** Its answer was lost: the next call of its pod has this slot, which may be counted already. */
  isLost: boolean;
}

const UNANSWERED = {
  countedAt: Infinity,
  answeredMs: Infinity,
  departedMs: Infinity,
  isLost: false,
};

/** Charges indexed for lookups: there are thousands when many nodes are drained. */
const makeCharges = () => {
  const byPod = new Map<string, Charge>();
  const byBudget = new Map<string, Set<Charge>>();
  const unsighted = new Map<string, Set<Charge>>();
  const add = (sets: Map<string, Set<Charge>>, key: string, charge: Charge): void => {
    sets.set(key, (sets.get(key) ?? new Set()).add(charge));
  };
  const find = (process: string, uid: string): Charge | undefined => byPod.get(`${process} ${uid}`);
  return {
    find,
    of: (process: string, budget: string): Iterable<Charge> =>
      byBudget.get(`${process} ${budget}`) ?? [],
    /** Charges of pods that their process has not observed terminating. */
    unsighted: (process: string): Iterable<Charge> => unsighted.get(process) ?? [],
    /** Records a sent call. */
    open: (charge: Charge): void => {
      charge.answeredMs = Infinity;
      charge.departedMs = Infinity;
      charge.isLost = false;
      byPod.set(`${charge.process} ${charge.uid}`, charge);
      add(byBudget, `${charge.process} ${charge.budget}`, charge);
      add(unsighted, charge.process, charge);
    },
    observe: (charge: Charge, atMs: number): void => {
      charge.departedMs = atMs;
      unsighted.get(charge.process)?.delete(charge);
    },
    drop: (charge: Charge): void => {
      byPod.delete(`${charge.process} ${charge.uid}`);
      byBudget.get(`${charge.process} ${charge.budget}`)?.delete(charge);
      unsighted.get(charge.process)?.delete(charge);
    },
  };
};

const needsSlot = (pod: JsonRecord, nowMs: number): boolean => {
  if (!isReady(pod) || isTerminating(pod) || isFinished(pod)) return false;
  const ready = rawConditionOf(pod, 'Ready');
  const sinceMs = Date.parse(textAt(ready, 'lastTransitionTime') ?? '');
  return nowMs - sinceMs > UNSETTLED_MS;
};

const podAt = ({ site }: Bench, path: string): JsonRecord | undefined => {
  const [namespace = '', , name = ''] = path.split('/').slice(4);
  return site.cluster.store.collection('pods').get({ namespace, name });
};

/** DR-32: no process sends an eviction without a free slot. */
export const slotsAreUsedOnce = (bench: Bench): Invariant => {
  const { time, broken, site } = bench;
  const views = viewsOf(time, BUDGETS);
  const pods = viewsOf(time, PODS);
  const nodes = site.cluster.store.collection('nodes');
  const charges = makeCharges();
  const receivedMs = new Map<string, number>();
  const keyOf = (object: unknown): string =>
    `${textAt(object, 'metadata', 'namespace') ?? ''}/${nameOf(object)}`;

  const left = (view: View, charge: Charge): number => {
    const outstanding = [...charges.of(charge.process, charge.budget)].filter((other) =>
      other.uid !== charge.uid && other.countedAt > resourceVersionOf(view.object) &&
      time.monotonic() < Math.max(other.answeredMs, other.departedMs) + OVERTIME_MS
    );
    return freeOf(view.object) - outstanding.length;
  };
  const check = (charge: Charge, view: View): void => {
    const current = [view];
    const isFresh = time.monotonic() - view.sinceMs < FRESH_MS;
    if (isFresh && view.before !== undefined) current.push(view.before);
    if (current.some((one) => left(one, charge) >= 1)) return;
    broken(
      'slots are used once',
      `${charge.process} evicts under "${charge.budget}", which has no free slot`,
    );
  };
  /** Whether the process has been shown for long that the pod is ready; one cut off is not. */
  const knowsReady = (process: string, pod: JsonRecord): boolean => {
    const view = pods.get(process, keyOf(pod));
    if (view === undefined) return true;
    const isFresh = time.monotonic() - view.sinceMs < FRESH_MS;
    return isReady(view.object) &&
      (!isFresh || view.before === undefined || isReady(view.before.object));
  };
  /** The process observes pods, including deleted ones, or Nodes. */
  const observe = (process: string): void => {
    for (const charge of [...charges.unsighted(process)]) {
      const pod = podAt(bench, charge.path);
      const node = nodes.get({ namespace: '', name: nodeOf(pod) });
      const stays = uidOf(pod) === charge.uid && !isTerminating(pod);
      // No retry follows for a pod whose drain is over: its process has released it.
      if (!stays || node === undefined || !mayEmpty(node)) {
        charges.observe(charge, time.monotonic());
      }
    }
  };
  return {
    logged: (process, { message }) => {
      if (message !== TERM_ENDED) return;
      // A process that leads no more has released all pods.
      for (const charge of [...charges.unsighted(process)]) {
        charges.observe(charge, time.monotonic());
      }
    },
    arrives: (process, path, lines) => {
      if (path === PODS || path === NODES) observe(process);
      const isAlive = lines.some(({ type }) => type !== 'ERROR');
      if (path === BUDGETS && isAlive) receivedMs.set(process, time.monotonic());
      views.invariant.arrives?.(process, path, lines);
      pods.invariant.arrives?.(process, path, lines);
    },
    leaves: ({ process, call }) => {
      const pod = call.path.endsWith('/eviction') ? podAt(bench, call.path) : undefined;
      // A pod that is not ready takes no slot (DR-31) and does not affect the others.
      if (pod === undefined || !needsSlot(pod, time.now()) || !knowsReady(process, pod)) return;
      const [budget, ...others] = budgetsOver(site, pod);
      if (budget === undefined || others.length > 0) return;
      const uid = uidOf(pod);
      const charge = charges.find(process, uid) ??
        { process, path: call.path, budget: keyOf(budget), uid, ...UNANSWERED };
      const view = views.get(process, charge.budget);
      const silent = time.monotonic() - (receivedMs.get(process) ?? 0) > SILENCE_MS;
      if (view !== undefined && !silent && !charge.isLost) check(charge, view);
      charges.open(charge);
    },
    done: ({ process, call }, { status }) => {
      if (!call.path.endsWith('/eviction') || status >= 300) return;
      const pod = podAt(bench, call.path);
      const charge = charges.find(process, uidOf(pod));
      if (charge === undefined) return;
      const [namespace = '', name = ''] = charge.budget.split('/');
      const now = site.cluster.store.collection(RESOURCE).get({ namespace, name });
      charge.countedAt = resourceVersionOf(now);
    },
    answered: (sent, answer) => {
      views.invariant.answered?.(sent, answer);
      if (sent.call.path === PODS) {
        // Not the answers to writes of pods: evictions go by what is listed and watched.
        pods.invariant.answered?.(sent, answer);
        observe(sent.process);
      }
      if (sent.call.path === BUDGETS && answer?.status === 200) {
        receivedMs.set(sent.process, time.monotonic());
      }
      if (!sent.call.path.endsWith('/eviction')) return;
      const uid = textAt(sent.call.body, 'deleteOptions', 'preconditions', 'uid') ?? '';
      const charge = charges.find(sent.process, uid);
      if (charge === undefined) return;
      if (answer !== undefined && answer.status >= 300) charges.drop(charge);
      else charge.answeredMs = time.monotonic();
      charge.isLost = answer === undefined;
    },
  };
};

/** A drain makes progress: a pod that can leave does not stay for minutes. */
export const drainsGoOn = (bench: Bench): Invariant => {
  const { site, time, broken } = bench;
  const freeSinceMs = new Map<string, number>();
  const overdue = lasting(bench);

  const openFor = (pod: JsonRecord): number => {
    const over = budgetsOver(site, pod);
    if (over.length > 1) return 0;
    const [budget] = over;
    if (budget === undefined) return Infinity;
    const sinceMs = freeSinceMs.get(uidOf(budget));
    return sinceMs === undefined ? 0 : time.monotonic() - sinceMs;
  };
  /** Whether it is the turn of an interceptor that the pod registers. */
  const isIntercepted = (pod: JsonRecord): boolean => {
    const request = site.cluster.store.collection(REQUESTS_RESOURCE).get({
      namespace: textAt(pod, 'metadata', 'namespace') ?? '',
      name: uidOf(pod),
    });
    return request !== undefined && !isOver(request) && !activeIn(request).includes(IMPERATIVE);
  };
  /** The remaining pods of the lowest tier of a node. */
  const next = (pods: readonly JsonRecord[]): readonly JsonRecord[] => {
    const leaving = pods.filter((pod) => !isFinished(pod) && !isDaemon(pod));
    const priority = (pod: JsonRecord): number => numberAt(pod, 'spec', 'priority') ?? 0;
    const lowest = Math.min(...leaving.map(priority));
    return leaving.filter((pod) => priority(pod) === lowest && !isTerminating(pod));
  };
  const addBudgets = (): void => {
    for (const budget of site.cluster.store.collection(RESOURCE).objects()) {
      const uid = uidOf(budget);
      if (freeOf(budget) === 0) freeSinceMs.delete(uid);
      else if (!freeSinceMs.has(uid)) freeSinceMs.set(uid, time.monotonic());
    }
  };
  const isDue = (node: JsonRecord): boolean => {
    const annotation = reclaimAnnotation(node);
    return isDraining(node) && annotation !== undefined && !(annotation.deadlineMs < time.now());
  };
  /** The pods whose turn it is. */
  const waitingPods = (): readonly JsonRecord[] => {
    const { store } = site.cluster;
    const due = [...store.collection('nodes').objects()].filter(isDue);
    if (due.length === 0) return [];
    const pods = Map.groupBy(store.collection('pods').objects(), nodeOf);
    return due.flatMap((node) => next(pods.get(nameOf(node)) ?? []))
      .filter((pod) => !isIntercepted(pod));
  };
  return {
    tick: () => {
      addBudgets();
      const waiting = waitingPods();
      const overdueUids = new Set(overdue(waiting.map(uidOf), UNUSED_MS));
      for (const pod of waiting) {
        if (!overdueUids.has(uidOf(pod)) || openFor(pod) <= UNUSED_MS) continue;
        broken(
          'drains make progress',
          `"${nameOf(pod)}" could have left "${nodeOf(pod)}" long ago`,
        );
      }
    },
  };
};
