/** The requests that demand waits for, walked through every configuration. */
import { NEVER } from 'rxjs';
import { expect } from 'vitest';
import { provideInitialRequests } from '../../src/actors/capacity-requests/pod-demands.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { initialRequests, type MissingRequests } from '../../src/machines/initial-requests.ts';
import { describeModel } from './model.ts';

describeModel('initialRequests', {
  machine: initialRequests,
  wire: () => provideInitialRequests(NEVER, silentTelemetry),
  inputs: [{ missing: 2 }],
  events: { 'requests.observed': [{ missing: 1 }, { missing: 0 }] },
  invariant: (snapshot, acts) => {
    const { missing } = snapshot.context;
    if (snapshot.matches('made')) expect(missing, 'none is missing').toBe(0);
    else expect(missing).toBeGreaterThan(0);
    expect(acts.includes('recordLate'), 'late is recorded once').toBe(
      acts.length > 0 && snapshot.matches('late'),
    );
  },
  crash: {
    world: { missing: 2 } satisfies MissingRequests as MissingRequests,
    record: (world: MissingRequests, { event, after, before }): MissingRequests =>
      before === after && event.type !== 'requests.observed'
        ? world
        : { missing: after.context.missing },
    restart: (world) => ({ input: world, events: [] }),
    obligations: ({ context }: { context: MissingRequests }) => context.missing,
  },
});
