/** Whether demand is current, walked through every configuration. */
import { NEVER } from 'rxjs';
import { expect } from 'vitest';
import { provideDemandSync } from '../../src/actors/demand/demand-sync.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { demandSync, type DemandSyncContext } from '../../src/machines/demand-sync.ts';
import { describeModel, type InvokedActors } from './model.ts';

/** What outlives a process: whether it leads. */
interface ProcessEnvironment {
  readonly leads: boolean;
}

const NOT_LEADING: ProcessEnvironment = { leads: false };

/** The real wiring, over lists that are complete when the path says so. */
const wire = (invoked: InvokedActors) =>
  provideDemandSync({
    requests: { relist: () => invoked.perform('listRequests', undefined), failures: NEVER },
    pods: {
      collections: [{ relist: () => invoked.perform('listPods', undefined), failures: NEVER }],
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
      expect(snapshot.matches('current'), 'only current demand is released').toBe(true);
      const isLate = actions.includes('recordLate');
      expect(snapshot.context.missing === 0 || isLate, 'no request is missing').toBe(true);
    }
    if (actions.includes('invoke:listRequests')) {
      expect(actions, 'demand is held while it is listed').toContain('holdDemand');
    }
    if (actions.includes('writeRequests')) {
      expect(snapshot.matches('expecting') || snapshot.matches('current')).toBe(true);
    }
  },
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
});
