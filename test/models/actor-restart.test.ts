/** The restart of a crashed actor, walked through every configuration. */
import { actorRestart } from '../../src/machines/actor-restart.ts';
import { follows } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const BACKOFF_OVER = 'xstate.after.restartBackoff.actorRestart.backingOff';
const inputOf = (crashes: number) => ({
  actor: 'nodeDrain/node-7',
  crashes,
  problem: 'planted',
  seed: 1,
});

describeModel('actorRestart', {
  machine: actorRestart,
  inputs: [1, 9].map(inputOf),
  events: {},
  stepInvariant: follows([
    { on: 'xstate.init', to: 'backingOff' },
    { on: 'after restartBackoff', to: 'restarted', does: ['startActor'] },
  ]),
  // The actor was started, or a new process has to start it.
  crash: {
    world: { started: false },
    record: ({ started }, { actions }) => ({ started: started || actions.includes('startActor') }),
    restart: ({ started }) => ({
      input: inputOf(1),
      events: started ? [{ type: BACKOFF_OVER }] : [],
    }),
    obligations: ({ status }) => status === 'active' ? 'a start' : 'nothing',
  },
  forgets: BACKOFF_OVER,
});
