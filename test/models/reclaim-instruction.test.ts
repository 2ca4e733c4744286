/** One reclaim instruction, walked through every configuration. */
import { expect } from 'vitest';
import { provideReclaim } from '../../src/actors/node-drains/reclaims.ts';
import {
  type EntryPhase,
  nodesStarted,
  type ReclaimEntry,
} from '../../src/domain/drain/reclaim-entry.ts';
import {
  reclaimInstruction,
  type ReclaimInstructionContext,
} from '../../src/machines/reclaim-instruction.ts';
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

/** What outlives the process: the keys on the Nodes, that is who is cordoned and not at its end. */
interface World {
  readonly cordoned: readonly string[];
}

const cordonedIn = (entries: readonly ReclaimEntry[]): readonly string[] =>
  entries.filter(({ phase }) => phase === 'Cordoned').map(({ machine }) => machine);

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
  crash: {
    world: { cordoned: [] } satisfies World,
    record: (_world: World, { after }): World => ({ cordoned: cordonedIn(after.context.entries) }),
    restart: ({ cordoned }) => ({
      input: inputOf(cordoned.map((machine) => entry(machine, 'Cordoned')), { leftMs: 0 }),
      events: [],
    }),
    obligations: ({ context }) => cordonedIn(context.entries),
  },
});
