/**
 * The registry of nodes that are given back: one root actor each, from the order, or from the key
 * that a Node shows, until the end stands on the Node.
 *
 * Promises: every key without an end has a drain while this process leads, whoever wrote it (drain
 * rules: DR-13); 32 Nodes are cordoned at once (DR-11); a node that is named again joins (DR-03);
 * the UpcomingNode is told and never written from here (DR-40); keys that this version cannot read
 * are said and left alone (DR-01).
 */
import { type Observable, Subject, Subscription } from 'rxjs';
import type { SnapshotFrom } from 'xstate';
import { foreignCordons, markOf } from '../domain/drain/cordon.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import { nodePods } from '../domain/drain/node-pods.ts';
import type { PlanTerms } from '../domain/drain/plan.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { Fact } from '../domain/facts.ts';
import { objectKey, type Revision } from '../domain/ids.ts';
import { isOlder } from '../domain/revisions.ts';
import type { DrainFact } from '../domain/shown-phase.ts';
import type { Cordons } from '../effects/cordons.ts';
import type { nodeDrain } from '../machines/node-drain.ts';
import type { NodeDrainContext, NodeDrainEnd } from '../machines/node-drain-terms.ts';
import { startDrainBlockers } from './drain-blockers.ts';
import { drainPods } from './drain-pods.ts';
import {
  canJoin,
  deadlineOf,
  deadlineOfMark,
  type Drain,
  type DrainDeadline,
  type DrainOrder,
  drainTime,
  hasLanded,
  type NodeDrainActor,
  workState,
} from './drain-record.ts';
import type { DrainVoice } from './drain-voice.ts';
import { provideNodeDrain } from './node-drain-acts.ts';
import type { PodEvictions } from './pod-evictions.ts';
import type { Reflector } from './reflector.ts';
import { innermostState, stateCounts } from './state-counts.ts';
import { startTurns } from './turns.ts';
import type { World } from './world.ts';
import { writeDoor } from './write-door.ts';

export type { DrainOrder } from './drain-record.ts';

/** Nodes that are cordoned at once (DR-11). */
const CORDONS_AT_ONCE = 32;
/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;

/** What an instruction hears of a node. */
export interface DrainNews {
  readonly node: string;
  readonly id: string;
  readonly stage: 'Cordoned' | 'Ended';
  /** The node is cordoned for the instruction, or gone. */
  readonly counted: boolean;
}

/** What drains listen to and whom they tell. */
export interface DrainsOptions {
  readonly nodes: Pick<Reflector<DrainedNode>, 'facts' | 'get' | 'values'>;
  readonly pods: Pick<Reflector<DrainPod>, 'facts'>;
  readonly evictions: Pick<PodEvictions, 'want' | 'release' | 'standing' | 'changes'>;
  /** Resolves when the object shows it, or there is none. */
  readonly tellMachine: (machineId: string, fact: DrainFact) => Promise<void>;
  /** The machine whose Node it is; `undefined` while nobody knows. */
  readonly machineOf: (node: DrainedNode) => string | undefined;
  readonly voice: DrainVoice;
  /** The operator's own pod leaves last. */
  readonly own: PlanTerms['own'];
  /** `--tier-wait`. */
  readonly tierWaitMs?: number;
  /** `--pause-drains`. */
  readonly paused: boolean;
  /** Volumes that are attached to a node; for the last word about it. */
  readonly volumesOn?: (node: string) => readonly string[];
}

/** All drains. */
export interface DrainRegistry {
  /** This node is to be given back; joins a drain that is under way. */
  readonly order: (node: DrainedNode, order: DrainOrder) => void;
  /** Pods of the node may be asked to leave as soon as it is cordoned. */
  readonly release: (node: string) => void;
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

/** Starts with nothing to drain, not leading. */
export const startDrains = (world: World<Cordons>, options: DrainsOptions): DrainRegistry => {
  const { time, telemetry } = world;
  const { nodes, evictions, voice } = options;
  const live = new Map<string, Drain>();
  /** Where the end of a drain stands: older sights of its Node show none. */
  const ends = new Map<string, Revision>();
  const foreignTold = new Map<string, string>();
  const news = new Subject<DrainNews>();
  const index = nodePods();
  const door = writeDoor();
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_drains', count, { state })
  );
  let leading = false;
  let stopped = false;
  let changed = new Set<string>();

  const tell = ({ node }: Drain, id: string, said: Pick<DrainNews, 'stage' | 'counted'>): void =>
    news.next({ node: node.name, id, ...said });
  const look = (drain: Drain): void => {
    const { context } = drain.actor.getSnapshot();
    const observed = drain.pods.look(context.startedTo);
    const text = JSON.stringify(observed.tally) + observed.refusal;
    if (text === drain.observed && !observed.moved) return;
    drain.observed = text;
    drain.actor.send({ type: 'pods.observed', ...observed });
  };
  const flush = (): void => {
    const names = changed;
    changed = new Set();
    for (const name of names) {
      const drain = live.get(name);
      if (drain !== undefined && !stopped) look(drain);
    }
  };
  const change = (name: string): void => {
    if (!live.has(name)) return;
    changed.add(name);
    if (changed.size === 1) queueMicrotask(flush);
  };
  const machineIdOf = (drain: Drain): string => {
    if (drain.machineId === '') drain.machineId = options.machineOf(drain.node) ?? '';
    return drain.machineId;
  };
  const tellMachine = async (drain: Drain, fact: DrainFact): Promise<void> => {
    const machineId = machineIdOf(drain);
    if (machineId !== '') await options.tellMachine(machineId, fact);
  };
  const lastErrorOf = (
    drain: Drain,
    { mark, refusal, problem, node }: NodeDrainContext,
  ): string => {
    if (mark === null) return `the node could not be cordoned: ${problem || 'nobody answered'}`;
    const remaining = drain.pods.remaining(
      { ...(node ?? drain.node), paused: options.paused || node?.paused === true },
    );
    return refusal === '' ? remaining : `${refusal}; ${remaining}`;
  };
  const showEnd = async ({ node, end }: NodeDrainEnd): Promise<void> => {
    const drain = live.get(node);
    if (drain === undefined) return;
    const { context } = drain.actor.getSnapshot();
    const lastError = end === 'Failed' ? lastErrorOf(drain, context) : '';
    voice.ended(drain.node, {
      end,
      seconds: (time.monotonic() - drain.sinceMs) / 1000,
      lastError,
      forbidden: context.refusal !== '',
      volumes: options.volumesOn?.(node) ?? [],
    });
    await tellMachine(drain, end === 'Failed' ? { _tag: end, lastError } : { _tag: end });
  };
  const ask = (drain: Drain, { startedTo }: NodeDrainContext): void => {
    for (const pod of drain.pods.unasked(startedTo)) {
      drain.pods.noteAsked(pod);
      evictions.want(pod, {
        node: drain.node.name,
        deadlineMonotonicMs: drain.deadline.atMs,
        drainSinceMs: drain.sinceMs,
        podsLeft: drain.pods.left,
      });
    }
  };
  const withDrain = (act: (drain: Drain, context: NodeDrainContext) => void) =>
  (
    context: NodeDrainContext,
  ): void => {
    const drain = live.get(context.name);
    if (drain !== undefined && !stopped) act(drain, context);
  };
  const turns = startTurns<Drain>({
    atOnce: CORDONS_AT_ONCE,
    name: ({ node }) => node.name,
    wake: (drain) => (stopped || live.get(drain.node.name) !== drain ? undefined : drain.actor),
  });
  const logic = provideNodeDrain(world.runtime, {
    askForTurn: withDrain((drain) => turns.ask(drain)),
    tellStarted: withDrain((drain, { mark }) => {
      if (drain.startTold || mark === null) return;
      drain.startTold = true;
      voice.started(drain.node, {
        ids: mark.ids,
        pods: drain.pods.left(),
        deadlineMs: mark.deadlineMs ?? time.now(),
      });
    }),
    tellDraining: withDrain((drain) => void tellMachine(drain, { _tag: 'Draining' })),
    tellCordonFailing: withDrain((drain, { problem }) => voice.cordonFailing(drain.node, problem)),
    tellLeftAlone: withDrain(({ node }) => reportForeign(node)),
    askPodsToLeave: withDrain(ask),
    releasePods: withDrain((drain) => {
      drain.pods.noteReleased();
      evictions.release(drain.node.name);
    }),
    showEnd,
  }, door.through);

  const reportForeign = (node: DrainedNode): void => {
    const foreign = foreignCordons(node);
    const text = JSON.stringify(foreign);
    if (foreign.length === 0) return void foreignTold.delete(node.name);
    if (foreignTold.get(node.name) === text) return;
    foreignTold.set(node.name, text);
    for (const { owner, why } of foreign) voice.leftAlone(node, owner, why);
  };
  const remove = (drain: Drain): void => {
    live.delete(drain.node.name);
    counts.move(drain.state, undefined);
    drain.actor.stop();
  };
  const finish = (drain: Drain, context: NodeDrainContext): void => {
    const { name } = drain.node;
    const gone = context.node === null;
    remove(drain);
    if (context.node === null) ends.delete(name);
    else ends.set(name, context.node.revision);
    const present = nodes.get(objectKey(name));
    const before = context.node === null ? undefined : markOf(context.node, 'reclaim');
    const again = [...drain.queued];
    for (const id of drain.ids) {
      const order = drain.orders.get(id);
      const landed = hasLanded(context, id);
      const isOwed = order !== undefined && context.orders.some((owed) => owed.id === id) &&
        present !== undefined && order.deadlineMs > time.now();
      if (isOwed) again.push(order);
      else {
        const wasDone = before?.ids.includes(id) === true && before.ended !== 'Cancelled';
        tell(drain, id, { stage: 'Ended', counted: gone || landed || wasDone });
      }
    }
    if (present === undefined) {
      for (const { id } of drain.queued) tell(drain, id, { stage: 'Ended', counted: gone });
    } else if (again.length > 0) {
      for (const order of again) place(present, order);
    } else consider(present);
  };
  /** The earlier deadline wins once it stands on the Node, so that a restart knows it, too. */
  const hurry = (drain: Drain, deadline: DrainDeadline | undefined): void => {
    if (deadline === undefined || deadline.atMs >= drain.deadline.atMs) return;
    drain.deadline = deadline;
    drain.actor.send({ type: 'deadline.moved', ...drainTime(time, deadline, options.tierWaitMs) });
  };
  const moved = (drain: Drain, snapshot: SnapshotFrom<typeof nodeDrain>): void => {
    const state = innermostState(workState(snapshot.value));
    counts.move(drain.state, state);
    drain.state = state;
    const { context } = snapshot;
    for (const id of drain.awaited) {
      if (!hasLanded(context, id)) continue;
      drain.awaited.delete(id);
      hurry(drain, drain.deadlines.get(id));
      tell(drain, id, { stage: 'Cordoned', counted: true });
    }
    if (snapshot.hasTag('settled')) finish(drain, context);
  };
  const start = (
    node: DrainedNode,
    { orders, deadline, sinceMs, ids, machineId }: {
      readonly orders: readonly DrainOrder[];
      readonly deadline: DrainDeadline;
      readonly sinceMs: number;
      readonly ids: readonly string[];
      readonly machineId: string;
    },
  ): Drain => {
    const actor = world.actor(logic, `nodeDrain/${node.name}`, {
      node,
      orders: orders.map(({ id, deadlineMs, graceSeconds, sinceMs: since }) => ({
        id,
        deadlineMs,
        graceSeconds,
        sinceMs: since,
      })),
      ...drainTime(time, deadline, options.tierWaitMs),
      pausedAll: options.paused,
      seed: world.seed(),
    });
    const drain: Drain = {
      node,
      machineId,
      actor,
      sinceMs,
      deadline,
      pods: drainPods({
        on: () => index.on(node.name),
        standing: evictions.standing,
        own: options.own,
        now: time.now,
      }),
      awaited: new Set(orders.map(({ id }) => id)),
      ids: new Set(ids),
      queued: [],
      orders: new Map(orders.map((order) => [order.id, order])),
      deadlines: new Map(),
      observed: '',
      state: undefined,
      startTold: orders.length === 0,
    };
    live.set(node.name, drain);
    blockers.wake();
    actor.subscribe({
      next: (snapshot) => {
        if (live.get(node.name) === drain) moved(drain, snapshot);
      },
      error: (cause) => restart(drain, cause),
    });
    actor.start();
    if (live.get(node.name) === drain) look(drain);
    return drain;
  };
  /** What stands on the Node says what is owed; the rest of its orders is given again. */
  const restart = (drain: Drain, cause: unknown): void => {
    telemetry.count('tidegate_actor_defects_total', 1, { machine: 'nodeDrain' });
    telemetry.log('error', 'The actor of a drain failed by a defect and starts again', {
      node: drain.node.name,
      problem: cause instanceof Error ? cause.stack : String(cause),
    });
    remove(drain);
    evictions.release(drain.node.name);
    time.schedule(RESTART_MS, () => {
      const node = nodes.get(objectKey(drain.node.name));
      if (stopped || !leading || node === undefined) return;
      consider(node);
      for (const order of drain.orders.values()) place(node, order);
      release(node.name);
    });
  };
  const join = (drain: Drain, order: DrainOrder): void => {
    const { context } = drain.actor.getSnapshot();
    drain.ids.add(order.id);
    drain.orders.set(order.id, order);
    drain.deadlines.set(order.id, deadlineOf(time, order));
    if (drain.machineId === '') drain.machineId = order.machineId;
    if (hasLanded(context, order.id)) {
      return tell(drain, order.id, { stage: 'Cordoned', counted: true });
    }
    drain.awaited.add(order.id);
    const { id, deadlineMs, graceSeconds, sinceMs } = order;
    drain.actor.send({ type: 'order.joined', order: { id, deadlineMs, graceSeconds, sinceMs } });
  };
  const place = (node: DrainedNode, order: DrainOrder): void => {
    const drain = live.get(node.name);
    if (drain === undefined) {
      start(node, {
        orders: [order],
        ids: [order.id],
        deadline: deadlineOf(time, order),
        sinceMs: time.monotonic(),
        machineId: order.machineId,
      });
    } else if (canJoin(drain) && drain.node.uid === node.uid) join(drain, order);
    else drain.queued.push(order);
  };
  const release = (name: string): void =>
    live.get(name)?.actor.send({ type: 'evictions.released' });
  /** Somebody's key without an end is a drain that goes on. */
  const resume = (node: DrainedNode): void => {
    const mark = markOf(node, 'reclaim');
    if (mark === undefined || mark.ended !== null) return;
    const end = ends.get(node.name);
    if (end !== undefined && isOlder(node.revision, end)) return;
    start(node, {
      orders: [],
      ids: mark.ids,
      deadline: deadlineOfMark(time, mark),
      sinceMs: time.monotonic() - Math.max(0, time.now() - mark.sinceMs),
      machineId: '',
    });
    release(node.name);
  };
  const consider = (node: DrainedNode): void => {
    if (!leading || stopped) return;
    if (Object.keys(node.cordons).length > 0 || foreignTold.size > 0) reportForeign(node);
    const drain = live.get(node.name);
    if (drain === undefined) return resume(node);
    if (drain.node.uid === node.uid) drain.actor.send({ type: 'node.observed', node });
    else drain.actor.send({ type: 'node.vanished' });
  };
  const lose = (name: string): void => {
    ends.delete(name);
    foreignTold.delete(name);
    live.get(name)?.actor.send({ type: 'node.vanished' });
  };
  const hearNodes = (fact: Fact<DrainedNode>): void => {
    if (fact._tag === 'Present') return consider(fact.object);
    if (fact._tag === 'Absent') return lose(fact.key);
    fact.objects.forEach(consider);
    for (const name of [...live.keys()]) {
      if (nodes.get(objectKey(name)) === undefined) lose(name);
    }
  };
  const hearPods = (fact: Fact<DrainPod>): void => {
    if (fact._tag === 'Listed') {
      index.replace(fact.objects);
      return [...live.keys()].forEach(change);
    }
    const pod = fact._tag === 'Present' ? fact.object : fact.last;
    if (fact._tag === 'Present') index.put(pod);
    else index.remove(pod);
    change(pod.node);
  };
  const blockers = startDrainBlockers<Drain, Cordons>(world, {
    drains: () => live.values(),
    blocked: (drain) => {
      const snapshot = drain.actor.getSnapshot();
      if (!snapshot.matches({ work: { underway: 'draining' } })) return [];
      const node = snapshot.context.node ?? drain.node;
      return drain.pods.blocked({ ...node, paused: options.paused || node.paused });
    },
    tell: ({ node }, blocked) => voice.blocked(node, blocked),
  });
  const subscription = new Subscription();
  subscription.add(options.pods.facts.subscribe(hearPods));
  subscription.add(nodes.facts.subscribe(hearNodes));
  subscription.add(evictions.changes.subscribe(change));

  return {
    order: (node, order) => {
      if (leading && !stopped) place(node, order);
    },
    release,
    lead: (leads) => {
      if (leads === leading) return;
      leading = leads;
      if (leads) return [...nodes.values()].forEach(consider);
      for (const drain of [...live.values()]) {
        remove(drain);
        evictions.release(drain.node.name);
      }
      ends.clear();
    },
    news,
    actors: () => [...live.values()].map(({ actor }) => actor),
    get: (node) => live.get(node)?.actor,
    counts: counts.all,
    stop: async () => {
      stopped = true;
      subscription.unsubscribe();
      blockers.stop();
      turns.stop();
      await door.close();
      for (const { actor } of live.values()) actor.stop();
    },
  };
};
