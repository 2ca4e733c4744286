/**
 * The registry of reclaim instructions: from the shard's word, or from the keys that Nodes show,
 * until the shard knows and every node has come to its end.
 *
 * Promises: an instruction never starts twice, and is acked again when it is said again (DR-03);
 * what Nodes show is gone on with before anything new, and acked once more by each process (DR-12,
 * DR-13); a machine without a Node is loud and not counted (DR-10).
 */
import { type Observable, Subscription } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import type { RecordEvent } from '../../api/event-note.ts';
import { defectText, type Telemetry } from '../../api/telemetry.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import { type CordonMark, markOf } from '../../domain/drain/cordon.ts';
import { graceOf } from '../../domain/drain/deadline.ts';
import { entriesOf, type ReclaimEntry } from '../../domain/drain/reclaim-entry.ts';
import type { ReclaimOrder, SessionNews } from '../../domain/frames.ts';
import { instructionId, machineId, objectKey } from '../../domain/ids.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import type { Reply } from '../../domain/session.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { ReclaimAck, reclaimInstruction } from '../../machines/reclaim-instruction.ts';
import type { Informer } from '../informers/informer.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import { innermostState, stateCounts } from '../state-counts.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { DrainVoice } from './drain-voice.ts';
import type { DrainNews, DrainRegistry } from './drains.ts';
import { drainingMachines } from './lost-reclaims.ts';
import { provideReclaim } from './reclaim-acts.ts';

/** What a reclaim that was lost with a process is called, and how long it gets (DR-14). */
const RECOVERED_PREFIX = 'recovered-';
const RECOVERED_GRACE_SECONDS = 600;
/** Instructions of former terms whose ack is remembered; the oldest is forgotten. */
const ACKED_MAX = 1000;

export type ReclaimActor = ActorRefFrom<typeof reclaimInstruction>;

/** What reclaims listen to and whom they tell. */
export interface ReclaimsOptions {
  readonly news: Observable<SessionNews>;
  /** False when there is no room or no stream. */
  readonly reply: (reply: Reply) => boolean;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'drain'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts' | 'get' | 'values'>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'get'>;
  readonly machineOf: (node: NodeProjection) => string | undefined;
  readonly drains: Pick<DrainRegistry, 'order' | 'release' | 'lead' | 'news' | 'get'>;
  readonly record: RecordEvent;
  readonly voice: Pick<DrainVoice, 'clamped'>;
}

/** All instructions that are not over. */
export interface ReclaimRegistry {
  /** Goes on with what Nodes show, or lets go of everything. Leads the drains as well. */
  readonly lead: (leading: boolean) => void;
  readonly actors: () => Iterable<ReclaimActor>;
  readonly get: (id: string) => ReclaimActor | undefined;
  /** Instructions by state. */
  readonly counts: () => Readonly<Record<string, number>>;
  readonly stop: () => void;
}

/** One instruction. */
interface Reclaim {
  readonly id: string;
  readonly order: {
    readonly deadlineMs: number;
    readonly graceSeconds: number;
    readonly sinceMs: number;
  };
  readonly askedSeconds: number;
  readonly actor: ReclaimActor;
  released: boolean;
  state: string | undefined;
}

const unseen = (entries: readonly ReclaimEntry[]): readonly ReclaimEntry[] =>
  entries.filter(({ stage }) => stage === 'Unseen');

/** Says loudly that a machine has no Node. */
const complaints = (
  telemetry: Telemetry,
  record: RecordEvent,
  shownOf: (machine: string) => UpcomingNodeProjection | undefined,
) =>
(machine: string, note: string): void => {
  telemetry.count('tidegate_machines_without_node_total', 1);
  telemetry.log('warn', 'Machine has no Node', { machine, problem: note });
  record({
    regarding: {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'UpcomingNode',
      name: upcomingNodeName(machineId(machine)),
      uid: shownOf(machine)?.uid ?? '',
    },
    reason: 'MachineWithoutNode',
    note,
  });
};

/** Instructions that are still owed on some Node, with all Nodes that name them. */
const owedInstructions = (
  nodes: Iterable<NodeProjection>,
  machineOf: ReclaimsOptions['machineOf'],
): ReadonlyMap<
  string,
  { readonly mark: CordonMark; readonly entries: readonly ReclaimEntry[] }
> => {
  const owed = new Map<string, CordonMark>();
  const named = new Map<string, ReclaimEntry[]>();
  for (const node of nodes) {
    const mark = markOf(node, 'reclaim');
    if (mark === undefined) continue;
    const over = mark.ended !== null;
    const entry: ReclaimEntry = {
      machine: machineOf(node) ?? node.name,
      node: node.name,
      stage: over ? 'Ended' : 'Cordoned',
      counted: over ? mark.ended !== 'Cancelled' : node.unschedulable,
    };
    for (const id of mark.ids) {
      if (!over) owed.set(id, mark);
      const entries = named.get(id);
      if (entries === undefined) named.set(id, [entry]);
      else entries.push(entry);
    }
  }
  return new Map([...owed].map(([id, mark]) => [id, { mark, entries: named.get(id) ?? [] }]));
};

/** Starts with no instruction, not leading. */
export const startReclaims = (
  environment: ActorEnvironment<Cordons>,
  options: ReclaimsOptions,
): ReclaimRegistry => {
  const { time, telemetry } = environment;
  const { machines, nodes, upcomingNodes, drains, record } = options;
  const live = new Map<string, Reclaim>();
  /** Instructions that this process has acked. */
  const acked = new Set<string>();
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_reclaims', count, { state })
  );
  let leading = false;
  let searching = false;

  const noteAcked = (id: string): void => {
    acked.add(id);
    const [oldest] = acked;
    if (acked.size > ACKED_MAX && oldest !== undefined) acked.delete(oldest);
  };
  const queueAck = ({ id, nodesStarted }: ReclaimAck): boolean => {
    const taken = options.reply({
      _tag: 'ReclaimAcknowledged',
      instructionId: instructionId(id),
      nodesStarted,
    });
    if (taken) noteAcked(id);
    return taken;
  };
  const shownOf = (machine: string): UpcomingNodeProjection | undefined =>
    upcomingNodes.get(objectKey(upcomingNodeName(machineId(machine))));

  /** Where the machine's Node is, as far as anybody has seen (DR-10). */
  const sought = (entry: ReclaimEntry): ReclaimEntry => {
    const match = machines.nodeOf(entry.machine, entry.machine);
    if (match !== undefined) return { ...entry, node: match.node.name, stage: 'Cordoning' };
    const shown = shownOf(entry.machine);
    if (shown === undefined || shown.nodeName === '') return entry;
    const known = nodes.get(objectKey(shown.nodeName));
    if (known?.uid === shown.nodeUid) return { ...entry, node: known.name, stage: 'Cordoning' };
    return { ...entry, node: shown.nodeName, stage: 'Ended', counted: true };
  };
  const showGone = ({ machine }: ReclaimEntry): void =>
    void machines.drain(machine, { _tag: 'Drained' });
  const orderDrain = (reclaim: Reclaim, entry: ReclaimEntry): void => {
    const { machine, node } = entry;
    const present = nodes.get(objectKey(node));
    if (present === undefined) {
      const gone: ReclaimEntry = { ...entry, stage: 'Ended', counted: true };
      reclaim.actor.send({ type: 'machine.observed', entry: gone });
      return showGone(gone);
    }
    const { graceSeconds } = reclaim.order;
    if (reclaim.askedSeconds > graceSeconds) {
      options.voice.clamped(present, reclaim.askedSeconds, graceSeconds);
    }
    drains.order(present, { ...reclaim.order, id: reclaim.id, machineId: machine });
    if (reclaim.released) drains.release(node, reclaim.id);
  };
  const settle = (reclaim: Reclaim, entry: ReclaimEntry): void => {
    if (entry.stage === 'Cordoning') orderDrain(reclaim, entry);
    if (entry.stage === 'Ended') showGone(entry);
  };
  const search = (): void => {
    searching = false;
    for (const reclaim of [...live.values()]) {
      for (const entry of reclaim.actor.getSnapshot().context.entries) {
        if (entry.stage !== 'Unseen') continue;
        const found = sought(entry);
        if (found.stage === 'Unseen') continue;
        reclaim.actor.send({ type: 'machine.observed', entry: found });
        settle(reclaim, found);
      }
    }
  };
  /** Later, when everybody has heard the fact that leads here. */
  const searchSoon = (): void => {
    if (searching || live.size === 0) return;
    searching = true;
    queueMicrotask(search);
  };
  const complain = complaints(environment.telemetry, record, shownOf);
  const logic = provideReclaim(environment.runtime, {
    queueAck: (ack) => Promise.resolve(queueAck(ack)),
    releaseEvictions: ({ id, entries }) => {
      const reclaim = live.get(id);
      if (reclaim !== undefined) reclaim.released = true;
      for (const { node } of entries) if (node !== '') drains.release(node, id);
    },
    tellUnseen: ({ id, entries }) => {
      for (const { machine } of unseen(entries)) {
        complain(machine, `Cannot give back "${machine}" for "${id}" yet: no Node is its own`);
      }
    },
    tellNeverSeen: ({ id, entries }) => {
      for (const { machine } of unseen(entries)) {
        const lastError = `no Node of the machine was seen until the deadline of "${id}"`;
        complain(machine, `Cannot give back "${machine}": ${lastError}`);
        void machines.drain(machine, { _tag: 'Failed', lastError });
      }
    },
  });
  const retire = (reclaim: Reclaim): void => {
    if (live.get(reclaim.id) === reclaim) live.delete(reclaim.id);
    counts.move(reclaim.state, undefined);
    reclaim.actor.stop();
  };
  const moved = (
    reclaim: Reclaim,
    { value }: SnapshotFrom<typeof reclaimInstruction>,
  ): void => {
    const state = innermostState(value);
    counts.move(reclaim.state, state);
    reclaim.state = state;
    if (state === 'settled') retire(reclaim);
  };
  const start = (
    { id, order, askedSeconds, entries, ackOwed }: {
      readonly id: string;
      readonly order: Reclaim['order'];
      readonly askedSeconds: number;
      readonly entries: readonly ReclaimEntry[];
      readonly ackOwed: boolean;
    },
  ): Reclaim => {
    const actor = environment.actor(logic, `reclaimInstruction/${id}`, {
      id,
      entries,
      ackOwed,
      leftMs: order.deadlineMs - time.now(),
    });
    const reclaim: Reclaim = { id, order, askedSeconds, actor, released: false, state: undefined };
    live.set(id, reclaim);
    actor.subscribe({
      next: (snapshot) => moved(reclaim, snapshot),
      error: (cause) => {
        telemetry.count('tidegate_actor_defects_total', 1, { machine: 'reclaimInstruction' });
        telemetry.log('error', 'The actor of an instruction failed by a defect', {
          instruction: id,
          problem: defectText(cause),
        });
        retire(reclaim);
      },
    });
    actor.start();
    return reclaim;
  };
  const begin = (
    { id, named, graceSeconds, ackOwed }: {
      readonly id: string;
      readonly named: readonly string[];
      readonly graceSeconds: number;
      readonly ackOwed: boolean;
    },
  ): void => {
    const { seconds } = graceOf(graceSeconds);
    const sinceMs = time.now();
    const entries = entriesOf(named).map(sought);
    const reclaim = start({
      id,
      order: { deadlineMs: sinceMs + seconds * 1000, graceSeconds: seconds, sinceMs },
      askedSeconds: graceSeconds,
      entries,
      ackOwed,
    });
    for (const entry of entries) settle(reclaim, entry);
  };
  const hearOrder = (order: ReclaimOrder): void => {
    if (!leading) return;
    const known = live.get(order.instructionId);
    if (known !== undefined) return known.actor.send({ type: 'instruction.repeated' });
    begin({
      id: order.instructionId,
      named: order.machines,
      graceSeconds: order.graceSeconds,
      ackOwed: true,
    });
  };
  const hearSession = (item: SessionNews): void => {
    switch (item._tag) {
      case 'ReclaimOrdered':
        return hearOrder(item.order);
      case 'StreamOpened':
        for (const { actor } of [...live.values()]) actor.send({ type: 'stream.opened' });
        return;
      case 'MachineObserved':
        return searchSoon();
      default:
        return;
    }
  };
  const hearDrains = ({ id, node, stage, counted }: DrainNews): void => {
    const reclaim = live.get(id);
    if (reclaim === undefined) return;
    for (const entry of reclaim.actor.getSnapshot().context.entries) {
      if (entry.node !== node) continue;
      reclaim.actor.send({ type: 'machine.observed', entry: { ...entry, stage, counted } });
    }
  };
  const recoverLost = (lost: readonly string[]): void => {
    for (const machine of leading ? lost : []) {
      const node = machines.nodeOf(machine)?.node;
      if (node === undefined || Object.hasOwn(node.cordons, 'reclaim')) continue;
      if (drains.get(node.name) !== undefined) continue;
      const id = `${RECOVERED_PREFIX}${machine}`;
      telemetry.log('warn', 'Reclaim was lost and is carried out', { machine, node: node.name });
      begin({ id, named: [machine], graceSeconds: RECOVERED_GRACE_SECONDS, ackOwed: false });
    }
  };
  const resume = (): void => {
    for (const [id, { mark, entries }] of owedInstructions(nodes.values(), options.machineOf)) {
      const { deadlineMs, graceSeconds, sinceMs } = mark;
      start({
        id,
        order: { deadlineMs: deadlineMs ?? sinceMs, graceSeconds, sinceMs },
        askedSeconds: 0,
        entries,
        ackOwed: !id.startsWith(RECOVERED_PREFIX) && !acked.has(id),
      });
    }
  };
  const subscription = new Subscription();
  subscription.add(drains.news.subscribe(hearDrains));
  subscription.add(options.news.subscribe(hearSession));
  subscription.add(options.nodes.facts.subscribe(searchSoon));
  subscription.add(drainingMachines(environment, options.news).subscribe(recoverLost));

  return {
    lead: (leads) => {
      if (leads === leading) return;
      leading = leads;
      if (leads) resume();
      else for (const reclaim of [...live.values()]) retire(reclaim);
      drains.lead(leads);
    },
    actors: () => [...live.values()].map(({ actor }) => actor),
    get: (id) => live.get(id)?.actor,
    counts: counts.all,
    stop: () => {
      leading = false;
      subscription.unsubscribe();
      for (const { actor } of live.values()) actor.stop();
    },
  };
};
