/**
 * The verdict on a drain: the reason, the sentence, who can act, the exact change, the runbook and
 * how serious it is.
 *
 * Promises: every surface (the live page, the command line, Events, conditions, `lastError`) shows
 * this verdict; pure functions of plain facts; one verdict for every blocker and every end.
 */
import { type CanAct, type Reason, WHO } from '../reason.ts';
import { textAt } from '../json.ts';
import {
  type BlockedPods,
  blockedSentence,
  isBlocking,
  NOTE_CHARS_MAX,
  podsSentence,
} from './blocker.ts';
import { DRAIN_REASONS, type DrainReason } from './drain-reasons.ts';

/** How serious it is. */
export const SEVERITIES = [
  /** Done, or nothing to do. */
  'Ok',
  /** It goes on by itself. */
  'Waiting',
  /** A person must act. */
  'Blocked',
  /** It ended without success. */
  'Failed',
] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What is the matter, who can act, and how. */
export interface DrainVerdict {
  readonly reason: DrainReason;
  readonly sentence: string;
  readonly canAct: CanAct;
  /** The change to make; empty when none is needed. */
  readonly change: string;
  /** The heading in `docs/runbooks.md`; empty without one. */
  readonly runbook: string;
  readonly severity: Severity;
  /** Why the node will not be empty by the deadline; empty while that is not certain. */
  readonly forecast: string;
}

/** The state of a node's drain. */
export const DRAIN_SITUATIONS = [
  /** Not cordoned. */
  'Schedulable',
  /** Cordoned, without a drain. */
  'Cordoned',
  'Draining',
  'Paused',
  /** The deadline has passed and the end is not written yet. */
  'Overdue',
  /** A person uncordoned it; the operator has not written that yet. */
  'Cancelling',
  'Drained',
  'Failed',
  'Cancelled',
  /** The Node was deleted. */
  'Gone',
] as const;
export type DrainSituation = (typeof DRAIN_SITUATIONS)[number];

/** A NodeMaintenance that keeps its node cordoned, and does not drain it. */
export interface CordonedFor {
  readonly name: string;
  /** It is completed or deleted: its cordon is about to go. */
  readonly isReleasing: boolean;
}

/** The facts about a drain. */
export interface DrainFacts {
  readonly state: DrainSituation;
  /** Pods that must leave, and those of them that are terminating. */
  readonly left: number;
  readonly leaving: number;
  /** What blocks pods. */
  readonly blocked: readonly BlockedPods[];
  /** The last verdict on what blocks pods, for a reader that does not know the blockers. */
  readonly recorded?: DrainVerdict | null;
  /** Why the drain failed, or why some of its pods remained; empty when unknown. */
  readonly lastError: string;
  /** The node may get new pods. */
  readonly schedulable: boolean;
  /** The cordon of a person is on the node. */
  readonly cordonedByPerson: boolean;
  /** Absent without a maintenance that only cordons the node. */
  readonly cordonedFor?: CordonedFor | undefined;
  /** The drain failed, because the operator may not evict. Default: false. */
  readonly isForbidden?: boolean;
}

/** True for a verdict that was stored or sent as JSON. */
export const isDrainVerdict = (value: unknown): value is DrainVerdict =>
  Object.hasOwn(DRAIN_REASONS, textAt(value, 'reason') ?? '') &&
  Object.hasOwn(WHO, textAt(value, 'canAct') ?? '') &&
  SEVERITIES.some((severity) => severity === textAt(value, 'severity')) &&
  ['sentence', 'change', 'runbook', 'forecast'].every((field) =>
    textAt(value, field) !== undefined
  );

const FORECAST = 'DeadlineUnreachable';

const entryOf = (reason: DrainReason): Reason => DRAIN_REASONS[reason];

/** How serious a reason is while it lasts. */
export const severityOf = ({ type, canAct }: Pick<Reason, 'type' | 'canAct'>): Severity =>
  type === 'Warning' && canAct !== 'nobody' ? 'Blocked' : 'Waiting';

/** A verdict with what the reason says by itself. */
const verdictWith = (
  reason: DrainReason,
  sentence: string,
  more: Partial<DrainVerdict> = {},
): DrainVerdict => {
  const entry = entryOf(reason);
  const { canAct, runbook = '', change = '' } = entry;
  const severity = severityOf(entry);
  return { reason, sentence, canAct, change, runbook, severity, forecast: '', ...more };
};

/** `1 pod`, `2 pods`. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The verdict on pods with one blocker. */
export const blockedVerdict = ({ blocker, pods }: BlockedPods): DrainVerdict => {
  const { reason, text, change } = blocker;
  const exact = change === undefined ? {} : { change };
  if (!isBlocking(reason)) {
    const verb = pods.length === 1 ? 'waits: ' : 'wait: ';
    return verdictWith(reason, podsSentence(verb, text, pods), exact);
  }
  if (reason !== FORECAST) return verdictWith(reason, blockedSentence(text, pods), exact);
  const forecast = `The node ${text}`;
  return verdictWith(reason, forecast, { ...exact, forecast });
};

/** Blockers that a person can act on come first. */
const chief = (blocked: readonly BlockedPods[]): BlockedPods | undefined =>
  blocked.filter(({ blocker: { reason } }) => reason !== FORECAST)
    .find(({ blocker: { reason } }) => severityOf(entryOf(reason)) === 'Blocked') ?? blocked[0];

/** The verdict on the most important blocker; undefined without any. */
export const chiefVerdict = (blocked: readonly BlockedPods[]): DrainVerdict | undefined => {
  const first = chief(blocked);
  const forecast = blocked.find(({ blocker: { reason } }) => reason === FORECAST);
  if (first === undefined) return undefined;
  return {
    ...blockedVerdict(first),
    forecast: forecast === undefined ? '' : blockedVerdict(forecast).sentence,
  };
};

/** Blockers in a text that `readBlockedText` reads back; empty without any. */
export const blockedText = (blocked: readonly BlockedPods[]): string =>
  blocked.map(blockedVerdict).map(({ reason, sentence }) => `${reason}: ${sentence}`).join(' | ');

/** A blocker as read back. */
export interface ReadBlocker {
  readonly reason: string;
  readonly sentence: string;
}

/** The blockers in a text of `blockedText`. Total. */
export const readBlockedText = (text: string): readonly ReadBlocker[] =>
  text.split(/ \| (?=[A-Z]\w+: (?:\d|The node ))/).flatMap((part) => {
    const end = part.indexOf(': ');
    return end < 0 ? [] : [{ reason: part.slice(0, end), sentence: part.slice(end + 2) }];
  });

/** How many pods must leave, and how many of them are terminating. */
export const leavingSentence = (
  { left, leaving }: Pick<DrainFacts, 'left' | 'leaving'>,
): string => {
  if (left === 0) return 'All pods that must leave are gone';
  const verb = leaving === 1 ? 'is' : 'are';
  if (leaving === left) return `${plural(left, 'pod')} ${verb} terminating`;
  return `${plural(left, 'pod')} must leave, ${leaving} of them ${verb} terminating`;
};

const chiefOf = ({ blocked, recorded = null }: DrainFacts): DrainVerdict | null =>
  chiefVerdict(blocked) ?? recorded;

const draining = (facts: DrainFacts): DrainVerdict => {
  const first = chiefOf(facts);
  if (first !== null) return first;
  const isLeaving = facts.leaving === facts.left;
  return verdictWith(isLeaving ? 'WaitingForPods' : 'DrainStarted', leavingSentence(facts));
};

const failed = (facts: DrainFacts): DrainVerdict => {
  const first = chiefOf(facts);
  const remaining = facts.lastError === ''
    ? `${plural(facts.left, 'pod')} remained`
    : facts.lastError;
  if (facts.isForbidden === true) {
    const forbidden = `The operator may not evict: ${remaining}`;
    return verdictWith('EvictionForbidden', forbidden, { severity: 'Failed' });
  }
  const sentence = `The deadline passed first: ${remaining}`;
  if (first === null) return verdictWith('DeadlinePassed', sentence, { severity: 'Failed' });
  const { canAct, change } = first;
  return verdictWith('DeadlinePassed', sentence, {
    severity: 'Failed',
    ...(canAct === 'nobody' ? {} : { canAct, change }),
  });
};

const REOPENED = 'the node is schedulable again and may get new pods';

const cancelled = ({ schedulable, cordonedByPerson }: DrainFacts): string => {
  if (schedulable) return `The drain was cancelled: ${REOPENED}`;
  return cordonedByPerson
    ? 'The drain was cancelled; a person has cordoned the node'
    : 'The drain was cancelled; the node is still cordoned';
};

const drained = ({ schedulable, lastError }: DrainFacts): string => {
  if (lastError !== '') return lastError;
  return schedulable
    ? `All pods that had to leave were gone; ${REOPENED}`
    : 'All pods that had to leave are gone';
};

/** An operator that runs reverts `kubectl uncordon` while the maintenance cordons (NM-13). */
const changeOf = ({ name, isReleasing }: CordonedFor): string =>
  isReleasing
    ? 'Check that an operator with the role maintenance runs if the cordon stays'
    : `Drain the node: tidegate maintenance drain ${name}; or make it schedulable: ` +
      `tidegate maintenance complete ${name}`;

const cordoned = ({ cordonedByPerson, cordonedFor }: DrainFacts): DrainVerdict => {
  const traits = { canAct: 'platform', severity: 'Ok' } as const;
  if (cordonedFor !== undefined) {
    const { name, isReleasing } = cordonedFor;
    const does = isReleasing ? 'is about to release' : 'only cordons';
    return verdictWith(
      'NotDraining',
      `The NodeMaintenance "${name}" ${does} the node; Tidegate evicts no pods`,
      { ...traits, change: changeOf(cordonedFor) },
    );
  }
  return verdictWith(
    'NotDraining',
    cordonedByPerson
      ? 'A person cordoned the node; Tidegate evicts no pods'
      : 'The node is cordoned without a Tidegate annotation; Tidegate evicts no pods',
    { ...traits, change: 'Uncordon the node to make it schedulable' },
  );
};

const VERDICTS: Readonly<Record<DrainSituation, (facts: DrainFacts) => DrainVerdict>> = {
  Schedulable: () =>
    verdictWith('NotDraining', 'The node is schedulable and is not being drained', {
      severity: 'Ok',
    }),
  Cordoned: cordoned,
  Draining: draining,
  Paused: (facts) =>
    verdictWith('DrainPaused', `The drain is paused: ${leavingSentence(facts).toLowerCase()}`),
  Overdue: (facts) =>
    verdictWith(
      'DeadlinePassed',
      `The deadline passed, and the end is not recorded yet: ${
        leavingSentence(facts).toLowerCase()
      }`,
      { canAct: 'platform', change: 'Check that the operator runs if this lasts' },
    ),
  Cancelling: () =>
    verdictWith('DrainCancelled', 'The node was uncordoned, which cancels the drain'),
  Drained: (facts) => verdictWith('DrainFinished', drained(facts), { severity: 'Ok' }),
  Failed: failed,
  Cancelled: (facts) => verdictWith('DrainCancelled', cancelled(facts), { severity: 'Ok' }),
  Gone: ({ left }) =>
    left === 0
      ? verdictWith('DrainFinished', 'The Node was deleted', { severity: 'Ok' })
      : verdictWith('NodeDeleted', `The Node was deleted with ${plural(left, 'pod')} on it`, {
        severity: 'Failed',
      }),
};

/** The verdict on a drain. */
export const drainVerdict = (facts: DrainFacts): DrainVerdict => VERDICTS[facts.state](facts);

/** Who can act, and how; empty when nobody needs to. */
export const actionText = ({ canAct, change }: Pick<DrainVerdict, 'canAct' | 'change'>): string => {
  if (canAct === 'nobody') return change;
  return change === '' ? `${WHO[canAct]} can act` : `${WHO[canAct]}: ${change}`;
};

/** The note of an Event: the sentence, and as far as there is room who can act, and how. */
export const verdictNote = (verdict: DrainVerdict): string => {
  const action = actionText(verdict);
  const note = action === '' ? verdict.sentence : `${verdict.sentence}. ${action}`;
  return note.length <= NOTE_CHARS_MAX ? note : verdict.sentence;
};

/** The sentence in a note, without who can act. */
export const sentenceOfNote = (note: string): string => {
  for (const who of Object.values(WHO)) {
    const end = note.lastIndexOf(`). ${who}: `);
    if (end >= 0) return note.slice(0, end + 1);
  }
  return note;
};
