/** One cause that blocks pods of a drain, walked through every configuration. */
import { drainBlocker } from '../../src/machines/drain-blocker.ts';
import { follows } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const LASTED = 'xstate.after.blockedFor.drainBlocker.lasting';
const BEGAN = 'xstate.after.causeStart.drainBlocker.expected';

const inputOf = (startsInMs: number | null) => ({
  drain: 'n1/reclaim',
  cause: 'BlockedByBudget ns/db',
  startsInMs,
  verdict: null,
});

/** What others know of the cause: whether it has begun, and what they were told. */
interface World {
  readonly begun: boolean;
  readonly recorded: boolean;
}

const UNTOLD: World = { begun: true, recorded: false };

describeModel('drainBlocker', {
  machine: drainBlocker,
  inputs: [inputOf(null), inputOf(5000), inputOf(-1)],
  events: {},
  stepInvariant: follows([
    { on: 'xstate.init', to: 'lasting', when: ({ after }) => after.context.startsInMs === null },
    { on: 'xstate.init', to: 'expected' },
    { on: 'after blockedFor', to: 'recorded', does: ['recordBlocked'] },
    { on: 'after causeStart', to: 'reviewed', does: ['reviewDrain'] },
  ]),
  crash: {
    world: UNTOLD,
    record: (world, { event, actions }) => ({
      begun: event.type === 'xstate.init'
        ? JSON.stringify(event).includes('"startsInMs":null')
        : world.begun,
      recorded: world.recorded || actions.includes('recordBlocked') ||
        actions.includes('reviewDrain'),
    }),
    restart: ({ begun, recorded }) => ({
      input: inputOf(begun ? null : 5000),
      events: recorded ? [{ type: begun ? LASTED : BEGAN }] : [],
    }),
    obligations: (snapshot) => {
      if (snapshot.hasTag('settled')) return 'nothing';
      return snapshot.matches('lasting') ? 'a record' : 'a review';
    },
  },
  forgets: LASTED,
});
