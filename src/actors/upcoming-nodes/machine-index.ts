/**
 * Index of all machines: the reports of shard and drain, the object, the Node, and the stream of
 * the last report.
 *
 * Promises: each frame is applied on arrival, so that a newer frame cannot hide a state; nothing
 * here waits, writes or scans for one frame.
 */
import type { Telemetry } from '../../api/telemetry.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { MachineObservation } from '../../domain/frames.ts';
import { machineId, type ObjectKey, objectKey } from '../../domain/ids.ts';
import { endsObject, isKnownTransition } from '../../domain/machine-phase.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { type NodeLink, nodeLinkOf } from '../../domain/node-link.ts';
import { type NodeMatch, nodeMatching } from '../../domain/node-matching.ts';
import type { DrainFact, HoldingFact } from '../../domain/object-phase.ts';
import { SHARD_LIMITS } from '../../domain/shard-limits.ts';
import type { Intern } from '../../domain/text-pool.ts';
import {
  machinePhaseOf,
  type MachineReport,
  reportOf,
  UNBOUND,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../../domain/upcoming-node.ts';

/** No stream has reported the machine yet. */
const NEVER = -1;
/** The name prefix of our UpcomingNodes. */
const NAME_PREFIX = 'un-';

/** One machine. */
export interface MachineEntry {
  readonly machineId: string;
  readonly key: ObjectKey;
  reported: MachineReport | undefined;
  /** The shard showed it CONFIGURED, and it has not left since. */
  wasConfigured: boolean;
  /** The drain's last report, while it holds the phase. */
  drain: HoldingFact | undefined;
  /** It began a new lifecycle during its drain: the end of that drain does not concern it. */
  outlivedDrain: boolean;
  /** Callers of `drain` that wait until the object shows the report. */
  awaiting: (() => void)[];
  /** The stream that last mentioned it. */
  stream: number;
  /** The UID of the Node whose readiness has an Event; empty without one. */
  readyRecorded: string;
  /** When a process that did not lead first observed this Node Ready, on the monotonic clock. */
  readySeen: { readonly uid: string; readonly atMs: number } | undefined;
  /** The arrival of the oldest frame with a pending write, on the monotonic clock. */
  pendingSinceMs: number | undefined;
  /** The malformed fields of its last frame; empty without any. */
  leftOut: string;
  /** The malformed fields that have an Event. */
  leftOutRecorded: string;
}

/** The dependencies of the index. */
export interface MachineIndexOptions {
  readonly object: (key: ObjectKey) => UpcomingNodeProjection | undefined;
  readonly telemetry: Telemetry;
  readonly intern: Intern;
}

/** All machines. */
export interface MachineIndex {
  readonly entries: () => Iterable<MachineEntry>;
  readonly size: () => number;
  readonly get: (machineId: string) => MachineEntry | undefined;
  /** True for a machine beyond the limit: its frames are not applied. */
  readonly isBeyond: (machineId: string) => boolean;
  /** Applies a frame. `undefined` when it changes nothing. */
  readonly putFrame: (
    frame: MachineObservation,
    stream: number,
    nowMs: number,
  ) => MachineEntry | undefined;
  /** Applies a drain's report. `undefined` when it affects no machine. */
  readonly putDrain: (machineId: string, fact: DrainFact) => MachineEntry | undefined;
  /** Drops an end of a drain that the object shows, once the Node has it or is gone. */
  readonly settleDrain: (entry: MachineEntry) => void;
  /** A frame about the machine was malformed: it stays bound with its state, known or not. */
  readonly mention: (machineId: string, stream: number) => void;
  /** A frame before the stream was acknowledged counts for it. */
  readonly bind: (machineId: string, stream: number) => void;
  /** The machine of an UpcomingNode, whoever made it; `undefined` for objects of others. */
  readonly ownerOf: (object: UpcomingNodeProjection) => MachineEntry | undefined;
  /** The machines that a Node affects after its change. */
  readonly putNode: (node: NodeProjection) => readonly MachineEntry[];
  readonly removeNode: (name: string) => readonly MachineEntry[];
  /** The Node as last observed. */
  readonly nodeNamed: (name: string) => NodeProjection | undefined;
  /** Machines that `stream` did not report, now marked as no longer bound. */
  readonly unbind: (stream: number) => readonly MachineEntry[];
  /** The same for one machine; true when that is new. */
  readonly unbindOne: (entry: MachineEntry, stream: number) => boolean;
  readonly facts: (entry: MachineEntry) => UpcomingNodeFacts;
  readonly node: (entry: MachineEntry) => NodeLink | null;
  /**
   * Removes a machine that ended and has no object; false when it is still needed.
   */
  readonly forget: (entry: MachineEntry) => boolean;
  /** The Node of a machine, known or not; `named` is the name in an instruction. */
  readonly nodeOf: (machineId: string, named?: string) => NodeMatch | undefined;
  /** The machine of this Node; `undefined` when unknown or ambiguous. */
  readonly machineOf: (node: string) => string | undefined;
}

const isSameReport = (left: MachineReport | undefined, right: MachineReport): boolean =>
  left !== undefined && left.state === right.state && left.phase === right.phase &&
  left.servesAgain === right.servesAgain &&
  left.spec === right.spec && left.providerId === right.providerId &&
  left.lastError === right.lastError && left.nodeName === right.nodeName;

/** True when nothing of a Node differs that an UpcomingNode depends on. */
const isSameNode = (before: NodeProjection | undefined, observed: NodeProjection): boolean =>
  before !== undefined && before.uid === observed.uid && before.ready === observed.ready &&
  before.providerId === observed.providerId && before.machineLabel === observed.machineLabel &&
  before.isLabelRestricted === observed.isLabelRestricted &&
  before.unschedulable === observed.unschedulable &&
  before.cordons['reclaim'] === observed.cordons['reclaim'];

/** True when the machine had ended, and this frame begins a new lifecycle. */
const isReused = (before: MachineReport | undefined, { phase }: MachineReport): boolean => {
  const had = before?.phase ?? null;
  return had !== null && endsObject(had) && phase !== null && !endsObject(phase);
};

/** True while the machine is bound to this cluster. */
const hasStay = ({ phase }: MachineReport): boolean => phase !== null && !endsObject(phase);

/** `un-<machine id>` → the id, unless it is a hash; callers compare the name of that id. */
const namedIn = (key: ObjectKey): string => key.slice(NAME_PREFIX.length);

const newEntry = (id: string): MachineEntry => ({
  machineId: id,
  key: objectKey(upcomingNodeName(machineId(id))),
  reported: undefined,
  wasConfigured: false,
  drain: undefined,
  outlivedDrain: false,
  awaiting: [],
  stream: NEVER,
  readyRecorded: '',
  readySeen: undefined,
  pendingSinceMs: undefined,
  leftOut: '',
  leftOutRecorded: '',
});

class Machines implements MachineIndex {
  readonly #object: MachineIndexOptions['object'];
  readonly #telemetry: Telemetry;
  readonly #intern: Intern;
  readonly #entries = new Map<string, MachineEntry>();
  /** Machines whose object has a hashed name, by that name. */
  readonly #hashed = new Map<ObjectKey, MachineEntry>();
  readonly #matching = nodeMatching();
  /** Machines without an entry that malformed frames of one stream were about. */
  #mentioned = { stream: NEVER, ids: new Set<string>() };

  constructor({ object, telemetry, intern }: MachineIndexOptions) {
    this.#object = object;
    this.#telemetry = telemetry;
    this.#intern = intern;
  }

  readonly entries = () => this.#entries.values();
  readonly size = () => this.#entries.size;
  readonly get = (id: string) => this.#entries.get(id);
  readonly nodeNamed = this.#matching.nodeNamed;
  readonly isBeyond = (id: string) =>
    this.#entries.size >= SHARD_LIMITS.machines.max && !this.#entries.has(id);

  readonly node = (entry: MachineEntry): NodeLink | null => {
    const found = this.#matching.resolve(this.#traitsOf(entry))?.node;
    return found === undefined ? null : nodeLinkOf(found);
  };

  readonly machineOf = (name: string): string | undefined => {
    const [id, ...others] = this.#matching.machinesOf(name);
    return others.length === 0 ? id : undefined;
  };

  readonly nodeOf = (id: string, named?: string): NodeMatch | undefined => {
    const entry = this.#entries.get(id);
    const traits = entry === undefined
      ? { machineId: id, providerId: '', nodeName: '' }
      : this.#traitsOf(entry);
    return this.#matching.resolve({ ...traits, nodeName: named ?? traits.nodeName });
  };

  readonly settleDrain = (entry: MachineEntry): void => {
    if (entry.drain === undefined || entry.drain._tag === 'Draining') return;
    if (this.#object(entry.key)?.phase !== entry.drain._tag) return;
    if (this.node(entry)?.ended !== null) entry.drain = undefined;
  };

  readonly putFrame = (
    frame: MachineObservation,
    stream: number,
    nowMs: number,
  ): MachineEntry | undefined => {
    const entry = this.#join(frame.machineId);
    entry.stream = stream;
    // A malformed frame before this one is of no account any more.
    this.#mentioned.ids.delete(frame.machineId);
    const before = entry.reported;
    const reported = this.#servingAgain(entry, reportOf(before, frame, nowMs));
    this.#countUnknown(before, frame);
    entry.wasConfigured = hasStay(reported) &&
      (entry.wasConfigured || reported.state === 'Configured');
    if (isSameReport(before, reported)) return undefined;
    entry.reported = { ...reported, spec: this.#intern(reported.spec) };
    if (entry.drain !== undefined && isReused(before, reported)) {
      entry.outlivedDrain = entry.drain._tag === 'Draining';
      entry.drain = undefined;
    }
    this.#matching.putMachine(this.#traitsOf(entry));
    return entry;
  };

  readonly putDrain = (id: string, fact: DrainFact): MachineEntry | undefined => {
    const entry = fact._tag === 'Draining' ? this.#join(id) : this.#entries.get(id);
    if (entry === undefined) return undefined;
    const endsPreviousDrain = entry.outlivedDrain && fact._tag !== 'Draining';
    entry.outlivedDrain = false;
    if (endsPreviousDrain) return entry;
    entry.drain = fact._tag === 'Cancelled' ? undefined : fact;
    // It serves again only when it is reported again, after the end of this drain.
    const { reported } = entry;
    if (reported?.servesAgain === true && fact._tag === 'Draining') {
      entry.reported = { ...reported, servesAgain: false };
    }
    return entry;
  };

  readonly mention = (id: string, stream: number): void => {
    if (this.#entries.has(id)) this.bind(id, stream);
    else this.#remember(id, stream);
  };

  readonly bind = (id: string, stream: number): void => {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.stream = stream;
  };

  readonly ownerOf = (current: UpcomingNodeProjection): MachineEntry | undefined => {
    const id = this.#ownerId(current);
    if (id === undefined) return undefined;
    const isNew = !this.#entries.has(id);
    const entry = this.#join(id);
    // An object gets its providerID in a write after its creation.
    this.#matching.putMachine(this.#traitsOf(entry));
    if (isNew) this.#presumeRecorded(entry);
    return entry;
  };

  readonly putNode = (node: NodeProjection): readonly MachineEntry[] => {
    const before = this.#matching.nodeNamed(node.name);
    const unchanged = isSameNode(before, node);
    const concerned = this.#known(this.#matching.putNode(node));
    if (unchanged) return [];
    if (before === undefined) concerned.forEach((entry) => this.#presumeRecorded(entry));
    return concerned;
  };

  readonly removeNode = (name: string) => this.#known(this.#matching.removeNode(name));

  readonly unbind = (stream: number): readonly MachineEntry[] =>
    [...this.#entries.values()].filter((entry) => this.unbindOne(entry, stream));

  readonly unbindOne = (entry: MachineEntry, stream: number): boolean => {
    if (entry.stream === stream || entry.reported?.phase === 'Gone') return false;
    // Its object is that of a machine with a hashed name.
    if ((this.#hashed.get(entry.key) ?? entry) !== entry) return false;
    entry.reported = UNBOUND;
    entry.wasConfigured = false;
    this.#telemetry.count('tidegate_stale_machines_total', 1);
    return true;
  };

  readonly facts = (entry: MachineEntry): UpcomingNodeFacts => ({
    reported: entry.reported ?? null,
    current: this.#object(entry.key) ?? null,
    node: this.node(entry),
    drain: entry.drain ?? null,
  });

  readonly forget = (entry: MachineEntry): boolean => {
    const current = this.#object(entry.key) ?? null;
    const phase = machinePhaseOf({ reported: entry.reported ?? null, current: current });
    const isOver = phase === null || endsObject(phase);
    if (current !== null || !isOver || entry.drain?._tag === 'Draining') return false;
    this.#entries.delete(entry.machineId);
    if (this.#hashed.get(entry.key) === entry) this.#hashed.delete(entry.key);
    this.#matching.removeMachine(entry.machineId);
    return true;
  };

  #traitsOf({ machineId: id, reported, key }: MachineEntry) {
    return {
      machineId: id,
      providerId: reported === undefined || reported.providerId === ''
        ? this.#object(key)?.providerId ?? ''
        : reported.providerId,
      nodeName: reported?.nodeName ?? '',
    };
  }

  #ownerId({ key, machineId: named }: UpcomingNodeProjection): string | undefined {
    const hashed = this.#hashed.get(key);
    if (hashed !== undefined) return hashed.machineId;
    return [named, namedIn(key)].find((candidate) =>
      candidate !== '' && upcomingNodeName(machineId(candidate)) === key
    );
  }

  #join(id: string): MachineEntry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const entry = newEntry(id);
    const { stream, ids } = this.#mentioned;
    if (ids.has(id)) entry.stream = stream;
    this.#entries.set(id, entry);
    if (namedIn(entry.key) !== id) this.#hashed.set(entry.key, entry);
    return entry;
  }

  /** The cache may get its object later. */
  #remember(id: string, stream: number): void {
    if (this.#mentioned.stream !== stream) this.#mentioned = { stream, ids: new Set() };
    const { ids } = this.#mentioned;
    if (ids.size < SHARD_LIMITS.machines.max) ids.add(id);
  }

  /** A frame that reports CONFIGURED after a drain has ended: the machine serves again (DR-04). */
  #servingAgain(entry: MachineEntry, reported: MachineReport): MachineReport {
    if (reported.state !== 'Configured' || reported.servesAgain) return reported;
    const link = this.#matching.resolve(this.#traitsOf({ ...entry, reported }))?.node;
    if (link === undefined || nodeLinkOf(link).ended === null) return reported;
    return { ...reported, servesAgain: true };
  }

  #countUnknown(before: MachineReport | undefined, frame: MachineObservation): void {
    if (before === undefined || isKnownTransition(before.state, frame.state)) return;
    const step = { from: before.state, to: frame.state };
    this.#telemetry.count('tidegate_unknown_transitions_total', 1, step);
    this.#telemetry.log('warn', 'Unexpected state change of a machine; applied as reported', {
      machine: frame.machineId,
      ...step,
    });
  }

  /** Recorded by an earlier process: the object refers to the Node, and it is Ready. */
  #presumeRecorded(entry: MachineEntry): void {
    const link = this.node(entry);
    if (link?.ready === true && this.#object(entry.key)?.nodeUid === link.uid) {
      entry.readyRecorded = link.uid;
    }
  }

  #known(ids: readonly string[]): readonly MachineEntry[] {
    return ids.flatMap((id) => this.#entries.get(id) ?? []);
  }
}

/** Creates an empty index. */
export const machineIndex = (options: MachineIndexOptions): MachineIndex => new Machines(options);
