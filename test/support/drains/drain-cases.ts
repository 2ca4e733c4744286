/**
 * Random small clusters for `tidegate drain` beside `kubectl drain`: pods of every kind that the
 * filters tell apart, budgets, and flags.
 */
import { type Draw, drawBelow, drawOne, drawsFrom } from '../draws.ts';

/** A pod that is created by name; its controller is an object that recreates nothing. */
interface FixedPod {
  readonly name: string;
  readonly node: string;
  readonly kind: 'Controlled' | 'Bare' | 'Mirror';
  readonly losesData: boolean;
  readonly finished: boolean;
  /** A budget that allows no eviction covers it. */
  readonly guarded: boolean;
  readonly priority: number;
}

/** A cluster, and what is asked of it. */
export interface DrainCase {
  readonly seed: number;
  readonly nodes: readonly string[];
  readonly pods: readonly FixedPod[];
  /** A DaemonSet has a pod on each node. */
  readonly hasDaemonSet: boolean;
  /** Replicas of a Deployment behind a budget of one at a time; 0: none. */
  readonly replicas: number;
  readonly drained: readonly string[];
  readonly flags: {
    readonly force: boolean;
    readonly ignoreDaemonSets: boolean;
    readonly deleteEmptyDirData: boolean;
  };
  readonly podSelector?: string | undefined;
  /** Seconds. */
  readonly gracePeriod?: string | undefined;
}

const NODES_MOST = 3;
const PODS_MOST = 8;
const REPLICAS = [0, 0, 0, 2, 3];
const POD_SELECTORS = [undefined, undefined, undefined, 'role=web', 'role!=other,app'];
const GRACES = [undefined, undefined, undefined, '1', '5'];

const chance = (draw: Draw, share: number): boolean => draw() < share;

const drawPod = (draw: Draw, index: number, nodes: readonly string[]): FixedPod => {
  const kinds = ['Controlled', 'Controlled', 'Controlled', 'Bare', 'Mirror'] as const;
  const kind = drawOne(draw, kinds) ?? 'Controlled';
  const isPlain = kind === 'Controlled' || kind === 'Bare';
  return {
    name: `pod-${index}`,
    node: drawOne(draw, nodes) ?? '',
    kind,
    losesData: isPlain && chance(draw, 0.2),
    finished: isPlain && chance(draw, 0.15),
    guarded: isPlain && chance(draw, 0.06),
    priority: drawOne(draw, [0, 0, 0, 1000]) ?? 0,
  };
};

/** The case of a seed. */
export const drainCase = (seed: number): DrainCase => {
  const draw = drawsFrom(seed);
  const nodes = Array.from(
    { length: 2 + drawBelow(draw, NODES_MOST - 1) },
    (_, index) => `node-${index + 1}`,
  );
  const pods = Array.from(
    { length: drawBelow(draw, PODS_MOST + 1) },
    (_, index) => drawPod(draw, index, nodes),
  );
  // Whoever meets a budget that never opens gives up soon, and too soon for one that does.
  const areGuarded = pods.some(({ guarded }) => guarded);
  return {
    seed,
    nodes,
    pods,
    hasDaemonSet: chance(draw, 0.5),
    replicas: areGuarded ? 0 : drawOne(draw, REPLICAS) ?? 0,
    // One node is left for replicas.
    drained: nodes.slice(0, chance(draw, 0.2) ? nodes.length - 1 : 1),
    flags: {
      force: chance(draw, 0.8),
      ignoreDaemonSets: chance(draw, 0.85),
      deleteEmptyDirData: chance(draw, 0.8),
    },
    podSelector: drawOne(draw, POD_SELECTORS),
    gracePeriod: drawOne(draw, GRACES),
  };
};

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' };

const containers = [{ name: 'c', image: 'none' }];

/** The pod, for the API server; its owner recreates nothing. */
export const podBody = (
  { name, node, kind, losesData, guarded, priority }: FixedPod,
  ownerUid: string,
): object => ({
  metadata: {
    name,
    labels: { app: guarded ? 'guarded' : 'open', role: name.endsWith('1') ? 'other' : 'web' },
    ...(kind === 'Mirror' ? { annotations: { 'kubernetes.io/config.mirror': 'yes' } } : {}),
    ...(kind === 'Controlled'
      ? { ownerReferences: [{ ...OWNER, uid: ownerUid, controller: true }] }
      : {}),
  },
  spec: {
    nodeName: node,
    containers,
    priority,
    ...(losesData ? { volumes: [{ name: 'scratch', emptyDir: {} }] } : {}),
  },
});

const labels = (app: string) => ({ matchLabels: { app } });

/** A DaemonSet on every node. */
export const DAEMON_SET = {
  metadata: { name: 'agent' },
  spec: {
    selector: labels('agent'),
    template: {
      metadata: { labels: { app: 'agent', role: 'web' } },
      spec: { containers },
    },
  },
};

/** A Deployment whose pods are replaced elsewhere. */
export const deployment = (replicas: number): object => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: labels('web'),
    template: { metadata: { labels: { app: 'web', role: 'web' } }, spec: { containers } },
  },
});

/** A budget. */
export const budget = (app: string, allowance: object): object => ({
  metadata: { name: app },
  spec: { ...allowance, selector: labels(app) },
});
