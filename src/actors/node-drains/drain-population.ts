/**
 * The drains that live: begun by an order or by the key on a Node, joined by further orders, and
 * retired when the end stands on the Node.
 *
 * Promises: one drain a node; 32 Nodes are cordoned at once (DR-11); an order that finds a drain at
 * its end begins another one after it; an actor that breaks begins again from what the Node shows.
 */
import { Subject } from 'rxjs';
import type { SnapshotFrom } from 'xstate';
import { defectText, type Telemetry } from '../../api/telemetry.ts';
import { markOf } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { objectKey, type Revision } from '../../domain/ids.ts';
import { isOlder } from '../../domain/revisions.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { NodeDrainContext } from '../../machines/node-drain-terms.ts';
import type { nodeDrain } from '../../machines/node-drain.ts';
import type { Informer } from '../informers/informer.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';
import { innermostState, stateCounts } from '../state-counts.ts';
import { startConcurrencyLimit } from '../concurrency-limit.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { writeDoor } from '../write-door.ts';
import { drainDeeds, type DrainDeedsOptions } from './drain-deeds.ts';
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
  workState,
} from './drain-record.ts';
import { provideNodeDrain } from './node-drain-acts.ts';

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

/** What drains are made from. */
export interface DrainPopulationOptions extends DrainDeedsOptions {
  readonly nodes: Pick<Informer<DrainedNode>, 'get'>;
  readonly evictions: Pick<PodEvictions, 'want' | 'release' | 'statusOf' | 'progress'>;
  readonly podsOn: (node: string) => Iterable<DrainPod>;
  /** The operator's own pod leaves last. */
  readonly own: PlanTerms['own'];
  /** `--tier-wait`. */
  readonly tierWaitMs?: number;
  /** A drain has begun. */
  readonly onBegin: () => void;
}

/** All drains that live. */
export interface DrainPopulation {
  readonly news: Subject<DrainNews>;
  readonly get: (node: string) => Drain | undefined;
  readonly all: () => Iterable<Drain>;
  readonly counts: () => Readonly<Record<string, number>>;
  /** Begins a drain, or joins the one that is under way. */
  readonly place: (node: DrainedNode, order: DrainOrder) => void;
  /** The instruction lets evictions begin. */
  readonly release: (node: string, id: string) => void;
  /** The Node as it is now: goes on with it, or begins when it shows a key without an end. */
  readonly observe: (node: DrainedNode) => void;
  readonly vanish: (node: string) => void;
  /** Looks at the pods of the node again. */
  readonly look: (node: string) => void;
  /** Lets go of everything. */
  readonly abandon: () => void;
  readonly stop: () => Promise<void>;
}

/** What a drain begins with. */
interface Beginning {
  readonly orders: readonly DrainOrder[];
  readonly ids: readonly string[];
  readonly deadline: DrainDeadline;
  readonly sinceMs: number;
  readonly machineId: string;
}

/** Orders that the drain did not carry out and that have time left. */
const ordersLeft = (
  drain: Drain,
  { orders }: NodeDrainContext,
  nowMs: number,
): readonly DrainOrder[] => {
  const owed = orders.flatMap(({ id }) => drain.orders.get(id) ?? []);
  return [...owed.filter(({ deadlineMs }) => deadlineMs > nowMs), ...drain.queued];
};

/** Tells the statechart what its pods are at, when that is news. */
const lookAt = (drain: Drain): void => {
  const observed = drain.pods.look(drain.actor.getSnapshot().context.startedTo);
  const text = JSON.stringify(observed.tally) + observed.refusal;
  if (text === drain.observed && !observed.moved) return;
  drain.observed = text;
  drain.actor.send({ type: 'pods.observed', ...observed });
};

const drainCounts = (telemetry: Telemetry) =>
  stateCounts((state, count) => telemetry.gauge('tidegate_drains', count, { state }));

const cordonSlots = (isLive: (drain: Drain) => boolean) =>
  startConcurrencyLimit<Drain>({
    atOnce: CORDONS_AT_ONCE,
    keyOf: ({ node }) => node.name,
    activate: (drain) => (isLive(drain) ? drain.actor : undefined),
  });

/** Says that the actor of a drain failed by a defect. */
const sayDefect = (telemetry: Telemetry, { node }: Drain, cause: unknown): void => {
  telemetry.count('tidegate_actor_defects_total', 1, { machine: 'nodeDrain' });
  telemetry.log('error', 'The actor of a drain failed by a defect and starts again', {
    node: node.name,
    problem: defectText(cause),
  });
};

/** Nothing drains at first. */
export const makeDrains = (
  environment: ActorEnvironment<Cordons>,
  options: DrainPopulationOptions,
): DrainPopulation => {
  const { time, telemetry } = environment;
  const { nodes, evictions } = options;
  const live = new Map<string, Drain>();
  /** Where the end of a drain stands: older sights of its Node show none. */
  const ends = new Map<string, Revision>();
  const news = new Subject<DrainNews>();
  const door = writeDoor();
  const counts = drainCounts(telemetry);
  let stopped = false;

  const isLive = (drain: Drain): boolean => !stopped && live.get(drain.node.name) === drain;
  const tell = ({ node }: Drain, id: string, said: Pick<DrainNews, 'stage' | 'counted'>): void =>
    news.next({ node: node.name, id, ...said });
  const slots = cordonSlots((drain) => isLive(drain));
  const drainOf = (name: string) => (stopped ? undefined : live.get(name));
  const deeds = drainDeeds(time, options, { drainOf, requestSlot: slots.request });
  const logic = provideNodeDrain(environment.runtime, deeds, door.through);

  const remove = (drain: Drain): void => {
    live.delete(drain.node.name);
    counts.move(drain.state, undefined);
    drain.actor.stop();
  };
  const finish = (drain: Drain, context: NodeDrainContext): void => {
    const { name } = drain.node;
    remove(drain);
    if (context.node === null) ends.delete(name);
    else ends.set(name, context.node.revision);
    const present = nodes.get(objectKey(name));
    const again = present === undefined ? [] : ordersLeft(drain, context, time.now());
    const shown = context.node === null ? undefined : markOf(context.node, 'reclaim');
    const isCounted = (id: string): boolean =>
      context.node === null || hasLanded(context, id) ||
      (shown?.ids.includes(id) === true && shown.ended !== 'Cancelled');
    for (const id of [...drain.ids, ...drain.queued.map((order) => order.id)]) {
      if (again.some((order) => order.id === id)) continue;
      tell(drain, id, { stage: 'Ended', counted: isCounted(id) });
    }
    if (present === undefined) return;
    for (const order of again) {
      place(present, order);
      if (drain.releasedIds.has(order.id)) release(name, order.id);
    }
    observe(present);
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
    for (const id of drain.awaited) {
      if (!hasLanded(snapshot.context, id)) continue;
      drain.awaited.delete(id);
      hurry(drain, drain.deadlines.get(id));
      tell(drain, id, { stage: 'Cordoned', counted: true });
    }
    if (snapshot.hasTag('settled')) finish(drain, snapshot.context);
  };
  /** What stands on the Node says what is owed; the rest of its orders is given again. */
  const restart = (drain: Drain, cause: unknown): void => {
    sayDefect(telemetry, drain, cause);
    const wasLive = isLive(drain);
    remove(drain);
    evictions.release(drain.node.name, 'reclaim');
    if (!wasLive) return;
    broken.add(drain);
    time.schedule(RESTART_MS, () => {
      const node = nodes.get(objectKey(drain.node.name));
      if (stopped || !broken.delete(drain) || node === undefined) return;
      observe(node);
      for (const order of drain.orders.values()) {
        place(node, order);
        if (drain.releasedIds.has(order.id)) release(node.name, order.id);
      }
    });
  };
  /** Drains that are about to begin again. */
  const broken = new Set<Drain>();

  const begin = (node: DrainedNode, beginning: Beginning): void => {
    const { orders, deadline } = beginning;
    const actor = environment.actor(logic, `nodeDrain/${node.name}`, {
      node,
      orders: orders.map(({ id, deadlineMs, graceSeconds, sinceMs }) => ({
        id,
        deadlineMs,
        graceSeconds,
        sinceMs,
      })),
      ...drainTime(time, deadline, options.tierWaitMs),
      pausedAll: options.paused,
      seed: environment.seed(),
    });
    const drain: Drain = {
      node,
      machineId: beginning.machineId,
      actor,
      sinceMs: beginning.sinceMs,
      deadline,
      pods: drainPods({
        on: () => options.podsOn(node.name),
        statusOf: evictions.statusOf,
        progressOf: evictions.progress,
        own: options.own,
        now: time.now,
      }),
      awaited: new Set(orders.map(({ id }) => id)),
      ids: new Set(beginning.ids),
      queued: [],
      orders: new Map(orders.map((order) => [order.id, order])),
      deadlines: new Map(),
      releasedIds: new Set(),
      observed: '',
      state: undefined,
      startTold: orders.length === 0,
    };
    live.set(node.name, drain);
    options.onBegin();
    actor.subscribe({
      next: (snapshot) => {
        if (isLive(drain)) moved(drain, snapshot);
      },
      error: (cause) => restart(drain, cause),
    });
    actor.start();
    if (isLive(drain)) lookAt(drain);
  };
  const join = (drain: Drain, order: DrainOrder): void => {
    const { id, deadlineMs, graceSeconds, sinceMs, machineId } = order;
    drain.ids.add(id);
    drain.orders.set(id, order);
    drain.deadlines.set(id, deadlineOf(time, order));
    if (drain.machineId === '') drain.machineId = machineId;
    if (hasLanded(drain.actor.getSnapshot().context, id)) {
      return tell(drain, id, { stage: 'Cordoned', counted: true });
    }
    drain.awaited.add(id);
    drain.actor.send({ type: 'order.joined', order: { id, deadlineMs, graceSeconds, sinceMs } });
  };
  const place = (node: DrainedNode, order: DrainOrder): void => {
    const drain = live.get(node.name);
    if (drain !== undefined && canJoin(drain) && drain.node.uid === node.uid) {
      return join(drain, order);
    }
    if (drain !== undefined) return void drain.queued.push(order);
    begin(node, {
      orders: [order],
      ids: [order.id],
      deadline: deadlineOf(time, order),
      sinceMs: time.monotonic(),
      machineId: order.machineId,
    });
  };
  const release = (name: string, id: string): void => {
    const drain = live.get(name);
    drain?.releasedIds.add(id);
    if (drain?.ids.has(id) === true) drain.actor.send({ type: 'evictions.released' });
  };
  const resume = (node: DrainedNode): void => {
    const mark = markOf(node, 'reclaim');
    if (mark === undefined || mark.ended !== null) return;
    const end = ends.get(node.name);
    if (end !== undefined && isOlder(node.revision, end)) return;
    begin(node, {
      orders: [],
      ids: mark.ids,
      deadline: deadlineOfMark(time, mark),
      sinceMs: time.monotonic() - Math.max(0, time.now() - mark.sinceMs),
      machineId: '',
    });
    live.get(node.name)?.actor.send({ type: 'evictions.released' });
  };
  const observe = (node: DrainedNode): void => {
    const drain = live.get(node.name);
    if (drain === undefined) return resume(node);
    if (drain.node.uid === node.uid) drain.actor.send({ type: 'node.observed', node });
    else drain.actor.send({ type: 'node.vanished' });
  };

  const vanish = (name: string): void => {
    ends.delete(name);
    live.get(name)?.actor.send({ type: 'node.vanished' });
  };
  const look = (name: string): void => {
    const drain = live.get(name);
    if (drain !== undefined && !stopped) lookAt(drain);
  };
  const abandon = (): void => {
    for (const drain of [...live.values()]) {
      remove(drain);
      evictions.release(drain.node.name, 'reclaim');
    }
    broken.clear();
    ends.clear();
  };
  const stop = async (): Promise<void> => {
    stopped = true;
    slots.stop();
    await door.close();
    for (const { actor } of live.values()) actor.stop();
  };

  return {
    news,
    get: (name) => live.get(name),
    all: () => live.values(),
    counts: counts.all,
    place,
    release,
    observe,
    vanish,
    look,
    abandon,
    stop,
  };
};
