/**
 * Pods, budgets and evictions in memory, in the order of Kubernetes' API server and disruption
 * controller: charge the budget, delete the pod, send the answer, and later recompute the budget's
 * status.
 *
 * Records protocol violations of clients in `violations`.
 */
import { Effect, Layer } from 'effect';
import { Subject } from 'rxjs';
import { type NodeProjection, projectNode } from '../../../src/domain/cluster-node.ts';
import { type Budget, projectBudget } from '../../../src/domain/drain/budget.ts';
import { type DrainPod, projectPod } from '../../../src/domain/drain/pod.ts';
import { objectKey } from '../../../src/domain/ids.ts';
import { recordAt, textAt } from '../../../src/domain/json.ts';
import { rfc3339, type Time } from '../../../src/domain/time.ts';
import { type KubeAnswer, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { type WriteFault, Writes } from '../../../src/effects/writes.ts';
import { NO_SLOT, NOT_PROCESSED, refusal } from './eviction-refusals.ts';
import { fakeCollection } from './fake-collection.ts';
import {
  type BudgetSeed,
  type BudgetState,
  NAMESPACE,
  type PodSeed,
  type PodState,
  rawBudget,
  rawPod,
} from './fake-pod-objects.ts';

/** Latencies in milliseconds. */
export interface EvictionTiming {
  readonly watchMs: number;
  readonly chargeMs: number;
  readonly deleteMs: number;
  readonly answerMs: number;
  readonly terminationMs: number;
  readonly replacementMs: number;
  /** Delay between two replacements; the controllers work serially. */
  readonly replacementGapMs: number;
  readonly controllerMs: number;
  /** Calls a second that the write budget lets out. */
  readonly qps: number;
}

const TIMING: EvictionTiming = {
  watchMs: 2,
  chargeMs: 2,
  deleteMs: 3,
  answerMs: 2,
  terminationMs: 1000,
  replacementMs: 3000,
  replacementGapMs: 0,
  controllerMs: 10,
  qps: Infinity,
};

/** One call as the server saw it. */
export interface SeenCall {
  readonly pod: string;
  readonly uid: string;
  readonly atMs: number;
  status: number | 'lost';
}

const REMEMBERED_MS = 120_000;

/** A cluster in which pods can be evicted. */
export const fakeEvictions = (time: Time, timing: Partial<EvictionTiming> = {}) => {
  const speed = { ...TIMING, ...timing };
  const pods = new Map<string, PodState>();
  const budgets = new Map<string, BudgetState>();
  const replicas = new Map<string, number>();
  const onNode = new Map<string, Set<PodState>>();
  const ofApp = new Map<string, Set<PodState>>();
  const emptied = new Subject<string>();
  const inFlight = new Map<string, number>();
  const disturbedMs = new Map<string, number>();
  const calls: SeenCall[] = [];
  const violations: string[] = [];
  const podCache = fakeCollection<DrainPod>(time, speed.watchMs);
  const budgetCache = fakeCollection<Budget>(time, speed.watchMs);
  const nodeCache = fakeCollection<NodeProjection>(time, speed.watchMs);
  let now = 100;
  let made = 0;
  let replacedMs = 0;
  let mostAtOnce = 0;
  let intercept: (pod: string, uid: string) => Effect.Effect<KubeAnswer | undefined, WriteFault> =
    () => Effect.succeed(undefined);

  const next = (): string => `${(now += 1)}`;
  const showPod = (pod: PodState): void => podCache.put(projectPod(rawPod(pod, next())));
  const showBudget = (budget: BudgetState): void => {
    const at = next();
    budget.resourceVersion = Number(at);
    budgetCache.put(projectBudget(rawBudget(budget, at)));
  };
  const covered = (app: string): readonly PodState[] => [...ofApp.get(app) ?? []];
  const file = (pod: PodState): void => {
    const { name, node, app } = pod.seed;
    pods.set(name, pod);
    onNode.set(node, (onNode.get(node) ?? new Set()).add(pod));
    ofApp.set(app, (ofApp.get(app) ?? new Set()).add(pod));
  };
  const unfile = (pod: PodState): void => {
    const { name, node, app } = pod.seed;
    pods.delete(name);
    ofApp.get(app)?.delete(pod);
    onNode.get(node)?.delete(pod);
    if (onNode.get(node)?.size === 0) emptied.next(node);
  };
  const budgetsOf = (app: string): readonly BudgetState[] =>
    [...budgets.values()].filter(({ seed }) => seed.app === app);

  /** The disruption controller syncs one budget. */
  const workOut = (budget: BudgetState): void => {
    if (budgets.get(budget.seed.name) !== budget) return;
    const own = covered(budget.seed.app);
    const counted = Object.fromEntries(
      Object.entries(budget.disrupted).filter(([name, at]) => {
        const pod = pods.get(name);
        return pod !== undefined && pod.deletedAt === undefined &&
          Date.parse(at) + REMEMBERED_MS > time.now();
      }),
    );
    const healthy =
      own.filter((pod) =>
        pod.ready && pod.deletedAt === undefined && !Object.hasOwn(counted, pod.seed.name)
      ).length;
    const expected = replicas.get(budget.seed.app) ?? 0;
    const desired = Math.max(0, expected - budget.seed.maxUnavailable);
    const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
    const before = JSON.stringify([
      budget.observed,
      budget.allowed,
      budget.healthy,
      budget.disrupted,
    ]);
    Object.assign(budget, {
      observed: budget.generation,
      allowed,
      healthy,
      desired,
      expected,
      disrupted: counted,
    });
    const after = JSON.stringify([
      budget.observed,
      budget.allowed,
      budget.healthy,
      budget.disrupted,
    ]);
    if (before !== after) showBudget(budget);
  };
  const scheduleController = (app: string): void => {
    for (const budget of budgetsOf(app)) time.schedule(speed.controllerMs, () => workOut(budget));
  };
  /** Something other than an eviction changed what the budgets of an app allow. */
  const disturb = (app: string): void => void disturbedMs.set(app, time.monotonic());
  /** The API server decides by a status that the controller has not yet computed again. */
  const isDecidedBefore = (app: string): boolean =>
    time.monotonic() - (disturbedMs.get(app) ?? -Infinity) <=
      speed.controllerMs + speed.chargeMs + speed.deleteMs;
  const checkHealth = (app: string): void => {
    if (isDecidedBefore(app)) return;
    const healthy = covered(app).filter((pod) => pod.ready && pod.deletedAt === undefined).length;
    for (const { seed } of budgetsOf(app)) {
      const least = (replicas.get(app) ?? 0) - seed.maxUnavailable;
      if (healthy < least) {
        violations.push(`${healthy} healthy pods of ${app}, ${least} are needed`);
      }
    }
  };
  const add = (seed: PodSeed, ready: boolean): PodState => {
    made += 1;
    const pod: PodState = {
      seed,
      uid: `uid-${made}`,
      ready,
      phase: seed.phase ?? 'Running',
      deletedAt: undefined,
      grace: 30,
    };
    file(pod);
    showPod(pod);
    scheduleController(seed.app);
    return pod;
  };
  const replace = ({ seed }: PodState): void => {
    if (!replicas.has(seed.app)) return;
    const heir = add({
      name: `${seed.app}-${made}`,
      node: 'elsewhere',
      app: seed.app,
      phase: 'Pending',
    }, false);
    replacedMs = Math.max(replacedMs + speed.replacementGapMs, time.monotonic());
    time.schedule(replacedMs - time.monotonic() + speed.replacementMs, () => {
      heir.phase = 'Running';
      heir.ready = true;
      showPod(heir);
      scheduleController(seed.app);
    });
  };
  const drop = (pod: PodState): void => {
    if (pods.get(pod.seed.name) !== pod) return;
    unfile(pod);
    podCache.remove(projectPod(rawPod(pod, next())));
    scheduleController(pod.seed.app);
  };
  const terminate = (pod: PodState): void => {
    const wasReady = pod.ready;
    pod.deletedAt = rfc3339(time.now() + pod.grace * 1000);
    showPod(pod);
    scheduleController(pod.seed.app);
    if (wasReady) checkHealth(pod.seed.app);
    replace(pod);
    time.schedule(speed.terminationMs, () => {
      if ((pod.seed.finalizers ?? []).length === 0) return drop(pod);
      pod.grace = 0;
      showPod(pod);
    });
  };

  const wait = (ms: number): Effect.Effect<void> => (ms === 0 ? Effect.void : Effect.sleep(ms));
  /** Charges the budget, or returns the refusal; `undefined` when the pod may leave. */
  const charge = (pod: PodState): KubeAnswer | undefined => {
    if (pod.phase === 'Pending' || pod.deletedAt !== undefined) return undefined;
    const [budget, ...others] = budgetsOf(pod.seed.app);
    if (budget === undefined) return undefined;
    if (others.length > 0) return refusal(500, 'This pod has more than one PodDisruptionBudget');
    if (!pod.ready) {
      if (budget.seed.alwaysAllow === true) return undefined;
      if (budget.healthy >= budget.desired && budget.desired > 0) return undefined;
    }
    if (budget.observed < budget.generation) return NOT_PROCESSED;
    if (budget.allowed === 0) return NO_SLOT;
    budget.allowed -= 1;
    budget.disrupted = { ...budget.disrupted, [pod.seed.name]: rfc3339(time.now()) };
    showBudget(budget);
    scheduleController(pod.seed.app);
    return undefined;
  };
  const evict = (name: string, uid: string): Effect.Effect<KubeAnswer> =>
    Effect.gen(function* () {
      yield* wait(speed.chargeMs);
      const pod = pods.get(name);
      if (pod === undefined) return refusal(404, `pods "${name}" not found`);
      if (pod.deletedAt !== undefined) violations.push(`${name} was terminating when it was asked`);
      const refused = charge(pod);
      if (refused !== undefined) return refused;
      yield* wait(speed.deleteMs);
      if (!pods.has(name)) return refusal(404, `pods "${name}" not found`);
      if (pods.get(name)?.uid !== uid) {
        return refusal(
          409,
          `Operation cannot be fulfilled on Pod "${name}": ` +
            `the UID in the precondition (${uid}) does not match the UID in record`,
          {
            details: { kind: 'Pod' },
          },
        );
      }
      if (pod.deletedAt === undefined) terminate(pod);
      yield* wait(speed.answerMs);
      return { status: 201, body: { kind: 'Status', status: 'Success' } };
    });
  const serve = (call: KubeCall): Effect.Effect<KubeAnswer, WriteFault> =>
    Effect.suspend(() => {
      if (call.mayLeave?.() === false) return Effect.fail(new NotSent({ why: 'held back' }));
      const [name = ''] = call.path.split('/').slice(-2);
      const uid = textAt(recordAt(call.body, 'deleteOptions'), 'preconditions', 'uid') ?? '';
      const cached = podCache.reflector.get(objectKey(name, NAMESPACE));
      if (cached?.uid !== uid) violations.push(`the cache shows another ${name} than ${uid}`);
      if (cached?.terminating === true) violations.push(`the cache shows ${name} terminating`);
      // An eviction without a budget writes no status and conflicts with none.
      const owner = pods.get(name)?.seed.app ?? '';
      const contends = cached?.ready === true && cached.phase === 'Running' &&
        budgetsOf(owner).length > 0;
      const app = contends ? owner : '';
      const seen: SeenCall = { pod: name, uid, atMs: time.monotonic(), status: 'lost' };
      calls.push(seen);
      const most = (inFlight.get(app) ?? 0) + 1;
      inFlight.set(app, most);
      if (contends) mostAtOnce = Math.max(mostAtOnce, most);
      return intercept(name, uid).pipe(
        Effect.flatMap((answer) =>
          answer === undefined ? evict(name, uid) : Effect.succeed(answer)
        ),
        Effect.tap(({ status }) =>
          Effect.sync(() => {
            seen.status = status;
          })
        ),
        Effect.onInterrupt(() => Effect.sync(() => violations.push(`${name}: call aborted`))),
        Effect.ensuring(Effect.sync(() => inFlight.set(app, (inFlight.get(app) ?? 1) - 1))),
      );
    });

  let turnMs = 0;
  let isCut = false;
  const cut = new NotSent({ why: 'connection refused' });
  /** Waits for the write budget. */
  const turn = Effect.suspend(() => {
    const nowMs = time.monotonic();
    turnMs = Math.max(turnMs + 1000 / speed.qps, nowMs);
    return wait(turnMs - nowMs);
  });

  return {
    calls,
    violations,
    /** The most calls that contended for one budget at a time. */
    mostAtOnce: () => mostAtOnce,
    refused: () => calls.filter(({ status }) => status === 429).length,
    layer: Layer.succeed(Writes, {
      send: (_writeClass, call) =>
        Effect.andThen(turn, Effect.suspend(() => isCut ? Effect.fail(cut) : serve(call))),
    }),
    caches: {
      pods: podCache.reflector,
      budgets: budgetCache.reflector,
      nodes: nodeCache.reflector,
    },
    podCache,
    budgetCache,
    nodeCache,
    /** No connection can be made, until it is mended. */
    cutLine: (isCutNow: boolean) => void (isCut = isCutNow),
    addPod: (seed: PodSeed) => add(seed, seed.ready ?? true),
    /** The pods of an app are to be as many as there are now. */
    settle: (app: string) => {
      replicas.set(app, covered(app).filter(({ deletedAt }) => deletedAt === undefined).length);
      scheduleController(app);
    },
    addBudget: (seed: BudgetSeed): void => {
      made += 1;
      const budget: BudgetState = {
        seed,
        uid: `uid-${made}`,
        generation: 1,
        observed: 0,
        allowed: 0,
        healthy: 0,
        desired: 0,
        expected: 0,
        disrupted: {},
        resourceVersion: 0,
      };
      budgets.set(seed.name, budget);
      disturb(seed.app);
      showBudget(budget);
      scheduleController(seed.app);
    },
    changeBudget: (name: string, change: Partial<BudgetSeed>): void => {
      const budget = budgets.get(name);
      if (budget === undefined) return;
      budget.seed = { ...budget.seed, ...change };
      budget.generation += 1;
      disturb(budget.seed.app);
      showBudget(budget);
      scheduleController(budget.seed.app);
    },
    removeBudget: (name: string): void => {
      const budget = budgets.get(name);
      budgets.delete(name);
      if (budget !== undefined) budgetCache.remove(projectBudget(rawBudget(budget, next())));
    },
    budget: (name: string) => budgets.get(name),
    node: (
      name: string,
      ready: 'True' | 'False' | 'Unknown',
      annotations: Readonly<Record<string, string>> = {},
    ) =>
      nodeCache.put(projectNode({
        metadata: { name, uid: `node-${name}`, resourceVersion: next(), annotations },
        status: { conditions: [{ type: 'Ready', status: ready }] },
      })),
    change: (name: string, change: Partial<Pick<PodState, 'ready' | 'phase'>>): void => {
      const pod = pods.get(name);
      if (pod === undefined) return;
      Object.assign(pod, change);
      disturb(pod.seed.app);
      showPod(pod);
      scheduleController(pod.seed.app);
    },
    setGate: (name: string, gate: PodSeed['gate']): void => {
      const pod = pods.get(name);
      if (pod === undefined) return;
      pod.seed = { ...pod.seed, ...(gate === undefined ? {} : { gate }) };
      pod.ready = gate === 'open';
      disturb(pod.seed.app);
      showPod(pod);
      scheduleController(pod.seed.app);
    },
    clearFinalizers: (name: string): void => {
      const pod = pods.get(name);
      if (pod === undefined) return;
      pod.seed = { ...pod.seed, finalizers: [] };
      drop(pod);
    },
    /** Deletes a pod without an eviction. */
    drop: (name: string): void => {
      const pod = pods.get(name);
      if (pod === undefined) return;
      disturb(pod.seed.app);
      drop(pod);
    },
    charged: (name: string, pod: string): void => {
      const budget = budgets.get(name);
      if (budget === undefined) return;
      budget.allowed -= 1;
      budget.disrupted = { ...budget.disrupted, [pod]: rfc3339(time.now()) };
      showBudget(budget);
      scheduleController(budget.seed.app);
      time.schedule(REMEMBERED_MS + 1, () => workOut(budget));
    },
    bookmark: () => budgetCache.bookmark(now),
    has: (name: string) => pods.has(name),
    known: (name: string) => podCache.reflector.get(objectKey(name, NAMESPACE)),
    onNode: (node: string) =>
      [...onNode.get(node) ?? []].flatMap(({ seed }) =>
        podCache.reflector.get(objectKey(seed.name, NAMESPACE)) ?? []
      ),
    left: (node: string) => onNode.get(node)?.size ?? 0,
    /** Reports the node whose last pod left. */
    emptied,
    intercept: (decide: typeof intercept) => {
      intercept = decide;
    },
  };
};
