/**
 * Steps of worlds about partitions of single processes, expired watches, and demand that pods make.
 *
 * Promises: drawn from a stream of their own, so that the other steps of a seed stay as they are;
 * each partition counts as a fault until a process leads again.
 */
import { workloadObject, workloadPath } from './app-objects.ts';
import type { Chance } from './chance.ts';
import { type EmbeddedSite, WORKLOADS } from './embedded-site.ts';
import { nameOf } from './invariant.ts';
import { TAKEOVER_MS } from './operator-processes.ts';
import type { WorldControls } from './plan-runner.ts';
import type { Act, AppPlan, Scene, WorldPlan } from './world-plan.ts';

/** Each is one kind of step, or a few that belong together. */
export type NetworkAct =
  /** The leader is cut off from the API server, and keeps its session with the shard. */
  | { readonly _tag: 'CutOffLeader'; readonly forMs: number }
  /** The frames between the leader and the shard arrive only afterwards, in order. */
  | { readonly _tag: 'HoldFrames'; readonly forMs: number }
  /** Pods that may need more machines come, and go again. */
  | {
    readonly _tag: 'Surge';
    readonly pick: number;
    readonly replicas: number;
    readonly forMs: number;
  }
  /** A pod of a StatefulSet is deleted by force: another one gets its name at once. */
  | { readonly _tag: 'Rename'; readonly pick: number };

const ACTIVE_MS = 480_000;
/** Longer than a lease lasts. */
const LEASE_LOST_MS = [16_000, 40_000] as const;

const pick = (chance: Chance): number => chance.int(0, 9999);
const at = (chance: Chance, act: Act): Scene => ({ atMs: chance.int(0, ACTIVE_MS), act });

/** One or all processes are cut off. */
type Partition = Extract<
  Act,
  { readonly _tag: 'CutOffLeader' | 'CutOffStandby' | 'ApiOutage' }
>;

/** Watches expire during a partition. */
const expired = (chance: Chance, cut: Partition): readonly Scene[] => {
  const scene = at(chance, cut);
  const compactMs = scene.atMs + chance.int(0, cut.forMs);
  return [scene, { atMs: compactMs, act: { _tag: 'Compact' } }];
};

/** A leader that drains is frozen for so long that the standby takes over. */
const frozenLeader = (chance: Chance): readonly Scene[] => {
  const reclaim = at(chance, {
    _tag: 'ReclaimMany',
    count: chance.int(2, 4),
    graceSeconds: 300,
    provider: false,
  });
  const forMs = chance.int(...LEASE_LOST_MS);
  const atMs = reclaim.atMs + chance.int(500, 20_000);
  return [reclaim, { atMs, act: { _tag: 'Freeze', forMs } }];
};

/** The steps of a seed. */
export const networkScenes = (
  chance: Chance,
  { withPods, standby }: Pick<WorldPlan, 'withPods' | 'standby'>,
): readonly Scene[] => {
  const partition = chance.pick<Partition>([
    { _tag: 'CutOffLeader', forMs: chance.int(3000, 60_000) },
    { _tag: 'CutOffStandby', forMs: chance.int(3000, 90_000) },
    { _tag: 'ApiOutage', forMs: chance.int(3000, 40_000) },
  ]);
  const scenes = chance.happens(0.5) ? expired(chance, partition) : [at(chance, partition)];
  const others: Act[] = [{ _tag: 'Rename', pick: pick(chance) }];
  if (chance.happens(0.4)) others.push({ _tag: 'HoldFrames', forMs: chance.int(1000, 40_000) });
  if (withPods) {
    const forMs = chance.int(20_000, 200_000);
    others.push({ _tag: 'Surge', pick: pick(chance), replicas: chance.int(4, 30), forMs });
  }
  return [
    ...scenes,
    ...others.map((act) => at(chance, act)),
    ...(standby ? frozenLeader(chance) : []),
  ];
};

const surge = (number: number, replicas: number): AppPlan => ({
  name: `surge-${number}`,
  kind: 'Deployment',
  replicas,
  cpu: '2',
  priority: 0,
  graceSeconds: 5,
  stops: 'soon',
  interceptors: [],
  budget: undefined,
});

const rename = ({ cluster, ask }: EmbeddedSite, number: number): void => {
  const pods = [...cluster.store.collection('pods').ordered()].map(({ object }) => object)
    .filter((pod) => /-\d+$/.test(nameOf(pod)));
  const pod = pods[number % Math.max(1, pods.length)];
  if (pod === undefined) return;
  const path = `/api/v1/namespaces/${WORKLOADS}/pods/${nameOf(pod)}`;
  ask('DELETE', path, { gracePeriodSeconds: 0 });
};

/** Executes these steps. */
export const playNetwork = (site: EmbeddedSite, hand: WorldControls) => (act: Act): boolean => {
  switch (act._tag) {
    case 'CutOffLeader':
      hand.trouble(act.forMs + TAKEOVER_MS);
      hand.cutOffLeader(act.forMs);
      return true;
    case 'HoldFrames':
      hand.trouble(act.forMs + TAKEOVER_MS);
      hand.holdFrames(act.forMs);
      return true;
    case 'Surge': {
      const app = surge(act.pick, act.replicas);
      site.ask('POST', workloadPath(app), workloadObject(app));
      hand.schedule(act.forMs, () => void site.ask('DELETE', workloadPath(app, app.name)));
      return true;
    }
    case 'Rename':
      rename(site, act.pick);
      return true;
    default:
      return false;
  }
};
