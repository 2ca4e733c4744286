/** The operator process: every path from startup to a clean stop. */
import { operator } from '../../src/machines/operator.ts';
import { describeModel } from './model.ts';

const UNSUPPORTED = { _tag: 'Unsupported', why: 'Kubernetes 1.30 is older than 1.31' };
const ending = ['closingRoles', 'settlingWrites', 'releasingLease'];

describeModel('operator', {
  machine: operator,
  inputs: [{ seed: 1 }],
  events: {
    'xstate.done.actor.runPreflight': [
      { output: { _tag: 'Supported', version: '1.36' } },
      { output: UNSUPPORTED },
      { output: { _tag: 'Unreachable', why: 'connection refused' } },
    ],
  },
  project: ({ problem }) => ({ problem }),
  invariant: (snapshot, actions) => {
    if (actions.includes('startLeading') && !snapshot.matches('leading')) {
      throw new Error('Roles lead without the lease');
    }
    if (actions.includes('seekLease') && !snapshot.matches('standby')) {
      throw new Error('The lease was sought before the caches were complete');
    }
  },
  crash: {
    world: { asked: false, unsupported: false },
    record: (world, { event }) => ({
      asked: world.asked || event.type === 'stop.requested',
      unsupported: world.unsupported || JSON.stringify(event).includes('Unsupported'),
    }),
    restart: ({ asked, unsupported }) => ({
      input: { seed: 1 },
      events: [
        ...(unsupported
          ? [{ type: 'xstate.done.actor.runPreflight', output: { ...UNSUPPORTED } }]
          : []),
        ...(asked ? [{ type: 'stop.requested' }] : []),
      ],
    }),
    obligations: (snapshot) =>
      snapshot.status !== 'active' || ending.some((state) => snapshot.matches(state))
        ? 'nothing: it was stopped, or cannot work here'
        : 'to lead when the lease is free',
  },
});
