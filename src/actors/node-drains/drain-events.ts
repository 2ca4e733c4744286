/**
 * Events and log lines of drains and of reclaim instructions.
 *
 * Promises: one Event at the start of a drain and one at its end, which no limit drops; one for
 * each reason that has blocked a drain for ten seconds (budgets: without a slot for thirty), and
 * none for a pod or a retry (DR-42); what an instruction names and does not drain is recorded with
 * its cause and remedy.
 */
import type { RecordEvent, Regarding } from '../../api/event-note.ts';
import type { ReasonName } from '../../api/reasons.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import {
  type BlockedPods,
  type BlockingBudget,
  fittingSentence,
} from '../../domain/drain/blocker.ts';
import { CORDON_LIMITS } from '../../domain/drain/cordon-limits.ts';
import { CORDON_PREFIX, unrecognizedCordons } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { type DrainingLimit, drainingLimitText } from '../../domain/drain/draining-limit.ts';
import { LineBudget } from '../../domain/drain/line-budget.ts';
import { type ReclaimEntry, waitingEntries } from '../../domain/drain/reclaim-entry.ts';
import type { ReclaimTargets } from '../../domain/drain/reclaim-targets.ts';
import { blockedVerdict, plural, verdictNote } from '../../domain/drain/verdict.ts';
import { GROUP_VERSION } from '../../domain/api-group.ts';
import { machineId } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import { RECLAIM_REFUSALS, type ReclaimRefusal } from '../../domain/drain/reclaim-refusals.ts';
import { SHARD_LIMITS, type ShardLimitName } from '../../domain/shard-limits.ts';
import { listed, quoted } from '../../domain/text.ts';
import { rfc3339Seconds } from '../../domain/time.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { ReclaimInstructionContext } from '../../machines/reclaim-instruction.ts';
import type { RecordOnLease } from '../role.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import { type EndedDrain, endNote, endReason } from './ended-drain.ts';

/** The maximum number of pods or volumes in a note. */
const NAMED_MAX = 5;

/** The maximum number of budgets that get an Event about one drain, one each (DR-42). */
const BUDGETS_NOTED_MAX = 3;

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
  /** Also on the blocking budgets that are not among `noted`, which gets them. */
  readonly blocked: (subject: DrainSubject, blocked: BlockedPods, noted: Set<string>) => void;
  readonly cordonFailing: (subject: DrainSubject, problem: string) => void;
  /** A cordon annotation that this version must not change (DR-01). */
  readonly leftAlone: (subject: DrainSubject, owner: string, why: string) => void;
  /** Nodes with instructions beyond the bound; none is not recorded (DR-07). */
  readonly notResumed: (subjects: readonly DrainSubject[]) => void;
  /** The requested grace exceeds the maximum (DR-16). */
  readonly clamped: (subject: DrainSubject, askedSeconds: number, seconds: number) => void;
}

const nodeOf = ({ name, uid }: DrainSubject): Regarding => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid,
});

const budgetOf = ({ namespace, name, uid }: BlockingBudget): Regarding => (
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace, name, uid }
);

const upcomingNodeOf = ({ machine, uid }: MachineSubject): Regarding => ({
  apiVersion: GROUP_VERSION,
  kind: 'UpcomingNode',
  name: upcomingNodeName(machineId(machine)),
  uid,
});

type RecordAbout = (subject: DrainSubject, reason: ReasonName, note: string) => void;

/** Records that instructions of Nodes exceed a bound (DR-07). */
const boundEvents = (
  telemetry: Telemetry,
  recordAbout: RecordAbout,
): Pick<DrainEvents, 'notResumed'> => {
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
        `Drains of ${
          plural(nodes, 'Node')
        } go on without acknowledgement: "${CORDON_PREFIX}reclaim" names ` +
          `more than ${CORDON_LIMITS.resumedInstructions} instructions in all; ` +
          'remove the annotations that no shard asked for',
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
      const note = `Cordoned for ${listed(ids, NAMED_MAX)}: ${
        plural(pods, 'pod')
      } to evict${until}`;
      recordUnlimited(subject, 'DrainStarted', note);
    },
    ended: (subject, drain) => {
      const { end, seconds, lastError } = drain;
      const fields = { node: subject.name, outcome: end, seconds, problem: lastError };
      telemetry.log(end === 'Failed' ? 'warn' : 'info', 'Drain ended', fields);
      telemetry.count('tidegate_drains_ended_total', 1, { outcome: end });
      telemetry.observe('tidegate_node_drain_duration_seconds', seconds, { outcome: end });
      if (end === 'Drained') {
        telemetry.observe('tidegate_stateless_drain_duration_seconds', drain.statelessSeconds);
      }
      recordUnlimited(subject, endReason(drain), fittingSentence(endNote(drain)));
    },
    blocked: (subject, blocked, noted) => {
      const verdict = blockedVerdict(blocked);
      recordAbout(subject, verdict.reason, verdictNote(verdict));
      const sentence = `Holds up the drain of node ${quoted(subject.name)}: ${verdict.sentence}`;
      const note = fittingSentence(verdictNote({ ...verdict, sentence }));
      for (const budget of blocked.blocker.budgets ?? []) {
        if (noted.size >= BUDGETS_NOTED_MAX || noted.has(budget.key)) continue;
        noted.add(budget.key);
        record({ regarding: budgetOf(budget), reason: verdict.reason, note });
      }
    },
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

/** The dependencies of the Events of instructions. */
export interface InstructionEventsOptions {
  readonly record: RecordEvent;
  readonly recordOnLease: RecordOnLease;
  readonly machines: Pick<UpcomingNodeRegistry, 'drain'>;
  readonly targets: Pick<ReclaimTargets, 'withoutMachine' | 'reportedMachineOf'>;
  readonly upcomingNode: (machine: string) => UpcomingNodeProjection | undefined;
  /** `--max-draining`. */
  readonly maxDraining: DrainingLimit;
}

/** Records what instructions name and do not drain, or not yet. */
export class InstructionEvents {
  readonly #telemetry: Telemetry;
  readonly #options: InstructionEventsOptions;
  readonly #lines = new LineBudget(SHARD_LIMITS.instruction_log_lines.max);

  constructor(telemetry: Telemetry, options: InstructionEventsOptions) {
    this.#telemetry = telemetry;
    this.#options = options;
  }

  /** The actions of the statechart. */
  readonly actions = {
    recordUnseen: ({ id, entries }: ReclaimInstructionContext): void => {
      for (const entry of entries) {
        if (entry.phase === 'Unseen') this.#unseen(id, entry, ' yet: it has no Node');
      }
    },
    recordQueued: ({ id, entries }: ReclaimInstructionContext): void => {
      const nodes = waitingEntries(entries).length;
      const limit = drainingLimitText(this.#options.maxDraining);
      const note =
        `Cannot drain ${plural(nodes, 'node')} of ${quoted(id)} yet: --max-draining is ${limit}; ` +
        'they follow when other drains end, or raise it';
      this.#telemetry.log('warn', 'Drains queued', { instruction: id, nodes, limit });
      this.#options.recordOnLease('DrainLimitReached', note);
    },
    recordNeverStarted: ({ id, entries }: ReclaimInstructionContext): void => {
      for (const entry of waitingEntries(entries)) this.#neverStarted(id, entry);
    },
  };

  /** The Node is not reclaimed. */
  readonly refused = (
    node: DrainSubject,
    { id, refusal }: { readonly id: string; readonly refusal: ReclaimRefusal },
  ): void => {
    const problem = RECLAIM_REFUSALS[refusal];
    this.#telemetry.count('tidegate_reclaims_refused_total', 1, { reason: refusal });
    if (refusal === 'TooManyInstructions') this.#reached('node_instructions');
    if (!this.#mayWrite(id)) return;
    this.#telemetry.log('warn', 'Reclaim refused', { node: node.name, instruction: id, problem });
    const note = fittingSentence(`Cannot reclaim the node for ${quoted(id)}: ${problem}`);
    this.#options.record({ regarding: nodeOf(node), reason: 'ReclaimRefused', note });
  };

  /** Machines that wait for `--max-draining`. */
  readonly queueLength = (machines: number): void =>
    this.#telemetry.gauge('tidegate_reclaims_queued', machines);

  /** The instruction is not taken: active ones name as many machines as may be. */
  readonly instructionRefused = (id: string, machines: number): void => {
    const { max } = SHARD_LIMITS.reclaim_machines;
    this.#reached('reclaim_machines', machines);
    this.#telemetry.log('warn', 'ReclaimInstruction refused', { instruction: id, machines, max });
    const note =
      `Cannot reclaim ${plural(machines, 'machine')} of ${quoted(id)}: active instructions name ` +
      `at most ${max} (reclaim_machines); the fleet must repeat it later`;
    this.#options.recordOnLease('ShardLimitReached', note);
  };

  /** A repeated instruction names this machine for the first time (DR-03). */
  readonly changed = (instruction: string, machine: string): void => {
    this.#telemetry.count('tidegate_reclaim_instructions_changed_total', 1);
    if (!this.#mayWrite(instruction)) return;
    this.#telemetry.log('warn', 'Repeated instruction names another machine', {
      instruction,
      machine,
    });
    const note =
      `Not reclaimed: instruction "${instruction}" was already accepted without "${machine}"`;
    this.#recordOn(machine, 'InstructionChanged', note);
  };

  /** The machine left before its drain began. */
  readonly left = (id: string, machine: string): void => {
    if (!this.#mayWrite(id)) return;
    const fields = { instruction: id, machine };
    this.#telemetry.log('info', 'Machine left before its drain began', fields);
  };

  #reached(limit: ShardLimitName, count = 1): void {
    this.#telemetry.count('tidegate_shard_limits_reached_total', count, { limit });
  }

  #mayWrite(id: string): boolean {
    const verdict = this.#lines.take(id);
    if (verdict === 'Write') return true;
    this.#reached('instruction_log_lines');
    if (verdict === 'Last') {
      this.#telemetry.log('warn', 'Further lines about an instruction left out', {
        instruction: id,
      });
    }
    return false;
  }

  #neverStarted(id: string, entry: ReclaimEntry): void {
    const { machines, targets } = this.#options;
    const isQueued = entry.phase === 'Queued';
    const lastError = isQueued
      ? `its node waited for --max-draining until the deadline of "${id}"`
      : `the machine had no Node until the deadline of "${id}"`;
    if (!isQueued) this.#unseen(id, entry, `: ${lastError}`);
    void machines.drain(targets.reportedMachineOf(entry), { _tag: 'Failed', lastError });
  }

  #unseen(id: string, entry: ReclaimEntry, why: string): void {
    const node = this.#options.targets.withoutMachine(entry);
    if (node !== undefined) return this.refused(node, { id, refusal: 'NoMachine' });
    const { machine } = entry;
    const note = `Cannot reclaim "${machine}"${why}`;
    this.#telemetry.count('tidegate_machines_without_node_total', 1);
    if (!this.#mayWrite(id)) return;
    this.#telemetry.log('warn', 'Machine has no Node', { machine, instruction: id, problem: note });
    this.#recordOn(machine, 'MachineWithoutNode', note);
  }

  #recordOn(machine: string, reason: ReasonName, note: string): void {
    const uid = this.#options.upcomingNode(machine)?.uid ?? '';
    this.#options.record({ regarding: upcomingNodeOf({ machine, uid }), reason, note });
  }
}
