/** The operator process: every path from startup to a clean stop. */
import { operator } from '../../src/machines/operator.ts';
import { valueAt } from '../../src/domain/json.ts';
import type { Step } from './harness/interpreter.ts';
import { follows, type Line, must } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const UNSUPPORTED = { _tag: 'Unsupported', why: 'Kubernetes 1.30 is older than 1.31' };
const UNREACHABLE = { _tag: 'Unreachable', why: 'connection refused' };
const ending = ['closingRoles', 'settlingWrites', 'releasingLease'];

const answers = (tag: string) => ({ event }: Step): boolean =>
  valueAt(event['output'], '_tag') === tag;
const checked = (tag: string, to: string, does: readonly string[] = []): Line => ({
  on: 'xstate.done.actor.runPreflight',
  when: answers(tag),
  to,
  does,
});

const transitions = follows([
  { on: 'xstate.init', to: 'checking', does: ['invoke:runPreflight'] },
  checked('Supported', 'syncing', ['startInformers']),
  checked('Unsupported', 'unsupported'),
  checked('Unreachable', 'waitingForCluster'),
  { on: 'after clusterBackoff', to: 'checking', does: ['invoke:runPreflight'] },
  { on: 'caches.synced', to: 'standby', does: ['seekLease'] },
  { on: 'leadership.won', to: 'leading', does: ['startLeading'] },
  { on: 'leadership.lost', to: 'standby', does: ['stopLeading', 'seekLease'] },
  // DR-15: roles end before their writes, and writes before the lease.
  { on: 'stop.requested', from: ['leading'], to: 'closingRoles', does: ['invoke:closeRoles'] },
  { on: 'xstate.done.actor.closeRoles', to: 'settlingWrites', does: ['invoke:settleWrites'] },
  { on: 'xstate.done.actor.settleWrites', to: 'releasingLease', does: ['invoke:releaseLease'] },
  { on: 'stop.requested', from: ['standby'], to: 'releasingLease', does: ['invoke:releaseLease'] },
  { on: 'xstate.done.actor.releaseLease', to: 'stopped' },
  { on: 'stop.requested', from: ['checking', 'waitingForCluster', 'syncing'], to: 'stopped' },
]);

describeModel('operator', {
  machine: operator,
  inputs: [{ seed: 1 }],
  events: {
    'xstate.done.actor.runPreflight': [
      { output: { _tag: 'Supported', version: '1.36' } },
      { output: UNSUPPORTED },
      { output: UNREACHABLE },
    ],
  },
  project: ({ problem }) => ({ problem }),
  settles: (snapshot) => snapshot.matches('leading') || snapshot.status === 'done',
  stepInvariant: (step) => {
    transitions(step);
    const { context } = step.after;
    if (step.after.matches('unsupported')) {
      must(context.problem === UNSUPPORTED.why, 'the exit names what a person must mend');
    }
    if (step.after.matches('waitingForCluster')) {
      must(context.problem === UNREACHABLE.why, 'the wait has a cause');
    }
    if (step.after.matches('stopped') || step.after.matches('syncing')) {
      must(context.problem === null, 'a clean stop and a usable cluster have no problem');
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
  forgets: 'stop.requested',
});
