/**
 * The plan of one simulated world, as plain data, so that it can be printed, shrunk and executed
 * again.
 *
 * Promises: a plan follows from its seed alone; the target of a step is a number modulo the current
 * candidates, so a plan stays executable when steps are removed.
 */
import { type Chance, chanceOf, derived } from './chance.ts';
import { type EvictionAct, evictionScenes, withInterceptors } from './eviction-scenes.ts';
import { type FailureAct, failureScenes } from './node-availability-scenes.ts';
import { type MaintenanceAct, maintenanceScenes } from './node-maintenance-scenes.ts';
import { type NetworkAct, networkScenes } from './network-scenes.ts';

/** A workload with its budget. */
export interface AppPlan {
  readonly name: string;
  readonly kind: 'Deployment' | 'ReplicaSet' | 'StatefulSet';
  readonly replicas: number;
  readonly cpu: string;
  readonly priority: number;
  /** The grace of its pods, which the kubelet gives to those that do not stop. */
  readonly graceSeconds: number;
  readonly stops: 'soon' | 'never';
  readonly budget: BudgetPlan | undefined;
  /** The interceptors that its pods register, in order. */
  readonly interceptors: readonly string[];
}

export interface BudgetPlan {
  readonly field: 'maxUnavailable' | 'minAvailable';
  readonly amount: number | string;
  readonly alwaysAllow: boolean;
}

/** One step. `pick` selects the target, `forMs` is the duration. */
export type Act =
  | NetworkAct
  | EvictionAct
  | MaintenanceAct
  | FailureAct
  | {
    readonly _tag: 'Reclaim';
    readonly pick: number;
    readonly graceSeconds: number;
    /** The provider drains as well, and takes the machine by the deadline at the latest. */
    readonly provider: boolean;
  }
  | {
    readonly _tag: 'ReclaimMany';
    readonly count: number;
    readonly graceSeconds: number;
    readonly provider: boolean;
  }
  | { readonly _tag: 'Uncordon'; readonly pick: number }
  | { readonly _tag: 'Cordon'; readonly pick: number }
  | { readonly _tag: 'DeleteNode'; readonly pick: number }
  | { readonly _tag: 'DeletePod'; readonly pick: number }
  | { readonly _tag: 'Scale'; readonly pick: number; readonly by: number }
  | { readonly _tag: 'Rollout'; readonly pick: number }
  | { readonly _tag: 'Rebudget'; readonly pick: number }
  | { readonly _tag: 'Demand'; readonly by: number }
  | { readonly _tag: 'Deafen'; readonly pick: number; readonly forMs: number }
  | { readonly _tag: 'Burst'; readonly pick: number }
  | { readonly _tag: 'Vanish'; readonly pick: number; readonly forMs: number }
  | { readonly _tag: 'Crash'; readonly forMs: number }
  | { readonly _tag: 'Replace' }
  | { readonly _tag: 'Freeze'; readonly forMs: number }
  | { readonly _tag: 'CutOffStandby'; readonly forMs: number }
  | { readonly _tag: 'ApiOutage'; readonly forMs: number }
  | { readonly _tag: 'ApiErrors'; readonly forMs: number; readonly share: number }
  | { readonly _tag: 'SlowApi'; readonly forMs: number; readonly latencyMs: number }
  | { readonly _tag: 'SlowList'; readonly collection: string; readonly forMs: number }
  | { readonly _tag: 'DropWatches' }
  | { readonly _tag: 'Compact' }
  | { readonly _tag: 'FleetOutage'; readonly forMs: number }
  | { readonly _tag: 'CutSession' }
  | { readonly _tag: 'RejectRollups'; readonly count: number }
  | { readonly _tag: 'SlowFrames'; readonly forMs: number; readonly frameMs: number }
  | { readonly _tag: 'Return'; readonly pick: number }
  | { readonly _tag: 'JoinLate'; readonly pick: number; readonly afterMs: number }
  | { readonly _tag: 'ReclaimByNode'; readonly pick: number }
  | { readonly _tag: 'Malformed'; readonly pick: number };

/** The time of a step, in milliseconds after the world has come to rest. */
export interface Scene {
  readonly atMs: number;
  readonly act: Act;
}

/** A world and its plan. */
export interface WorldPlan {
  readonly seed: number;
  /** The initial number of wanted machines, and so nodes. */
  readonly nodes: number;
  readonly standby: boolean;
  /** The maximum latency of one way to the API server without a fault, in milliseconds. */
  readonly latencyMs: number;
  /** Whether processes also write the requests of pods. */
  readonly withPods: boolean;
  /** Whether pods have interceptors, and processes serve EvictionRequests. */
  readonly withRequests: boolean;
  /** Whether drains ask the interceptors of pods. */
  readonly drainsRequest: boolean;
  /** Whether nodes are maintained. */
  readonly withMaintenances: boolean;
  /** Whether Nodes fail and are disabled, and processes handle that. */
  readonly withAvailability: boolean;
  /** The provider's own drain. */
  readonly providerDrainMs: number;
  readonly apps: readonly AppPlan[];
  readonly scenes: readonly Scene[];
  /** Objects of an earlier operator whose machines are gone. */
  readonly leftObjects: readonly string[];
}

/** In one zone, across zones, and a busy API server. */
const LATENCIES_MS = [15, 15, 50, 200] as const;
/** From the first step to the last. */
const ACTIVE_MS = 480_000;
const NODES = [20, 26] as const;
const PODS_MIN = 100;
const BUDGETS_MIN = 5;
const FAULTS_MIN = 3;

const budgetPlan = (chance: Chance, replicas: number): BudgetPlan => ({
  field: chance.happens(0.7) ? 'maxUnavailable' : 'minAvailable',
  amount: chance.pick([1, 1, 2, '25%', '50%', replicas > 3 ? 0 : 1]),
  alwaysAllow: chance.happens(0.3),
});

/** A `minAvailable` allows at most a few disruptions; a plan of 1 would allow almost all. */
const sensible = (budget: BudgetPlan, replicas: number): BudgetPlan =>
  budget.field === 'minAvailable' && typeof budget.amount === 'number'
    ? { ...budget, amount: Math.max(0, replicas - 1 - budget.amount) }
    : budget;

const appPlan = (chance: Chance, number: number): AppPlan => {
  const replicas = chance.int(4, 16);
  const covered = number < BUDGETS_MIN || chance.happens(0.4);
  return {
    name: `app-${number}`,
    kind: chance.pick(['Deployment', 'Deployment', 'ReplicaSet', 'StatefulSet']),
    replicas,
    cpu: chance.pick(['250m', '500m', '500m', '1']),
    priority: chance.pick([0, 0, 0, 1000]),
    graceSeconds: chance.pick([5, 30, 30, 120]),
    stops: chance.happens(0.1) ? 'never' : 'soon',
    budget: covered ? sensible(budgetPlan(chance, replicas), replicas) : undefined,
    interceptors: [],
  };
};

const apps = (chance: Chance): readonly AppPlan[] => {
  const made: AppPlan[] = [];
  let pods = 0;
  while (pods < PODS_MIN || made.length < BUDGETS_MIN) {
    const app = appPlan(chance, made.length);
    made.push(app);
    pods += app.replicas;
  }
  return made;
};

const pick = (chance: Chance): number => chance.int(0, 9999);
const grace = (chance: Chance): number => chance.pick([30, 60, 120, 300, 600]);

const EXTERNAL_ACTIONS: readonly [(chance: Chance) => Act, ...((chance: Chance) => Act)[]] = [
  (chance) => ({ _tag: 'Uncordon', pick: pick(chance) }),
  (chance) => ({ _tag: 'Uncordon', pick: pick(chance) }),
  (chance) => ({ _tag: 'Cordon', pick: pick(chance) }),
  (chance) => ({ _tag: 'DeleteNode', pick: pick(chance) }),
  (chance) => ({ _tag: 'DeletePod', pick: pick(chance) }),
  (chance) => ({ _tag: 'Scale', pick: pick(chance), by: chance.int(-3, 5) }),
  (chance) => ({ _tag: 'Rollout', pick: pick(chance) }),
  (chance) => ({ _tag: 'Rebudget', pick: pick(chance) }),
  (chance) => ({ _tag: 'Demand', by: chance.int(-2, 3) }),
  (chance) => ({ _tag: 'Demand', by: chance.int(-2, 3) }),
];

const FAULTS: readonly [(chance: Chance) => Act, ...((chance: Chance) => Act)[]] = [
  (chance) => ({ _tag: 'Deafen', pick: pick(chance), forMs: chance.int(20_000, 200_000) }),
  (chance) => ({ _tag: 'Freeze', forMs: chance.int(3_000, 40_000) }),
  (chance) => ({ _tag: 'ApiOutage', forMs: chance.int(2_000, 40_000) }),
  (chance) => ({ _tag: 'ApiErrors', forMs: chance.int(5_000, 40_000), share: 0.3 }),
  (chance) => ({
    _tag: 'SlowApi',
    forMs: chance.int(5_000, 60_000),
    latencyMs: chance.int(200, 2500),
  }),
  () => ({ _tag: 'Replace' }),
  () => ({ _tag: 'DropWatches' }),
  () => ({ _tag: 'Compact' }),
  (chance) => ({ _tag: 'FleetOutage', forMs: chance.int(3_000, 60_000) }),
  () => ({ _tag: 'CutSession' }),
  (chance) => ({ _tag: 'RejectRollups', count: chance.int(1, 2) }),
  (chance) => ({ _tag: 'Vanish', pick: pick(chance), forMs: chance.int(3_000, 20_000) }),
];

const LISTED: readonly [string, ...string[]] = [
  '/capacityrequests',
  '/capacityrequests',
  '/upcomingnodes',
  '/nodes',
  '/pods',
  '/poddisruptionbudgets',
];

const at = (chance: Chance, act: Act): Scene => ({ atMs: chance.int(0, ACTIVE_MS), act });

const scenes = (chance: Chance): readonly Scene[] => {
  const made: Scene[] = [];
  for (let left = chance.int(3, 6); left > 0; left -= 1) {
    made.push(at(chance, {
      _tag: 'Reclaim',
      pick: pick(chance),
      graceSeconds: grace(chance),
      provider: chance.happens(0.5),
    }));
  }
  const count = chance.int(2, 5);
  const provider = chance.happens(0.5);
  const many = at(chance, { _tag: 'ReclaimMany', count, graceSeconds: grace(chance), provider });
  made.push(many);
  made.push(at(chance, { _tag: 'Burst', pick: pick(chance) }));
  for (let left = chance.int(3, 7); left > 0; left -= 1) {
    made.push(at(chance, chance.pick(EXTERNAL_ACTIONS)(chance)));
  }
  for (let left = chance.int(FAULTS_MIN, FAULTS_MIN + 2); left > 0; left -= 1) {
    made.push(at(chance, chance.pick(FAULTS)(chance)));
  }
  const crashes = chance.int(1, 2);
  for (let left = crashes; left > 0; left -= 1) {
    const crash: Scene = {
      // In the middle of drains, often.
      atMs: chance.happens(0.6) ? many.atMs + chance.int(500, 60_000) : chance.int(0, ACTIVE_MS),
      act: { _tag: 'Crash', forMs: chance.int(500, 20_000) },
    };
    made.push(crash);
    // The next process finds its initial lists slow, one of them by far.
    if (chance.happens(0.4)) {
      const forMs = chance.int(30_000, 60_000);
      made.push({ ...crash, act: { _tag: 'SlowList', collection: chance.pick(LISTED), forMs } });
    }
  }
  return made.toSorted((left, right) => left.atMs - right.atMs);
};

/** Pods are replaced while nobody can see it: a standby is cut off, or the API server is away. */
const unseenRollout = (chance: Chance, standby: boolean): readonly Scene[] => {
  const atMs = chance.int(0, ACTIVE_MS);
  const forMs = chance.int(20_000, 90_000);
  const rollouts = [1, 2, 3].map((number): Scene => ({
    atMs: atMs + number * 1000,
    act: { _tag: 'Rollout', pick: pick(chance) },
  }));
  if (!standby) {
    return [
      { atMs, act: { _tag: 'ApiOutage', forMs } },
      { atMs, act: { _tag: 'DropWatches' } },
      ...rollouts,
    ];
  }
  return [
    { atMs, act: { _tag: 'CutOffStandby', forMs } },
    ...rollouts,
    { atMs: atMs + forMs - chance.int(-2000, 2000), act: { _tag: 'Crash', forMs: 20_000 } },
  ];
};

const FRAME_MS = [1200, 2000] as const;
const SLOW_FRAMES_MS = 120_000;

/** A drain whose deadline passes while no operator runs. */
const resumedLate = (chance: Chance): readonly Scene[] => {
  const atMs = chance.int(0, ACTIVE_MS);
  const grace = { graceSeconds: 30, provider: false };
  return [
    { atMs, act: { _tag: 'ReclaimMany', count: chance.int(1, 3), ...grace } },
    { atMs: atMs + chance.int(1000, 15_000), act: { _tag: 'Crash', forMs: 40_000 } },
  ];
};

/** An instruction without a Node, lost with its process. */
const lostWithoutNode = (chance: Chance): readonly Scene[] => {
  const atMs = chance.int(0, ACTIVE_MS);
  return [
    { atMs, act: { _tag: 'JoinLate', pick: pick(chance), afterMs: chance.int(60_000, 90_000) } },
    { atMs: atMs + chance.int(3000, 15_000), act: { _tag: 'Crash', forMs: 1000 } },
  ];
};

/** Machines with unusual lives, and a link on which a replay takes minutes. */
const unusualScenes = (chance: Chance): readonly Scene[] => {
  const single: readonly Act[] = [
    { _tag: 'Return', pick: pick(chance) },
    { _tag: 'ReclaimByNode', pick: pick(chance) },
    { _tag: 'Malformed', pick: pick(chance) },
  ];
  const slow: Act = { _tag: 'SlowFrames', forMs: SLOW_FRAMES_MS, frameMs: chance.int(...FRAME_MS) };
  return [
    ...single.map((act) => at(chance, act)),
    ...(chance.happens(0.3) ? [at(chance, slow)] : []),
    ...(chance.happens(0.5) ? resumedLate(chance) : lostWithoutNode(chance)),
  ];
};

const ofAge = (left: Scene, right: Scene): number => left.atMs - right.atMs;

/** The plan of a seed. */
export const worldPlan = (seed: number): WorldPlan => {
  const chance = chanceOf(derived(seed, 1));
  const ofPods = chanceOf(derived(seed, 5));
  const ofNetwork = chanceOf(derived(seed, 9));
  const unusual = chanceOf(derived(seed, 6));
  const ofRequests = chanceOf(derived(seed, 11));
  const ofMaintenances = chanceOf(derived(seed, 12));
  const ofFailures = chanceOf(derived(seed, 17));
  const plan = {
    seed,
    nodes: chance.int(...NODES),
    standby: chance.happens(0.4),
    latencyMs: ofNetwork.pick(LATENCIES_MS),
    providerDrainMs: chance.pick([30_000, 120_000, 900_000, 900_000]),
    apps: apps(chance),
    leftObjects: unusual.happens(0.3) ? ['gone-1', 'm-000002'] : [],
  };
  const ordinary = scenes(chance);
  const withPods = ofPods.happens(0.5);
  const withRequests = ofRequests.happens(0.5);
  const withMaintenances = ofMaintenances.happens(0.5);
  const withAvailability = ofFailures.happens(0.5);
  const all = [
    ...ordinary,
    ...(withPods ? unseenRollout(ofPods, plan.standby) : []),
    ...unusualScenes(unusual),
    ...networkScenes(ofNetwork, { withPods, standby: plan.standby }),
    ...(withRequests ? evictionScenes(ofRequests) : []),
    ...(withMaintenances ? maintenanceScenes(ofMaintenances) : []),
    ...(withAvailability ? failureScenes(ofFailures) : []),
  ];
  const registered = withRequests ? withInterceptors(ofRequests, plan.apps) : plan.apps;
  const drainsRequest = withRequests && ofRequests.happens(0.5);
  return {
    ...plan,
    apps: registered,
    withPods,
    withRequests,
    drainsRequest,
    withMaintenances,
    withAvailability,
    scenes: all.toSorted(ofAge),
  };
};
