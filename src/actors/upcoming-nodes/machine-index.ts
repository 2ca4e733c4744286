/**
 * What is known of every machine: what the shard reported and its drain, which object and Node are
 * its, and in which stream it was last seen.
 *
 * Promises: each frame is kept when it arrives, so that the last state of a machine is never lost
 * to a newer frame; nothing here waits, writes or costs a scan for one frame.
 */
import type { Telemetry } from '../../api/telemetry.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { MachineObservation } from '../../domain/frames.ts';
import { machineId, type ObjectKey, objectKey } from '../../domain/ids.ts';
import { endsObject, isKnownTransition } from '../../domain/machine-phase.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { type NodeLink, nodeLinkOf } from '../../domain/node-link.ts';
import { type NodeMatch, nodeMatching } from '../../domain/node-matching.ts';
import type { DrainFact, HoldingFact } from '../../domain/shown-phase.ts';
import type { Intern } from '../../domain/text-pool.ts';
import {
  type MachineReport,
  reportOf,
  standingOf,
  UNBOUND,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../../domain/upcoming-node.ts';

/** No stream has shown the machine yet. */
const NEVER = -1;
/** What every UpcomingNode of ours is called. */
const NAME_PREFIX = 'un-';

/** One machine. */
export interface MachineEntry {
  readonly machineId: string;
  readonly key: ObjectKey;
  reported: MachineReport | undefined;
  /** What its drain last reported, while that holds the phase. */
  drain: HoldingFact | undefined;
  /** It began anew while its drain went on: the end of that drain is not its own any more. */
  outlivedDrain: boolean;
  /** Callers of `drain` that wait until the object shows what the drain reported. */
  awaiting: (() => void)[];
  /** The stream that last mentioned it. */
  stream: number;
  /** The UID of the Node whose readiness got an Event; empty when none did. */
  readyRecorded: string;
  /** When the oldest frame arrived whose write is still pending, on the monotonic clock. */
  pendingSinceMs: number | undefined;
}

/** What the index reads, and where it counts. */
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
  /** Keeps a frame. `undefined` when it reports nothing new. */
  readonly putFrame: (
    frame: MachineObservation,
    stream: number,
    nowMs: number,
  ) => MachineEntry | undefined;
  /** Keeps what a drain reports. `undefined` when no machine is concerned. */
  readonly putDrain: (machineId: string, fact: DrainFact) => MachineEntry | undefined;
  /** Forgets an end of a drain that the object shows, once the Node itself holds or is gone. */
  readonly settleDrain: (entry: MachineEntry) => void;
  /** A frame about the machine was malformed: it is ours all the same, as it last was. */
  readonly mention: (machineId: string, stream: number) => void;
  /** The machine of an object of ours; `undefined` for other objects. */
  readonly ownerOf: (object: UpcomingNodeProjection) => MachineEntry | undefined;
  /** The machines that a Node concerns, now that it is as it is. */
  readonly putNode: (node: NodeProjection) => readonly MachineEntry[];
  readonly removeNode: (name: string) => readonly MachineEntry[];
  /** The Node as it was last observed. */
  readonly nodeNamed: (name: string) => NodeProjection | undefined;
  /** Machines that `stream` did not show, now known to be no longer ours. */
  readonly unbind: (stream: number) => readonly MachineEntry[];
  /** The same for one machine; true when that was not known. */
  readonly unbindOne: (entry: MachineEntry, stream: number) => boolean;
  readonly facts: (entry: MachineEntry) => UpcomingNodeFacts;
  readonly node: (entry: MachineEntry) => NodeLink | null;
  /**
   * Forgets a machine that ended and has no object; false when there is still something to know.
   */
  readonly forget: (entry: MachineEntry) => boolean;
  /** The Node of a machine that may be unknown; `named` is the name that an instruction gives. */
  readonly nodeOf: (machineId: string, named?: string) => NodeMatch | undefined;
  /** The machine that has this Node; `undefined` when none is known, or several are. */
  readonly machineOf: (node: string) => string | undefined;
}

const isSameReport = (left: MachineReport | undefined, right: MachineReport): boolean =>
  left !== undefined && left.state === right.state && left.standing === right.standing &&
  left.servesAgain === right.servesAgain &&
  left.spec === right.spec && left.providerId === right.providerId &&
  left.lastError === right.lastError && left.nodeName === right.nodeName;

/** True when nothing of a Node differs that an UpcomingNode depends on. */
const isSameNode = (before: NodeProjection | undefined, observed: NodeProjection): boolean =>
  before !== undefined && before.uid === observed.uid && before.ready === observed.ready &&
  before.providerId === observed.providerId && before.machineLabel === observed.machineLabel &&
  before.unschedulable === observed.unschedulable &&
  before.cordons['reclaim'] === observed.cordons['reclaim'];

/** True when the machine had ended, and this frame begins another life of it. */
const isReused = (before: MachineReport | undefined, { standing }: MachineReport): boolean => {
  const had = before?.standing ?? null;
  return had !== null && endsObject(had) && standing !== null && !endsObject(standing);
};

const newEntry = (id: string): MachineEntry => ({
  machineId: id,
  key: objectKey(upcomingNodeName(machineId(id))),
  reported: undefined,
  drain: undefined,
  outlivedDrain: false,
  awaiting: [],
  stream: NEVER,
  readyRecorded: '',
  pendingSinceMs: undefined,
});

class Machines implements MachineIndex {
  readonly #object: MachineIndexOptions['object'];
  readonly #telemetry: Telemetry;
  readonly #intern: Intern;
  readonly #entries = new Map<string, MachineEntry>();
  readonly #matching = nodeMatching();

  constructor({ object, telemetry, intern }: MachineIndexOptions) {
    this.#object = object;
    this.#telemetry = telemetry;
    this.#intern = intern;
  }

  readonly entries = () => this.#entries.values();
  readonly size = () => this.#entries.size;
  readonly get = (id: string) => this.#entries.get(id);
  readonly nodeNamed = this.#matching.nodeNamed;

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
    const before = entry.reported;
    const reported = this.#servingAgain(entry, reportOf(before, frame, nowMs));
    this.#countUnknown(before, frame);
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
    const isForeign = entry.outlivedDrain && fact._tag !== 'Draining';
    entry.outlivedDrain = false;
    if (isForeign) return entry;
    entry.drain = fact._tag === 'Cancelled' ? undefined : fact;
    // It serves again only when it is reported again, after the end of this drain.
    const { reported } = entry;
    if (reported?.servesAgain === true && fact._tag === 'Draining') {
      entry.reported = { ...reported, servesAgain: false };
    }
    return entry;
  };

  readonly mention = (id: string, stream: number): void => {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.stream = stream;
  };

  readonly ownerOf = (current: UpcomingNodeProjection): MachineEntry | undefined => {
    for (const id of [current.machineId, current.key.slice(NAME_PREFIX.length)]) {
      const entry = this.#entries.get(id);
      if (entry?.key === current.key) return entry;
    }
    const isOurs = current.machineId !== '' &&
      upcomingNodeName(machineId(current.machineId)) === current.key;
    if (!isOurs) return undefined;
    const entry = this.#join(current.machineId);
    this.#matching.putMachine(this.#traitsOf(entry));
    this.#presumeRecorded(entry);
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
    if (entry.stream === stream || entry.reported?.standing === 'Gone') return false;
    entry.reported = UNBOUND;
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
    const phase = standingOf({ reported: entry.reported ?? null, current: current });
    const isOver = phase === null || endsObject(phase);
    if (current !== null || !isOver || entry.drain?._tag === 'Draining') return false;
    this.#entries.delete(entry.machineId);
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

  #join(id: string): MachineEntry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const entry = newEntry(id);
    this.#entries.set(id, entry);
    return entry;
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
    this.#telemetry.log('warn', 'A machine took a step that is not known; it is followed', {
      machine: frame.machineId,
      ...step,
    });
  }

  /** What a process before this one recorded: the object shows the Node, and it is Ready. */
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

/** An empty index. */
export const machineIndex = (options: MachineIndexOptions): MachineIndex => new Machines(options);
