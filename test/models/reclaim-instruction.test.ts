/** One reclaim instruction, walked through every configuration. */
import { expect } from 'vitest';
import { provideReclaim } from '../../src/actors/node-drains/reclaim-actor.ts';
import {
  anyAt,
  ENTRY_PHASES,
  type EntryPhase,
  nodesStarted,
  type ReclaimEntry,
} from '../../src/domain/drain/reclaim-entry.ts';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import {
  reclaimInstruction,
  type ReclaimInstructionContext,
} from '../../src/machines/reclaim-instruction.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, isTimer, must } from './harness/step-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

const entry = (
  machine: string,
  phase: EntryPhase,
  counted = phase === 'Cordoned',
): ReclaimEntry => ({ machine, node: phase === 'Unseen' ? '' : `n-${machine}`, phase, counted });

const inputOf = (
  entries: readonly ReclaimEntry[],
  { ackPending = true, leftMs = 100_000_000 } = {},
) => ({ id: 'i1', entries, ackPending, leftMs });

/** What outlives the process: the key on the Node of each machine, as last seen. */
interface World {
  readonly [machine: string]: EntryPhase;
}

const NO_KEYS: World = {};

/** A key that has ended does not come back; the Node of a machine joins once. */
const seen = (world: World, { machine, phase }: ReclaimEntry): World => {
  const known = world[machine];
  if (known === undefined || known === 'Ended') return world;
  return ENTRY_PHASES.indexOf(phase) < ENTRY_PHASES.indexOf(known)
    ? world
    : { ...world, [machine]: phase };
};

const waits = (phase: EntryPhase): boolean => phase === 'Unseen' || phase === 'Queued';

/** Whoever still waits at the deadline is over: an Event says so. */
const withoutWaiting = (world: World): World =>
  Object.fromEntries(
    Object.entries(world).map(([machine, phase]) => [machine, waits(phase) ? 'Ended' : phase]),
  );

const cordonedIn = (entries: readonly ReclaimEntry[]): readonly string[] =>
  entries.filter(({ phase }) => phase === 'Cordoned').map(({ machine }) => machine);

const entriesIn = (value: unknown): readonly ReclaimEntry[] =>
  listOrEmptyAt(value, 'entries').flatMap((one) => asEntry(one) ?? []);

const asEntry = (value: unknown): ReclaimEntry | undefined => {
  const phase = ENTRY_PHASES.find((one) => one === textAt(value, 'phase'));
  return phase === undefined ? undefined : entry(textAt(value, 'machine') ?? '', phase);
};

/** The order of barrier, evictions and ack (DR-11, DR-12). */
const answers = (step: Step): void => {
  const { event, before, after } = step;
  const { ackPending, entries, started }: ReclaimInstructionContext = after.context;
  const cordons = after.matches('underway.answer.cordoning');
  const isDone = after.matches('settled');
  if (cordons) must(anyAt(entries, 'Cordoning'), 'no cordon is awaited any more');
  if (isTimer(step, 'barrier')) must(!cordons, 'the barrier lasts two seconds');
  if (event.type === 'xstate.init') must(cordons === anyAt(entries, 'Cordoning'), 'cordons first');
  const opens = !cordons && (event.type === 'xstate.init' ||
    before.matches('underway.answer.cordoning'));
  const again = before.matches('underway.answer.acked') && ackPending;
  exactly(step, 'releaseEvictions', opens || again);
  if (opens || again) must(started === nodesStarted(entries), 'the ack names what is cordoned');
  if (cordons) must(started === null, 'nothing is counted before the barrier');
  const offers = after.matches('underway.answer.acking');
  const holds = after.matches('underway.answer.ackHeld');
  if (!cordons) must((offers || holds) === ackPending, 'an ack is offered until it is taken');
  if (event.type === 'xstate.done.actor.queueAck') {
    must(ackPending === (event['output'] !== true), 'an ack that the outbox took is not pending');
    must(holds === ackPending, 'an ack that was not taken waits');
  }
  if (event.type === 'xstate.error.actor.queueAck') must(holds, 'a failed offer is repeated');
  const offersAgain = before.matches('underway.answer.ackHeld') &&
    (event.type === 'stream.opened' || isTimer(step, 'ackRetry'));
  exactly(step, 'invoke:queueAck', offersAgain || ((opens || again) && ackPending));
  if (event.type === 'instruction.repeated' && before.matches('underway')) {
    must(ackPending, 'a repeated instruction is acknowledged again');
  }
  const isOver = !ackPending && started !== null && entries.every(({ phase }) => phase === 'Ended');
  must(isDone === isOver, 'it is over exactly when the ack was taken and all drains ended');
};

/** How machines without a Node, and those above the limit, are awaited (DR-10, DR-19). */
const awaitsNodes = (step: Step): void => {
  const { before, after } = step;
  const { entries, leftMs }: ReclaimInstructionContext = after.context;
  const searches = isTimer(step, 'searchStep');
  const isBeginning = step.event.type === 'xstate.init';
  const anyUnseen = anyAt(entries, 'Unseen');
  const anyWaits = entries.some(({ phase }) => waits(phase));
  if (after.matches('underway')) {
    must(after.matches('underway.nodes.waiting') === anyWaits, 'who cannot start is awaited');
    must(
      after.matches('underway.nodes.waiting.queued') === (anyWaits && !anyUnseen),
      'only those above the limit are queued',
    );
  }
  if (searches) must(leftMs < before.context.leftMs, 'time passes');
  if (leftMs <= 0) must(!anyWaits, 'nobody is awaited after the deadline');
  exactly(
    step,
    'recordUnseen',
    isBeginning && entriesIn(step.event['input']).some(({ phase }) => waits(phase)),
  );
  exactly(step, 'recordNeverStarted', searches && leftMs <= 0);
};

/** The statechart with its real effects, down to the outbox. */
const wire = (invoked: InvokedActors) => {
  const ignore = (): void => {};
  return provideReclaim({
    queueAck: (ack) => invoked.perform<boolean>('queueAck', ack),
    releaseEvictions: ignore,
    recordUnseen: ignore,
    recordQueued: ignore,
    recordNeverStarted: ignore,
  });
};

describeModel('reclaimInstruction', {
  machine: reclaimInstruction,
  wire,
  inputs: [
    inputOf([entry('a', 'Cordoning'), entry('b', 'Unseen')]),
    inputOf([entry('a', 'Cordoning')]),
    inputOf([entry('a', 'Cordoning'), entry('b', 'Queued')]),
    inputOf([entry('a', 'Cordoned')], { ackPending: false }),
    inputOf([]),
  ],
  events: {
    'machine.observed': [
      { entry: entry('a', 'Cordoned') },
      { entry: entry('a', 'Ended', true) },
      { entry: entry('a', 'Ended', false) },
      { entry: entry('b', 'Queued') },
      { entry: entry('b', 'Cordoning') },
      { entry: entry('b', 'Cordoned') },
      { entry: entry('b', 'Ended', true) },
    ],
    'xstate.done.actor.queueAck': [{ output: true }, { output: false }],
  },
  invariant: (snapshot, actions) => {
    const { started, entries, ackPending }: ReclaimInstructionContext = snapshot.context;
    if (actions.includes('invoke:queueAck')) {
      expect(ackPending, 'an ack that is not pending').toBe(true);
      expect(actions.includes('releaseEvictions') || started !== null).toBe(true);
    }
    if (started !== null) {
      expect(started, 'a node is counted before its cordon').toBeLessThanOrEqual(
        nodesStarted(entries),
      );
    }
    if (snapshot.matches('settled')) {
      expect(ackPending, 'an ack is still pending').toBe(false);
      expect(entries.every(({ phase }) => phase === 'Ended')).toBe(true);
    }
  },
  stepInvariant: (step) => {
    answers(step);
    awaitsNodes(step);
    const received = asEntry(step.event['entry']);
    const known = step.after.context.entries
      .find(({ machine }: ReclaimEntry) => machine === received?.machine);
    if (received === undefined || known === undefined) return;
    must(ENTRY_PHASES.indexOf(known.phase) >= ENTRY_PHASES.indexOf(received.phase), 'no step back');
  },
  crash: {
    world: NO_KEYS,
    record: (world: World, { event, actions }): World => {
      if (event.type === 'xstate.init') {
        return Object.fromEntries(
          entriesIn(event['input']).map(({ machine, phase }) => [machine, phase]),
        );
      }
      if (actions.includes('recordNeverStarted')) return withoutWaiting(world);
      const received = asEntry(event['entry']);
      return received === undefined ? world : seen(world, received);
    },
    restart: (world) => ({
      input: inputOf(
        Object.keys(world).filter((machine) => world[machine] === 'Cordoned')
          .map((machine) => entry(machine, 'Cordoned')),
        { leftMs: 0 },
      ),
      events: [],
    }),
    obligations: ({ context }) => cordonedIn(context.entries),
  },
  forgets: 'machine.observed',
});
