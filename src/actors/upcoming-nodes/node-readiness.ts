/**
 * Which process records that the Node of a machine became Ready.
 *
 * Promises: only the leader records it; a new leader records it for the Nodes of which the previous
 * one may have had no time to: those that this process observed Ready shortly before the takeover.
 * All others are marked without an Event, so that a takeover causes no flood of them.
 */
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import { GROUP_VERSION } from '../../domain/api-group.ts';
import { readinessUnrecorded, type UpcomingNodeFacts } from '../../domain/upcoming-node.ts';
import type { UpcomingNodeContext } from '../../machines/upcoming-node-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { MachineEntry, MachineIndex } from './machine-index.ts';

/** A lease, and as much for its loss to be noticed and the next one to be acquired. */
const HANDOVER_LEASES = 2;

/** What an Event is about. */
type EventSubject = Pick<UpcomingNodeContext, 'machineId' | 'name' | 'facts'>;

/** The UpcomingNode, as Events refer to it. */
export const objectIn = ({ name, facts }: EventSubject): EventNote['regarding'] => ({
  apiVersion: GROUP_VERSION,
  kind: 'UpcomingNode',
  name,
  uid: facts.current?.uid ?? '',
});

export interface NodeReadinessOptions {
  readonly index: Pick<MachineIndex, 'entries' | 'get' | 'facts'>;
  /** `--lease-duration`. */
  readonly leaseMs: number;
  readonly record: RecordEvent;
}

/** The readiness of all Nodes of machines; not leading at first. */
export interface NodeReadiness {
  /** True when this process leads and the Node is Ready without an Event. */
  readonly isPending: (entry: MachineEntry, facts: UpcomingNodeFacts) => boolean;
  /** Notes when a Node is Ready for the first time, in a process that does not lead. */
  readonly observe: (entry: MachineEntry) => void;
  /** Records an Event as the leader; otherwise nothing, and the Node stays without one. */
  readonly record: (subject: EventSubject) => void;
  readonly onLeading: () => void;
  readonly onLeadershipLost: () => void;
}

/** Follows the readiness of the Nodes of an index. */
export const nodeReadiness = (
  { time }: Pick<ActorEnvironment<never>, 'time'>,
  { index, leaseMs, record }: NodeReadinessOptions,
): NodeReadiness => {
  let leading = false;
  const recordOne = (entry: MachineEntry | undefined, subject: EventSubject): void => {
    const { node } = subject.facts;
    if (entry !== undefined) entry.readyRecorded = node?.uid ?? '';
    const note = `Node "${node?.name ?? ''}" is Ready`;
    record({ regarding: objectIn(subject), reason: 'NodeReady', note });
  };
  const recordOrMark = (entry: MachineEntry): void => {
    const { readySeen: seen, machineId, key: name } = entry;
    entry.readySeen = undefined;
    const facts = index.facts(entry);
    if (!readinessUnrecorded(facts, entry.readyRecorded)) return;
    const uid = facts.node?.uid ?? '';
    const isOld = seen?.uid === uid && time.monotonic() - seen.atMs > HANDOVER_LEASES * leaseMs;
    if (isOld) entry.readyRecorded = uid;
    else recordOne(entry, { machineId, name, facts });
  };
  return {
    isPending: (entry, facts) => leading && readinessUnrecorded(facts, entry.readyRecorded),
    observe: (entry) => {
      if (leading) return;
      const facts = index.facts(entry);
      if (!readinessUnrecorded(facts, entry.readyRecorded)) return;
      const uid = facts.node?.uid ?? '';
      if (entry.readySeen?.uid !== uid) entry.readySeen = { uid, atMs: time.monotonic() };
    },
    record: (subject) => {
      if (leading) recordOne(index.get(subject.machineId), subject);
    },
    onLeading: () => {
      leading = true;
      [...index.entries()].forEach(recordOrMark);
    },
    onLeadershipLost: () => {
      leading = false;
    },
  };
};
