/**
 * The registry of nodes that are given back: what the caches say reaches the drains that it
 * concerns.
 *
 * Promises: every key without an end has a drain while this process leads, whoever wrote it
 * (DR-13); many changes of one node's pods at once are looked at once; keys that this version
 * cannot read are said and left alone (DR-01).
 */
import { type Observable, Subscription } from 'rxjs';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { nodePods } from '../../domain/drain/node-pods.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey } from '../../domain/ids.ts';
import type { Cordons } from '../../effects/cordons.ts';
import { startDrainBlockers } from './drain-blockers.ts';
import { foreignKeys, nodeNow } from './drain-deeds.ts';
import { type DrainNews, type DrainPopulationOptions, makeDrains } from './drain-population.ts';
import type { Drain, DrainOrder, NodeDrainActor } from './drain-record.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';
import type { Informer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

export type { DrainNews } from './drain-population.ts';
export type { DrainOrder } from './drain-record.ts';

/** What drains listen to and whom they tell. */
export interface DrainsOptions extends Omit<DrainPopulationOptions, 'onBegin' | 'podsOn'> {
  readonly nodes: Pick<Informer<DrainedNode>, 'facts' | 'get' | 'values'>;
  readonly pods: Pick<Informer<DrainPod>, 'facts'>;
  readonly evictions: Pick<PodEvictions, 'want' | 'release' | 'statusOf' | 'progress' | 'changes'>;
}

/** All drains. */
export interface DrainRegistry {
  /** This node is to be given back; joins a drain that is under way. */
  readonly order: (node: DrainedNode, order: DrainOrder) => void;
  /** The instruction lets pods of the node be asked to leave, as soon as it is cordoned. */
  readonly release: (node: string, id: string) => void;
  /** Goes on with what Nodes show, or lets go of everything. */
  readonly lead: (leading: boolean) => void;
  readonly news: Observable<DrainNews>;
  readonly actors: () => Iterable<NodeDrainActor>;
  readonly get: (node: string) => NodeDrainActor | undefined;
  /** Drains by state. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Begins nothing new; resolves when Node patches under way have their answers. */
  readonly stop: () => Promise<void>;
}

/** Gathers names until those who speak have come to rest. */
const gathered = (take: (name: string) => void): (name: string) => void => {
  let names = new Set<string>();
  const flush = (): void => {
    const taken = names;
    names = new Set();
    for (const name of taken) take(name);
  };
  return (name) => {
    names.add(name);
    if (names.size === 1) queueMicrotask(flush);
  };
};

/** Starts with nothing to drain, not leading. */
export const startDrains = (
  environment: ActorEnvironment<Cordons>,
  options: DrainsOptions,
): DrainRegistry => {
  const { nodes, evictions, voice } = options;
  const index = nodePods();
  const foreign = foreignKeys(voice);
  const blockers = startDrainBlockers<Drain, Cordons>(environment, {
    drains: () => drains.all(),
    blocked: (drain) =>
      drain.actor.getSnapshot().matches({ work: { underway: 'draining' } })
        ? drain.pods.blocked(nodeNow(drain, options))
        : [],
    tell: ({ node }, blocked) => voice.blocked(node, blocked),
  });
  const drains = makeDrains(environment, {
    ...options,
    podsOn: index.on,
    onBegin: () => blockers.wake(),
  });
  const look = gathered(drains.look);
  let leading = false;

  const change = (name: string): void => {
    if (drains.get(name) !== undefined) look(name);
  };
  const see = (node: DrainedNode): void => {
    if (!leading) return;
    foreign.report(node);
    drains.observe(node);
  };
  const lose = (name: string): void => {
    foreign.forget(name);
    drains.vanish(name);
  };
  const hearNodes = (fact: Fact<DrainedNode>): void => {
    if (fact._tag === 'Present') return see(fact.object);
    if (fact._tag === 'Absent') return lose(fact.key);
    fact.objects.forEach(see);
    for (const { node } of [...drains.all()]) {
      if (nodes.get(objectKey(node.name)) === undefined) lose(node.name);
    }
  };
  const hearPods = (fact: Fact<DrainPod>): void => {
    if (fact._tag === 'Listed') {
      index.replace(fact.objects);
      for (const { node } of drains.all()) look(node.name);
    } else if (fact._tag === 'Present') {
      index.put(fact.object);
      change(fact.object.node);
    } else {
      index.remove(fact.last);
      change(fact.last.node);
    }
  };
  const subscription = new Subscription();
  subscription.add(options.pods.facts.subscribe(hearPods));
  subscription.add(nodes.facts.subscribe(hearNodes));
  subscription.add(evictions.changes.subscribe(change));

  return {
    order: (node, order) => {
      if (leading) drains.place(node, order);
    },
    release: drains.release,
    lead: (leads) => {
      if (leads === leading) return;
      leading = leads;
      if (leads) [...nodes.values()].forEach(see);
      else drains.abandon();
    },
    news: drains.news,
    actors: () => [...drains.all()].map(({ actor }) => actor),
    get: (node) => drains.get(node)?.actor,
    counts: drains.counts,
    stop: async () => {
      leading = false;
      subscription.unsubscribe();
      blockers.stop();
      await drains.stop();
    },
  };
};
