/**
 * The registry of machines: one root actor each, woken when something is owed and asleep when not.
 *
 * Promises: each UpcomingNode has one writer; frames and drains act only when the lists of objects
 * and Nodes are complete, and until then the last of each machine is kept; 32 machines write at
 * once; an object is called stale only by the end of a proven replay. What was said in one term of
 * leadership is not true in the next: `renounce` at its end.
 */
import { type Observable, Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { Fact } from '../../domain/facts.ts';
import type { MachineObservation, SessionNews } from '../../domain/frames.ts';
import type { NodeMatch } from '../../domain/node-matching.ts';
import type { DrainFact } from '../../domain/shown-phase.ts';
import type { Intern } from '../../domain/text-pool.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import { type MachineActor, makePopulation } from './machine-population.ts';
import { makeRoster } from './machine-roster.ts';
import type { Informer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** What the registry listens to. */
export interface UpcomingNodesOptions {
  readonly news: Observable<SessionNews>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'facts' | 'get'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts'>;
  readonly record: RecordEvent;
  /** Shares the text of equal specs; the same one that the reflector's projection uses. */
  readonly intern: Intern;
}

/** All machines of this cluster. */
export interface UpcomingNodeRegistry {
  /** The actors that are awake. */
  readonly actors: () => Iterable<MachineActor>;
  /** The actor of a machine, when it is awake. */
  readonly get: (machineId: string) => MachineActor | undefined;
  /** Machines by state; those that sleep are `asleep`. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** The Node of a machine, known or not; `named` is the name that an instruction gives. */
  readonly nodeOf: (machineId: string, named?: string) => NodeMatch | undefined;
  /** The machine that has this Node; `undefined` when none is known, or several are. */
  readonly machineOf: (node: string) => string | undefined;
  /**
   * What the drain of a machine says; resolves when the object shows it, or there is none to show
   * it. Frames do not undo it (drain rules: DR-40). Never resolves when the lease is lost first.
   */
  readonly drain: (machineId: string, fact: DrainFact) => Promise<void>;
  /**
   * Forgets what the shard said: for the end of a term of leadership, because another process has
   * its own session from then on. The next session's replay says it again.
   */
  readonly renounce: () => void;
  /** Resolves when no machine writes or waits for its turn. */
  readonly idle: () => Promise<void>;
  /** Begins no more writes and resolves when those under way have their answers. */
  readonly stop: () => Promise<void>;
}

/** Which stream speaks, and which one's replay is known to be complete. */
interface Replay {
  stream: number;
  resynced: number | undefined;
}

/** Starts the registry. */
export const startUpcomingNodes = (
  environment: ActorEnvironment<UpcomingNodes | Cordons>,
  { news, upcomingNodes, nodes, record, intern }: UpcomingNodesOptions,
): UpcomingNodeRegistry => {
  const { telemetry, time } = environment;
  const { get: object } = upcomingNodes;
  const roster = makeRoster<MachineActor>({ object, telemetry, intern });
  const population = makePopulation(environment, { roster, object, record });
  const replay: Replay = { stream: 0, resynced: undefined };
  let nodesKnown = false;
  let objectsKnown = false;
  let oriented = false;

  const consider: typeof population.consider = (machine) => {
    if (oriented) population.consider(machine);
  };
  const isProven = (): boolean => oriented && replay.resynced === replay.stream;
  const collect = (): void => {
    if (!isProven()) return;
    roster.unbind(replay.stream).forEach(consider);
  };
  const orient = (): void => {
    if (oriented || !nodesKnown || !objectsKnown) return;
    oriented = true;
    [...roster.members()].forEach(consider);
    collect();
  };

  const hear = (frame: MachineObservation): void => {
    const machine = roster.hear(frame, replay.stream, time.now());
    if (machine !== undefined) {
      machine.owedSinceMs ??= time.monotonic();
      consider(machine);
      if (machine.owedSinceMs !== undefined) return;
    }
    const nothing = { op: 'status_update', outcome: 'noop' };
    telemetry.count('bigfleet_operator_upcoming_node_writes_total', 1, nothing);
  };
  const onNews = (item: SessionNews): void => {
    switch (item._tag) {
      case 'MachineObserved':
        return hear(item.machine);
      case 'MachineMisread':
        return roster.mention(item.machineId, replay.stream);
      case 'StreamOpened':
        replay.stream = item.stream;
        return;
      case 'Resynced':
        replay.resynced = item.stream;
        return collect();
      case 'StreamEnded':
        replay.resynced = undefined;
        return;
      case 'CapacityObserved':
      case 'ReclaimOrdered':
        return;
    }
  };

  const onObject = (shown: UpcomingNodeProjection): void => {
    const machine = roster.owner(shown);
    if (machine === undefined) return;
    // The cache may show an object only after the replay that did not have its machine.
    if (isProven()) roster.unbindOne(machine, replay.stream);
    consider(machine);
  };
  const onObjects = (fact: Fact<UpcomingNodeProjection>): void => {
    if (fact._tag === 'Present') return onObject(fact.object);
    if (fact._tag === 'Listed') {
      fact.objects.forEach(onObject);
      objectsKnown = true;
      return orient();
    }
    const machine = roster.owner(fact.last);
    if (machine !== undefined) population.vanish(machine, fact.last);
  };
  const onNodes = (fact: Fact<NodeProjection>): void => {
    if (fact._tag === 'Absent') return roster.nodeGone(fact.key).forEach(consider);
    const seen = fact._tag === 'Listed' ? fact.objects : [fact.object];
    for (const node of seen) roster.nodeSeen(node).forEach(consider);
    if (fact._tag === 'Listed') nodesKnown = true;
    orient();
  };

  const subscription = new Subscription();
  subscription.add(nodes.facts.subscribe(onNodes));
  subscription.add(upcomingNodes.facts.subscribe(onObjects));
  subscription.add(news.subscribe(onNews));

  return {
    actors: function* () {
      for (const { actor } of roster.members()) if (actor !== undefined) yield actor;
    },
    get: (machineId) => roster.get(machineId)?.actor,
    counts: population.counts,
    nodeOf: roster.nodeOf,
    machineOf: roster.machineOf,
    drain: (machineId, fact) =>
      new Promise((resolve) => {
        const machine = roster.drained(machineId, fact);
        if (machine === undefined) return resolve();
        machine.awaiting.push(resolve);
        consider(machine);
      }),
    renounce: population.renounce,
    idle: population.idle,
    stop: () => {
      subscription.unsubscribe();
      return population.stop();
    },
  };
};
