/**
 * What each event means to the drain of a node, told by the rules of drains and not by its
 * statechart: the decisions about cordon, tiers and end are those of `src/domain/drain`.
 *
 * Promises: holds on every step of the pure statechart and of the live actor.
 */
import {
  endBody,
  endOf,
  inLastQuarter,
  nextDecision,
  tiersStarted,
} from '../../src/domain/drain/drain-state.ts';
import { onlyKeptLeft, tiersWait } from '../../src/domain/drain/pod-counts.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { listOrEmptyAt, numberAt, parseJson, textAt, valueAt } from '../../src/domain/json.ts';
import { resourceVersion } from '../../src/domain/ids.ts';
import type { NodeDrainContext } from '../../src/machines/node-drain-context.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, isAt, isTimer, must } from './harness/step-invariants.ts';

const isIn = ({ before }: Pick<Step, 'before'>, state: string): boolean =>
  isAt(before, `work.${state}`);

/** True when the Node in an answer does not show what its patch was to achieve. */
const isDropped = (
  { end, withdrawn, sent, orders: [order] }: NodeDrainContext,
  node: unknown,
): boolean => {
  const text = textAt(node, 'cordons', 'reclaim');
  const key = text === undefined ? undefined : parseJson(text);
  if (end === null) return !listOrEmptyAt(key, 'ids').includes(order?.id);
  if (withdrawn) return sent === 'released' && key !== undefined;
  return textAt(key, 'ended') !== end;
};

/**
 * What an answer to a patch of the Node says, a fault when the Node in it calls for the same patch;
 * `undefined` for other events.
 */
const answerIn = ({ event, before }: Pick<Step, 'event' | 'before'>): string | undefined => {
  if (/^xstate\.error\.actor\.(cordonNode|writeEnd)$/.test(event.type)) return 'Fault';
  if (!/^xstate\.done\.actor\.(cordonNode|writeEnd)$/.test(event.type)) return undefined;
  const node = valueAt(event['output'], 'node');
  return node !== undefined && isDropped(before.context, node)
    ? 'Fault'
    : textAt(event['output'], '_tag');
};

/** True for a Node that is not older than the known one. */
const isNewerNode = ({ event, before }: Step): boolean => {
  const known: NodeDrainContext = before.context;
  const version = textAt(event['node'], 'resourceVersion');
  return event.type === 'node.observed' && known.node !== null && version !== undefined &&
    !isOlder(resourceVersion(version), known.node.resourceVersion);
};

/** True when the Node is not the one that the patch in flight is based on. */
const hasChanged = ({ before, after }: Step): boolean =>
  after.context.node?.resourceVersion !== before.context.decidedOn;

/** False while a pod that was bound just before the cordon may still appear (DR-24). */
const mayEndEmpty = ({ settled, leftMs }: NodeDrainContext): boolean =>
  settled || (leftMs !== null && leftMs <= 0);

/** The pods are counted once more when those that were bound before the cordon have appeared. */
const settles = (step: Step): void => {
  const { event, before, after, actions } = step;
  const now: NodeDrainContext = after.context;
  const isInit = event.type === 'xstate.init';
  const recounts = isAt(before, 'bindings.recounting') && event.type === 'pods.observed';
  must(now.settled === (!isInit && (before.context.settled || recounts)), 'a recount settles');
  must(isAt(after, 'bindings.complete') === now.settled, 'what has settled is complete');
  must(isAt(after, 'bindings.beforeCordon') === (now.annotation === null), 'the cordon begins it');
  exactly(step, 'countPods', !isInit && isTimer(step, 'bindingDelay'));
  if (actions.includes('invoke:showEnd') && now.end === 'Drained' && now.node !== null) {
    must(mayEndEmpty(now), 'a drain that finds no pod waits for pods that were bound');
  }
};

/** Which pods may be evicted. */
const draining = (context: NodeDrainContext): string => {
  const { node, pausedAll, podCounts, startedTo } = context;
  if (podCounts?.left === 0 && !mayEndEmpty(context)) return 'underway.draining.settling';
  if (pausedAll || node?.paused === true) return 'underway.draining.paused';
  if (podCounts !== null && onlyKeptLeft(podCounts)) {
    return 'underway.draining.waitingForAcknowledgement';
  }
  return podCounts !== null && tiersWait(startedTo, podCounts)
    ? 'underway.draining.waitingForTier'
    : 'underway.draining.open';
};

/** What is to be done next for a Node that is not at its end. */
const planned = (context: NodeDrainContext, holdsSlot: boolean): string => {
  switch (nextDecision(context)?._tag) {
    case 'Unrecognized':
      return 'underway.leftAlone';
    case 'Patch':
      return holdsSlot ? 'underway.acting.cordoning' : 'underway.waitingForSlot';
  }
  if (context.annotation === null) return 'alreadyEnded';
  return context.released ? draining(context) : 'underway.holding';
};

/** The last steps: the Node shows the end, or it is written. */
const closing = (context: NodeDrainContext): string => {
  if (endBody(context) !== undefined) return 'ending.writingEnd';
  return context.end === null ? 'cancelled' : context.end.toLowerCase();
};

/** Where an answer to a patch leads. */
const answered = (
  step: Step,
  answer: string,
  { region, onward }: { readonly region: string; readonly onward: string },
): string => {
  if (answer === 'Conflict' && !hasChanged(step)) return `${region}.awaitingUpdate`;
  return answer === 'Fault' || answer === 'Refused' ? `${region}.backingOff` : onward;
};

/** True when it is planned anew from what the Node shows. */
const plansAgain = (step: Step): boolean => {
  const { event } = step;
  if (isIn(step, 'underway.leftAlone')) return event.type === 'node.observed';
  if (isIn(step, 'underway.awaitingUpdate')) {
    return isNewerNode(step) || isTimer(step, 'writeBackoff');
  }
  if (isIn(step, 'underway.backingOff')) return isTimer(step, 'writeBackoff');
  const isCordoned = isIn(step, 'underway.holding') || isIn(step, 'underway.draining');
  return isCordoned && event.type === 'order.joined';
};

/** Where a step of a drain that is not at its end leads; `undefined` when it stays. */
const underway = (step: Step): string | undefined => {
  const context: NodeDrainContext = step.after.context;
  const answer = answerIn(step);
  if (endOf(context) !== null) return 'ending.showing';
  if (step.event.type === 'xstate.init' || plansAgain(step)) return planned(context, false);
  if (isIn(step, 'underway.acting') && answer !== undefined) {
    const onward = planned(context, true);
    return answered(step, answer, { region: 'underway', onward });
  }
  if (isIn(step, 'underway.waitingForSlot') && step.event.type === 'slot.acquired') {
    return planned(context, true);
  }
  if (isIn(step, 'underway.holding')) return context.released ? draining(context) : undefined;
  return isIn(step, 'underway.draining') ? draining(context) : undefined;
};

/** Where a step after the end was decided leads; `undefined` when it stays. */
const ending = (step: Step): string | undefined => {
  const { event, after } = step;
  const context: NodeDrainContext = after.context;
  const answer = answerIn(step);
  if (isIn(step, 'ending.showing')) {
    return /actor\.showEnd$/.test(event.type) || isTimer(step, 'showEndBound')
      ? closing(context)
      : undefined;
  }
  if (isIn(step, 'ending.writingEnd') && answer !== undefined) {
    return answered(step, answer, { region: 'ending', onward: closing(context) });
  }
  const isSeen = isNewerNode(step) || event.type === 'node.vanished';
  const waits = isIn(step, 'ending.awaitingUpdate') || isIn(step, 'ending.backingOff');
  if (waits && isTimer(step, 'writeBackoff')) return closing(context);
  return isIn(step, 'ending.awaitingUpdate') && isSeen ? closing(context) : undefined;
};

const workOf = (value: unknown): string => JSON.stringify(valueAt(value, 'work'));

const moves = (step: Step): void => {
  const { event, before, after } = step;
  const to = isIn(step, 'underway') || event.type === 'xstate.init' ? underway(step) : ending(step);
  const [was, is] = [() => workOf(before.value), () => workOf(after.value)];
  must(
    to === undefined ? was() === is() : isAt(after, `work.${to}`),
    () => `"${event.type}" in ${was()} leads to ${is()}, not to ${to ?? 'itself'}`,
  );
  checkActions(step, to);
};

const begins = (step: Step, state: string): boolean =>
  step.transitions.some(({ target = [] }) =>
    target.some(({ path }) => path.join('.') === `work.${state}`)
  );

/** What is done on the way: each act by the state that calls for it. */
const checkActions = (step: Step, to: string | undefined): void => {
  const { event, after } = step;
  const flows = isAt(after, 'work.underway.draining.open') ||
    isAt(after, 'work.underway.draining.waitingForTier');
  const recounts = event.type === 'pods.observed' && isIn(step, 'underway.draining');
  const starts = isIn(step, 'underway.draining') ? !isIn(step, 'underway.draining.paused') : false;
  if (flows && (recounts || !starts)) exactly(step, 'evictPods', true);
  if (!flows && to !== 'ending.showing') {
    exactly(step, 'evictPods', begins(step, 'underway.draining.open'));
  }
  exactly(step, 'releasePods', to === 'ending.showing' || begins(step, 'underway.draining.paused'));
  exactly(step, 'invoke:showEnd', to === 'ending.showing');
  exactly(step, 'invoke:cordonNode', to === 'underway.acting.cordoning');
  exactly(step, 'invoke:writeEnd', to === 'ending.writingEnd');
  exactly(step, 'recordCordonFailing', to === 'underway.backingOff');
  exactly(step, 'recordLeftAlone', to === 'underway.leftAlone');
  exactly(step, 'requestSlot', to === 'underway.waitingForSlot');
  // The shard and people see the drain as soon as the Node is cordoned.
  const isCordoned = to === 'underway.holding' || to?.startsWith('underway.draining') === true;
  const wasCordoned = isIn(step, 'underway.holding') || isIn(step, 'underway.draining');
  if (isCordoned && !wasCordoned) {
    exactly(step, 'recordStarted', true);
    exactly(step, 'showDraining', true);
  }
};

/** The time that is left decides alone (DR-16). */
const clock = (step: Step): void => {
  const { before, after } = step;
  const context: NodeDrainContext = after.context;
  const { leftMs } = context;
  const inTime = inLastQuarter(context) ? 'lastQuarter' : 'beforeLastQuarter';
  const late = leftMs !== null && leftMs <= 0 ? 'over' : inTime;
  const state = leftMs === null ? 'unbounded' : late;
  must(isAt(after, `clock.${state}`), `${leftMs} ms are left: ${state}`);
  if (isTimer(step, 'clockStep')) must(leftMs !== before.context.leftMs, 'time passes');
};

const decisions = (step: Step): void => {
  const { before, after, actions } = step;
  const now: NodeDrainContext = after.context;
  const writes = actions.includes('invoke:cordonNode') || actions.includes('invoke:writeEnd');
  if (writes) must(now.decidedOn === now.node?.resourceVersion, 'a patch is based on the Node');
  if (actions.includes('invoke:showEnd')) {
    must(now.end !== null && now.end === endOf(now), 'the end is what is known');
    must(now.attempt === 0, 'the end has tries of its own');
  }
  if (isAt(after, 'work.underway.draining') && !isAt(after, 'work.underway.draining.paused')) {
    must(tiersStarted(now, false) === now.startedTo, 'every tier that may start has started');
  }
  if (isTimer(step, 'tierWait') && now.end === null) {
    must(now.startedTo !== before.context.startedTo, 'a tier waits for a bounded time');
  }
  must(!isAt(after, 'work.underway') || endOf(now) === null, 'an end was missed');
  const answer = answerIn(step);
  if (answer === undefined) return;
  must(now.outcome === answer, 'the last answer is known');
  const landed = answer === 'Written' || answer === 'Gone';
  if (now.end === before.context.end) {
    must(now.attempt === (landed ? 0 : before.context.attempt + 1), 'failures are counted');
  }
  const written = textAt(step.event['output'], 'node', 'resourceVersion');
  const known: NodeDrainContext['node'] = before.context.node;
  if (written !== undefined && known !== null) {
    const isLate = isOlder(resourceVersion(written), known.resourceVersion);
    must(isLate || now.node?.resourceVersion === written, 'the Node is as it was written');
  }
};

/** What was heard last is what is known. */
const remembers = (step: Step): void => {
  const { event, before, after } = step;
  const now: NodeDrainContext = after.context;
  const was: NodeDrainContext = before.context;
  switch (event.type) {
    case 'node.observed':
      return must(!isNewerNode(step) || now.node === event['node'], 'the newest Node is known');
    case 'node.vanished':
      return must(now.node === null, 'a deleted Node is gone');
    case 'pods.observed':
      return must(was.end !== null || now.podCounts === event['podCounts'], 'pods are counted');
    case 'evictions.released':
      return must(now.released, 'evictions may begin');
    case 'drain.withdrawn':
      return must(now.withdrawn, 'the owner has left');
    case 'deadline.moved':
      return must(now.leftMs === (numberAt(event, 'leftMs') ?? null), 'the deadline has moved');
    case 'order.joined': {
      const id = textAt(event['order'], 'id') ?? '';
      const onNode = now.annotation?.ids.includes(id) === true || now.orders.length === 0;
      return must(onNode || now.orders.some((one) => one.id === id), 'an order is carried out');
    }
  }
};

/** The law of each step of a drain. */
export const drainMoves = (step: Step): void => {
  remembers(step);
  clock(step);
  settles(step);
  decisions(step);
  moves(step);
};
