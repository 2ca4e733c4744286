/** The operator process: every way from its first look at the cluster to a clean end. */
import { operator } from '../../src/machines/operator.ts';
import { describeModel } from './model.ts';

const UNFIT = { _tag: 'Unfit', why: 'Kubernetes 1.30 is older than 1.31' };
const ending = ['closingSession', 'settlingWrites', 'releasingLease'];

describeModel('operator', {
  machine: operator,
  inputs: [{ seed: 1 }],
  events: {
    'xstate.done.actor.checkFitness': [
      { output: { _tag: 'Fit', version: '1.36' } },
      { output: UNFIT },
      { output: { _tag: 'Unreachable', why: 'connection refused' } },
    ],
  },
  project: ({ trouble }) => ({ trouble }),
  invariant: (snapshot, acts) => {
    if (acts.includes('openSession') && !snapshot.matches('leading')) {
      throw new Error('A session was opened without the lease');
    }
    if (acts.includes('seekLease') && !snapshot.matches('standby')) {
      throw new Error('The lease was sought before the caches were complete');
    }
  },
  crash: {
    world: { asked: false, unfit: false },
    record: (world, { event }) => ({
      asked: world.asked || event.type === 'stop.requested',
      unfit: world.unfit || JSON.stringify(event).includes('Unfit'),
    }),
    restart: ({ asked, unfit }) => ({
      input: { seed: 1 },
      events: [
        ...(unfit ? [{ type: 'xstate.done.actor.checkFitness', output: { ...UNFIT } }] : []),
        ...(asked ? [{ type: 'stop.requested' }] : []),
      ],
    }),
    obligations: (snapshot) =>
      snapshot.status !== 'active' || ending.some((state) => snapshot.matches(state))
        ? 'nothing: it was told to stop, or cannot work here'
        : 'to lead when the lease is free',
  },
});
