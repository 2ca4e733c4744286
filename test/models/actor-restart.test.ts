/** The restart of a crashed actor, walked through every configuration. */
import { expect } from 'vitest';
import { actorRestart } from '../../src/machines/actor-restart.ts';
import { describeModel } from './model.ts';

describeModel('actorRestart', {
  machine: actorRestart,
  inputs: [1, 9].map((crashes) => ({
    actor: 'nodeDrain/node-7',
    crashes,
    problem: 'planted',
    seed: 1,
  })),
  events: {},
  invariant: (snapshot, actions) => {
    expect(actions.includes('startActor'), 'it starts once, at the end').toBe(
      actions.length > 0 && snapshot.matches('restarted'),
    );
  },
});
