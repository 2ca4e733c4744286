/**
 * What each event means to a pod that is to leave, told by the rules of drains and not by its
 * statechart.
 *
 * Promises: holds on every step of the pure statechart and of the live actor.
 */
import type { EvictionOutcome } from '../../src/domain/drain/answer.ts';
import { sameNeed } from '../../src/domain/drain/pod-facts.ts';
import { textAt } from '../../src/domain/json.ts';
import type { PodEvictionContext } from '../../src/machines/pod-eviction-context.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, must } from './harness/step-invariants.ts';

type Answer = EvictionOutcome['_tag'];

/** Answers about the API server as a whole: the pod itself was not refused. */
const NOBODY_REFUSED: ReadonlySet<Answer> = new Set(['Throttled', 'Unauthenticated', 'NotSent']);
const BUDGET_REFUSED: ReadonlySet<Answer> = new Set(['BudgetExhausted', 'BudgetUnsettled']);
const POD_GONE: ReadonlySet<Answer> = new Set(['Gone', 'OtherPod']);

/** Where the other answers lead. */
const HELD_UP: Partial<Readonly<Record<Answer, string>>> = {
  Unknown: 'heldUp.awaitingCache',
  Transient: 'heldUp.backingOff',
  PolicyRefused: 'heldUp.refusedByPolicy',
  TwoBudgets: 'heldUp.twoBudgets',
  BudgetBroken: 'heldUp.budgetBroken',
  NamespaceTerminating: 'heldUp.namespaceTerminating',
  Forbidden: 'heldUp.forbidden',
  Refused: 'heldUp.refused',
};
const BLOCKED = {
  TwoBudgets: 'heldUp.twoBudgets',
  BudgetBroken: 'heldUp.budgetBroken',
  BudgetNeverAllows: 'heldUp.neverAllowed',
} as const;

/** Waits that a changed need of slots ends, and waits that an earlier deadline ends. */
const BY_NEED = ['twoBudgets', 'budgetBroken', 'neverAllowed'];
const BY_DEADLINE = [
  'refusedByPolicy',
  'twoBudgets',
  'budgetBroken',
  'namespaceTerminating',
  'forbidden',
  'refused',
];

const isLeaving = ({ facts, accepted }: PodEvictionContext): boolean =>
  facts.terminating || accepted;
const isStranded = ({ facts, asked }: PodEvictionContext): boolean => asked && facts.kubeletSilent;
const isDecided = (context: PodEvictionContext): boolean =>
  context.vanished || context.released || isLeaving(context);

/** What ends the waits of a pod that is to be evicted. */
const isInterrupted = (context: PodEvictionContext): boolean =>
  isDecided(context) || isStranded(context) || context.facts.intercepted;

const leaving = ({ facts }: PodEvictionContext): string => {
  if (facts.kubeletSilent) return 'leaving.withoutKubelet';
  return facts.finalizers ? 'leaving.heldByFinalizer' : 'leaving.terminating';
};

/** What is to be done by what is known. */
const decision = (context: PodEvictionContext): string => {
  const { vanished, released, facts: { need } } = context;
  if (vanished) return 'gone';
  if (isLeaving(context)) return leaving(context);
  if (released) return 'released';
  if (isStranded(context)) return 'stranded';
  if (context.facts.intercepted) return 'intercepted';
  if (need._tag === 'Blocked') return BLOCKED[need.reason];
  return need._tag === 'One' ? 'queued' : 'asking';
};

/** What an answer leads to; facts that came meanwhile count more. */
const afterAnswer = (context: PodEvictionContext): string => {
  const { vanished, outcome, facts: { need } } = context;
  const answer = outcome?._tag ?? 'Unknown';
  if (vanished || POD_GONE.has(answer)) return 'gone';
  if (isLeaving(context) || NOBODY_REFUSED.has(answer)) return decision(context);
  if (BUDGET_REFUSED.has(answer) && need._tag === 'One') return decision(context);
  if (isInterrupted(context)) return decision(context);
  return HELD_UP[answer] ?? 'heldUp.unsettled';
};

const isAnswer = ({ event }: Step): boolean => /^xstate\.(done|error)\.actor\./.test(event.type);
const isIn = ({ before }: Step, states: readonly string[]): boolean =>
  states.some((state) => before.matches(state));

/** True when the wait is over, whatever else is known. */
const endsWait = (step: Step): boolean => {
  const { event, before, after } = step;
  if (event.type.startsWith('xstate.after.')) return isIn(step, ['heldUp']);
  if (event.type === 'deadline.moved') {
    return isIn(step, BY_DEADLINE.map((state) => `heldUp.${state}`));
  }
  if (event.type !== 'pod.observed') return false;
  if (isIn(step, ['heldUp.unsettled'])) return true;
  const isOther = !sameNeed(before.context.facts.need, after.context.facts.need);
  return isOther && isIn(step, ['queued', 'asking', ...BY_NEED.map((state) => `heldUp.${state}`)]);
};

/** True when it is decided anew. */
const decides = (step: Step): boolean => {
  const context: PodEvictionContext = step.after.context;
  if (step.event.type === 'xstate.init' || endsWait(step)) return true;
  if (isIn(step, ['leavingBackends'])) return true;
  if (isIn(step, ['queued', 'asking', 'heldUp'])) return isInterrupted(context);
  if (isIn(step, ['intercepted'])) return isDecided(context) || !context.facts.intercepted;
  if (isIn(step, ['stranded'])) return isDecided(context) || !context.facts.kubeletSilent;
  if (isIn(step, ['released'])) return context.vanished || !context.released;
  return false;
};

/** RS-14: a pod is evicted when Services send nobody to it any more, or after the limit. */
const backendsLeft = ({ event, after }: Step): string | undefined => {
  const isOver = event.type.startsWith('xstate.after.') || !after.context.facts.serving;
  return isOver ? 'calling' : undefined;
};

/** Where a step must lead; `undefined` when nothing changes. */
const expected = (step: Step): string | undefined => {
  const { event, after } = step;
  const context: PodEvictionContext = after.context;
  if (isIn(step, ['calling'])) return isAnswer(step) ? afterAnswer(context) : undefined;
  if (isIn(step, ['leaving'])) return context.vanished ? 'gone' : leaving(context);
  const isWaiting = isIn(step, ['queued', 'asking']);
  if (event.type === 'eviction.dispatched' && isWaiting) {
    return context.facts.serving ? 'leavingBackends' : 'calling';
  }
  const isStaying = isInterrupted(context) || context.facts.need._tag === 'Blocked';
  if (isIn(step, ['leavingBackends']) && !isStaying) return backendsLeft(step);
  return decides(step) ? decision(context) : undefined;
};

const moves = (step: Step): void => {
  const { event, before, after } = step;
  const to = expected(step);
  const stays = JSON.stringify(before.value) === JSON.stringify(after.value);
  const text = `"${event.type}" in ${JSON.stringify(before.value)}`;
  must(
    to === undefined ? stays : after.matches(to),
    `${text} leads to ${JSON.stringify(after.value)}, not to ${to ?? 'itself'}`,
  );
  const isBeginning = event.type === 'xstate.init';
  const hasMoved = to !== undefined;
  exactly(step, 'awaitDispatch', hasMoved && (to === 'queued' || to === 'asking'));
  exactly(step, 'cancelDispatch', !isBeginning && hasMoved && isIn(step, ['queued', 'asking']));
  exactly(step, 'invoke:evictPod', hasMoved && to === 'calling');
  const leavesBackends = isIn(step, ['leavingBackends']);
  exactly(step, 'leaveBackends', hasMoved && to === 'leavingBackends');
  exactly(step, 'stayInBackends', hasMoved && leavesBackends && to !== 'calling');
  exactly(step, 'reportAnswer', isIn(step, ['calling']) && isAnswer(step));
};

/** What was heard last is what is known. */
const remembers = (step: Step): void => {
  const { event, before, after } = step;
  const was: PodEvictionContext = before.context;
  const now: PodEvictionContext = after.context;
  switch (event.type) {
    case 'pod.observed': {
      const terminating = now.facts.terminating;
      const facts = { ...Object(event['facts']), terminating };
      must(JSON.stringify(now.facts) === JSON.stringify(facts), 'a pod is as it was seen last');
      const isLast = was.facts.terminating || Object(event['facts']).terminating === true;
      return must(terminating === isLast, 'whoever terminates does so for good');
    }
    case 'pod.vanished':
      return must(now.vanished, 'a deleted pod is gone');
    case 'eviction.released':
      return must(now.released, 'nobody wants the eviction');
    case 'eviction.wanted':
      return must(!now.released, 'the eviction is wanted');
  }
  if (!isIn(step, ['calling']) || !isAnswer(step)) return;
  const answer = textAt(event['output'], '_tag') ?? 'Unknown';
  must(now.asked && now.outcome?._tag === answer, 'the last answer is known');
  must(now.accepted === (was.accepted || answer === 'Accepted'), 'an eviction is accepted once');
};

/** The law of each step of a pod's eviction. */
export const evictionMoves = (step: Step): void => {
  remembers(step);
  moves(step);
};
