/** The serving gate of one pod, walked through every configuration. */
import type { AnyMachineSnapshot } from 'xstate';
import type { ServingGate } from '../../src/domain/drain/serving-gate.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import {
  type GateOutcome,
  servingGate,
  type ServingGateContext,
} from '../../src/machines/serving-gate.ts';
import { servingGateHarness } from './cluster/serving-gate-harness.ts';
import type { Received } from './harness/crash.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, isTimer, must } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const gate = (more: Partial<ServingGate> = {}): ServingGate => ({
  isOpen: false,
  isEvicting: false,
  areContainersReady: false,
  ...more,
});
const STARTING = gate();
const READY = gate({ areContainersReady: true });
const OPEN = gate({ isOpen: true, areContainersReady: true });
const CLOSED = gate({ isEvicting: true, areContainersReady: true });
const GATES = [STARTING, READY, OPEN, CLOSED];
const OUTCOMES: readonly GateOutcome[] = ['Written', 'Gone', 'Refused', 'Fault'];

const inputOf = (now: ServingGate, isOpener = true) => ({
  uid: 'u1',
  key: 'ns/p1',
  gate: now,
  isOpener,
  seed: 1,
});

/** What is known outside of the process: the pod, and who wants what of it. */
interface World {
  readonly isOpener: boolean;
  readonly isHeld: boolean;
  readonly hasLeft: boolean;
}

const recorded = (world: World, { event }: Pick<Received, 'event'>): World => {
  switch (event.type) {
    case 'xstate.init':
      return { ...world, isOpener: valueAt(event, 'input', 'isOpener') === true };
    case 'opener.changed':
      return { ...world, isOpener: event['isOpener'] === true };
    case 'eviction.began':
      return { ...world, isHeld: true };
    case 'eviction.ended':
      return { ...world, isHeld: false };
    case 'pod.left':
      return { ...world, hasLeft: true };
    case 'gate.written':
      return { ...world, hasLeft: world.hasLeft || event['outcome'] === 'Gone' };
  }
  return world;
};

const WRITING = ['opening', 'closing'];
const isIn = (snapshot: AnyMachineSnapshot, states: readonly string[]): boolean =>
  states.some((state) => snapshot.matches(state));

const isElsewhere = ({ gate: now, isOpener, isOurs, isHeld }: ServingGateContext): boolean =>
  isOpener && now.isEvicting && !isOurs && !isHeld;
const isToOpen = ({ gate: now, isOpener, isOurs, isHeld }: ServingGateContext): boolean =>
  !isHeld && (isOurs || (isOpener && now.areContainersReady && !now.isOpen && !now.isEvicting));

/** What is to be done, by what is known. */
const decision = (context: ServingGateContext): string => {
  if (context.hasLeft) return 'left';
  if (context.isHeld) return 'closing';
  if (isElsewhere(context)) return 'closedElsewhere';
  return isToOpen(context) ? 'opening' : 'resting';
};

/** Where the answer to a write leads. */
const afterWrite = (step: Step): string => {
  const context: ServingGateContext = step.after.context;
  const outcome = textAt(step.event['outcome']) ?? '';
  if (context.hasLeft) return 'left';
  if (outcome === 'Refused') return 'refused';
  if (outcome !== 'Written') return 'backingOff';
  return step.before.matches('closing') && context.isHeld ? 'leavingBackends' : decision(context);
};

/** Where a step must lead; `undefined` when nothing changes. */
const expected = (step: Step): string | undefined => {
  const { before, after, event } = step;
  const context: ServingGateContext = after.context;
  if (event.type === 'xstate.init') return decision(context);
  if (isIn(before, WRITING)) return event.type === 'gate.written' ? afterWrite(step) : undefined;
  if (isIn(before, ['backingOff', 'refused'])) {
    const isOver = isTimer(step, 'retryBackoff') || isTimer(step, 'refusalPause');
    return context.hasLeft || isOver ? decision(context) : undefined;
  }
  if (isIn(before, ['leavingBackends', 'outOfBackends'])) {
    if (context.hasLeft || !context.isHeld) return decision(context);
    const isUnlisted = event.type === 'backends.read' && event['isListed'] === false;
    return before.matches({ leavingBackends: 'reading' }) && isUnlisted
      ? 'outOfBackends'
      : undefined;
  }
  if (isTimer(step, 'elsewhereLimit')) return 'opening';
  const next = decision(context);
  return before.matches(next) ? undefined : next;
};

const moves = (step: Step): void => {
  const { event, before, after } = step;
  const to = expected(step);
  const [was, now] = [JSON.stringify(before.value), JSON.stringify(after.value)];
  const isReading = before.matches('leavingBackends') && after.matches('leavingBackends');
  must(
    to === undefined ? was === now || isReading : after.matches(to),
    `RS-14: "${event.type}" in ${was} leads to ${now}, not to ${to ?? 'itself'}`,
  );
  const enters = (state: string): boolean => to === state;
  if (after.matches('closing')) must(after.context.isOurs, 'RS-14: what it closes it opens again');
  exactly(step, 'writeGate', enters('opening') || enters('closing'));
  const looksAgain = isReading && isTimer(step, 'lookInterval');
  exactly(step, 'readBackends', enters('leavingBackends') || looksAgain);
  if (
    isReading && event.type === 'backends.read' && before.matches({ leavingBackends: 'reading' })
  ) {
    must(after.matches({ leavingBackends: 'pausing' }), 'RS-14: a list is not read without pause');
  }
};

/** What was observed or written last is what is known. */
const remembers = ({ event, before, after }: Step): void => {
  const context: ServingGateContext = after.context;
  if (event.type === 'pod.observed') must(context.gate === event['gate'], 'a gate is as observed');
  if (event.type !== 'gate.written' || !isIn(before, WRITING)) return;
  const isOpening = before.matches('opening');
  const outcome = event['outcome'];
  must(context.attempt === (outcome === 'Written' ? 0 : before.context.attempt + 1), 'tries count');
  if (outcome === 'Written') {
    must(context.gate.isOpen === isOpening, 'a written gate is as it was written');
    must(context.gate.isEvicting !== isOpening, 'a closed gate says why');
  }
  const isOver = outcome === 'Refused' || (outcome === 'Written' && isOpening);
  if (isOver) must(!context.isOurs || after.matches('closing'), 'nothing is left to open');
};

describeModel('servingGate', {
  machine: servingGate,
  inputs: [...GATES.map((now) => inputOf(now)), inputOf(OPEN, false)],
  events: {
    'pod.observed': GATES.map((now) => ({ gate: now })),
    'opener.changed': [{ isOpener: true }, { isOpener: false }],
    'gate.written': OUTCOMES.map((outcome) => ({ outcome })),
    'backends.read': [{ isListed: true }, { isListed: false }],
  },
  project: ({ gate: now, isOpener, isHeld, isOurs, hasLeft, attempt }: ServingGateContext) => ({
    gate: now,
    isOpener,
    isHeld,
    isOurs,
    hasLeft,
    attempt: Math.min(attempt, 1),
  }),
  // Each answer is to a request in flight.
  happens: (snapshot, { type }) =>
    type === 'gate.written'
      ? isIn(snapshot, WRITING)
      : type !== 'backends.read' || snapshot.matches({ leavingBackends: 'reading' }),
  stepInvariant: (step) => {
    moves(step);
    remembers(step);
  },
  crash: {
    world: { isOpener: true, isHeld: false, hasLeft: false },
    record: recorded,
    restart: ({ isOpener, isHeld, hasLeft }) => ({
      input: inputOf(OPEN, isOpener),
      events: [
        ...(isHeld ? [{ type: 'eviction.began' }] : []),
        ...(hasLeft ? [{ type: 'pod.left' }] : []),
      ],
    }),
    obligations: ({ context }) => {
      const { isOpener, isHeld, hasLeft }: ServingGateContext = context;
      return { isOpener, isHeld, hasLeft };
    },
  },
  forgets: 'eviction.began',
  harness: servingGateHarness,
  limit: 20_000,
});
