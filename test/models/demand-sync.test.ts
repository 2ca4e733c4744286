/** Whether demand is current, walked through every configuration. */
import { NEVER } from 'rxjs';
import { expect } from 'vitest';
import { provideDemandSync } from '../../src/actors/demand/demand-sync.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { demandSync, type DemandSyncContext } from '../../src/machines/demand-sync.ts';
import { follows } from './harness/step-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

/** What outlives a process: whether it leads. */
interface ProcessEnvironment {
  readonly leads: boolean;
}

const NOT_LEADING: ProcessEnvironment = { leads: false };

/** Demand is held until requests and pods are listed again. */
const LISTS_AGAIN = {
  to: 'listingRequests',
  does: ['holdDemand', 'invoke:listRequests'],
};

/** A collection that does not fail. */
const listed = (id: string, refollow: () => Promise<void>) => ({
  id,
  refollow,
  failures: NEVER,
  failure: () => undefined,
});

/** The real wiring, over lists that are complete when the path says so. */
const wire = (invoked: InvokedActors) =>
  provideDemandSync({
    requests: listed('requests', () => invoked.perform('listRequests', undefined)),
    pods: {
      collections: [listed('pods', () => invoked.perform('listPods', undefined))],
      setCurrent: () => {},
      missing: NEVER,
    },
    hold: () => {},
    release: () => {},
  }, silentTelemetry);

describeModel('demandSync', {
  machine: demandSync,
  wire,
  inputs: [{}],
  events: {
    'requests.observed': [{ missing: 2 }, { missing: 0 }],
    'xstate.done.actor.listRequests': [{ output: undefined }],
    'xstate.done.actor.listPods': [{ output: undefined }],
  },
  project: ({ missing }: DemandSyncContext) => ({ missing }),
  invariant: (snapshot, actions) => {
    if (actions.includes('releaseDemand')) {
      const isLate = actions.includes('recordLate');
      expect(snapshot.context.missing === 0 || isLate, 'no request is missing').toBe(true);
    }
    if (snapshot.matches('listingRequests')) {
      expect(snapshot.context.missing, 'the last count says nothing of this list').toBeNull();
    }
  },
  stepInvariant: follows([
    { on: 'xstate.init', to: 'standby', does: ['holdDemand'] },
    { on: 'leadership.lost', to: 'standby', does: ['holdDemand'] },
    { on: 'leadership.won', ...LISTS_AGAIN },
    { on: 'requests.failed', from: ['listingPods', 'expecting', 'current'], ...LISTS_AGAIN },
    { on: 'pods.failed', from: ['expecting', 'current'], ...LISTS_AGAIN },
    { on: 'xstate.done.actor.listRequests', to: 'listingPods', does: ['invoke:listPods'] },
    {
      on: 'xstate.done.actor.listPods',
      to: 'expecting',
      does: ['writeRequests', 'invoke:observeRequests'],
    },
    {
      on: 'requests.observed',
      to: 'current',
      when: ({ event }) => event['missing'] === 0,
      does: ['releaseDemand'],
    },
    { on: 'after missingRequestsTimeout', to: 'current', does: ['recordLate', 'releaseDemand'] },
  ]),
  crash: {
    world: NOT_LEADING,
    record: (world: ProcessEnvironment, { event }): ProcessEnvironment => {
      if (event.type === 'leadership.won') return { leads: true };
      return event.type === 'leadership.lost' ? NOT_LEADING : world;
    },
    restart: ({ leads }) => ({ input: {}, events: leads ? [{ type: 'leadership.won' }] : [] }),
    // A restarted one lists again before it releases anything.
    obligations: (snapshot) => ({ isLeading: !snapshot.matches('standby') }),
  },
  forgets: 'leadership.lost',
});
