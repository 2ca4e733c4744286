/**
 * Events on the Node and log lines of drains.
 *
 * Promises: one Event at the start of a drain and one at its end, which no limit drops; one for
 * each reason that has blocked a drain for ten seconds (budgets: without a slot for thirty), and
 * none for a pod or a retry (DR-42).
 */
import type { RecordEvent, Regarding } from '../../api/event-note.ts';
import type { ReasonName } from '../../api/reasons.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { GROUP_VERSION } from '../../domain/api-group.ts';
import { blockedSentence, fittingSentence } from '../../domain/drain/blocker.ts';
import { CORDON_LIMITS } from '../../domain/drain/cordon-limits.ts';
import { CORDON_PREFIX, type CordonEnd, unrecognizedCordons } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { machineId } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { rfc3339Seconds } from '../../domain/time.ts';
import type { BlockedPods } from './drain-pods.ts';

/** The maximum number of pods or volumes in a note. */
const NAMED_MAX = 5;

/** The node of an Event. */
export interface DrainSubject {
  readonly name: string;
  readonly uid: string;
}

/** The UpcomingNode of an Event; `uid` is empty when there is none. */
export interface MachineSubject {
  readonly machine: string;
  readonly uid: string;
}

/** How a drain ended. */
export interface EndedDrain {
  readonly end: CordonEnd;
  readonly seconds: number;
  /** Why pods remain; empty when none do. */
  readonly lastError: string;
  /** A permission is missing. */
  readonly forbidden: boolean;
  /** Volumes that are still attached (DR-24). */
  readonly volumes: readonly string[];
  /** Pods that stay, because they tolerate the cordon and came back (DR-20). */
  readonly tolerating: readonly string[];
}

/** Records the progress of drains. */
export interface DrainEvents {
  readonly started: (
    subject: DrainSubject,
    drain: {
      readonly ids: readonly string[];
      readonly pods: number;
      readonly deadlineMs: number | null;
    },
  ) => void;
  readonly ended: (subject: DrainSubject, drain: EndedDrain) => void;
  readonly blocked: (subject: DrainSubject, blocked: BlockedPods) => void;
  readonly cordonFailing: (subject: DrainSubject, problem: string) => void;
  /** A cordon annotation that this version must not change (DR-01). */
  readonly leftAlone: (subject: DrainSubject, owner: string, why: string) => void;
  /** Nodes with instructions beyond the bound; none is not recorded (DR-07). */
  readonly notResumed: (subjects: readonly DrainSubject[]) => void;
  /** A drain of the Node has as many instructions as it may have (DR-07); recorded once. */
  readonly full: (subject: DrainSubject, owner: string) => void;
  /** The requested grace exceeds the maximum (DR-16). */
  readonly clamped: (subject: DrainSubject, askedSeconds: number, seconds: number) => void;
  /** An instruction names a machine without a known Node (DR-10). */
  readonly withoutNode: (subject: MachineSubject, note: string) => void;
  /** A repeated instruction names this machine for the first time (DR-03). */
  readonly instructionChanged: (subject: MachineSubject, id: string) => void;
}

const nodeOf = ({ name, uid }: DrainSubject): Regarding => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid,
});

const upcomingNodeOf = ({ machine, uid }: MachineSubject): Regarding => ({
  apiVersion: GROUP_VERSION,
  kind: 'UpcomingNode',
  name: upcomingNodeName(machineId(machine)),
  uid,
});

const listed = (names: readonly string[]): string => {
  const more = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const REASON_OF = {
  Drained: 'DrainFinished',
  Failed: 'DeadlinePassed',
  Cancelled: 'DrainCancelled',
} as const satisfies Record<CordonEnd, ReasonName>;

/** What remains on the node beside the pods that must leave. */
const restOf = ({ volumes, tolerating }: EndedDrain): string => {
  const attached = volumes.length === 0 ? '' : `; still attached: ${listed(volumes)}`;
  if (tolerating.length === 0) return attached;
  const verb = tolerating.length === 1
    ? 'stays, because it tolerates'
    : 'stay, because they tolerate';
  return `; ${verb} the cordon: ${listed(tolerating)}${attached}`;
};

const endNote = (drain: EndedDrain): string => {
  const { end, seconds, lastError } = drain;
  const time = `${Math.round(seconds)} s`;
  const rest = restOf(drain);
  switch (end) {
    case 'Drained':
      return `Drained in ${time}${rest}`;
    case 'Failed':
      return `Cannot drain the node within ${time}: ${lastError}${rest}`;
    case 'Cancelled':
      return `Cancelled after ${time}: the node was uncordoned, or the annotation was removed`;
  }
};

type RecordAbout = (subject: DrainSubject, reason: ReasonName, note: string) => void;

/** Records that instructions of Nodes exceed a bound (DR-07). */
const boundEvents = (
  telemetry: Telemetry,
  recordAbout: RecordAbout,
): Pick<DrainEvents, 'notResumed' | 'full'> => {
  const recordedFull = new WeakSet<DrainSubject>();
  return {
    notResumed: (subjects) => {
      const [first] = subjects;
      if (first === undefined) return;
      const nodes = subjects.length;
      telemetry.count('tidegate_cordons_refused_total', nodes, { bound: 'resumedInstructions' });
      telemetry.log('warn', 'Instructions on Nodes not resumed', { nodes, node: first.name });
      recordAbout(
        first,
        'CordonLeftAlone',
        `Drains of ${nodes} Nodes go on without acknowledgement: "${CORDON_PREFIX}reclaim" names ` +
          `more than ${CORDON_LIMITS.resumedInstructions} instructions in all; ` +
          'remove the annotations that no shard asked for',
      );
    },
    full: (subject, owner) => {
      telemetry.count('tidegate_cordons_refused_total', 1, { bound: 'ids' });
      if (recordedFull.has(subject)) return;
      recordedFull.add(subject);
      telemetry.log('warn', 'Instructions refused: node has too many', {
        node: subject.name,
        owner,
      });
      recordAbout(
        subject,
        'CordonLeftAlone',
        `Further instructions refused: "${CORDON_PREFIX}${owner}" names ${CORDON_LIMITS.ids} ` +
          'already; remove the annotation if no shard gave them',
      );
    },
  };
};

/** Records through Events and logs. */
export const drainEvents = (telemetry: Telemetry, record: RecordEvent): DrainEvents => {
  const recordAbout: RecordAbout = (subject, reason, note) =>
    record({ regarding: nodeOf(subject), reason, note });
  const recordUnlimited = (subject: DrainSubject, reason: ReasonName, note: string): void =>
    record({ regarding: nodeOf(subject), reason, note, isUnlimited: true });
  return {
    started: (subject, { ids, pods, deadlineMs }) => {
      telemetry.log('info', 'Drain started', { node: subject.name, instruction: ids.join(',') });
      const until = deadlineMs === null ? '' : ` by ${rfc3339Seconds(deadlineMs)}`;
      const note = `Cordoned for ${listed(ids)}: ${pods} pods to evict${until}`;
      recordUnlimited(subject, 'DrainStarted', note);
    },
    ended: (subject, drain) => {
      const { end, seconds, lastError } = drain;
      const fields = { node: subject.name, outcome: end, seconds, problem: lastError };
      telemetry.log(end === 'Failed' ? 'warn' : 'info', 'Drain ended', fields);
      telemetry.count('tidegate_drains_ended_total', 1, { outcome: end });
      telemetry.observe('tidegate_node_drain_duration_seconds', seconds, { outcome: end });
      const reason = end === 'Failed' && drain.forbidden ? 'EvictionForbidden' : REASON_OF[end];
      recordUnlimited(subject, reason, fittingSentence(endNote(drain)));
    },
    blocked: (subject, { blocker: { reason, text }, pods }) =>
      recordAbout(subject, reason, blockedSentence(text, pods)),
    cordonFailing: (subject, problem) => {
      telemetry.log('warn', 'Cannot cordon node', { node: subject.name, problem });
      recordAbout(subject, 'CordonFailing', `Cannot cordon: ${problem}`);
    },
    leftAlone: (subject, owner, why) => {
      telemetry.count('tidegate_cordons_refused_total', 1, { bound: 'annotation' });
      telemetry.log('warn', 'Unrecognized cordon annotation left unchanged', {
        node: subject.name,
        owner,
        problem: why,
      });
      recordAbout(
        subject,
        'CordonLeftAlone',
        `Unrecognized annotation "${CORDON_PREFIX}${owner}": ${why}`,
      );
    },
    ...boundEvents(telemetry, recordAbout),
    clamped: (subject, askedSeconds, seconds) =>
      recordAbout(subject, 'GraceClamped', `Requested ${askedSeconds} s, granted ${seconds} s`),
    withoutNode: (subject, note) => {
      telemetry.count('tidegate_machines_without_node_total', 1);
      telemetry.log('warn', 'Machine has no Node', { machine: subject.machine, problem: note });
      record({ regarding: upcomingNodeOf(subject), reason: 'MachineWithoutNode', note });
    },
    instructionChanged: (subject, instruction) => {
      const { machine } = subject;
      telemetry.count('tidegate_reclaim_instructions_changed_total', 1);
      telemetry.log('warn', 'Repeated instruction names another machine', { instruction, machine });
      const note =
        `Not reclaimed: instruction "${instruction}" was already accepted without "${machine}"`;
      record({ regarding: upcomingNodeOf(subject), reason: 'InstructionChanged', note });
    },
  };
};

/** Nodes whose annotations were recorded as unrecognized, until they change (DR-01). */
export class UnrecognizedCordons {
  readonly #record: DrainEvents['leftAlone'];
  readonly #recorded = new Map<string, ReturnType<typeof unrecognizedCordons>>();

  constructor(record: DrainEvents['leftAlone']) {
    this.#record = record;
  }

  readonly observe = (node: DrainedNode): void => {
    if (this.#recorded.size === 0 && Object.keys(node.cordons).length === 0) return;
    const unrecognized = unrecognizedCordons(node);
    if (unrecognized.length === 0) return this.forget(node.name);
    if (sameJson(this.#recorded.get(node.name), unrecognized)) return;
    this.#recorded.set(node.name, unrecognized);
    for (const { owner, why } of unrecognized) this.#record(node, owner, why);
  };

  readonly forget = (name: string): void => void this.#recorded.delete(name);
}
