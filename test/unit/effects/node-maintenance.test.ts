/**
 * With its last finalizer a deleted object goes, and the API server answers with the object as it
 * was before, in its old version. That answer was taken for a write without effect, and counted as
 * a failure.
 */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { NodeMaintenances, nodeMaintenancesLayer } from '../../../src/effects/node-maintenance.ts';
import { answeringApi } from '../../support/api/fake-api.ts';
import {
  maintenanceOf,
  maintenanceRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';

const DELETED = { stage: 'Complete', isProtected: true, isDeleting: true } as const;
const HELD = ['example.com/held'];

/** The outcome on an API server that answers in this way. */
const removedOn = (api: ReturnType<typeof answeringApi>) => {
  const removal = NodeMaintenances.use((service) =>
    service.write(maintenanceOf('1', DELETED), { write: 'removeFinalizer' })
  );
  return Effect.runPromise(
    removal.pipe(Effect.provide(nodeMaintenancesLayer), Effect.provide(api)),
  );
};

/** The outcome when others have these finalizers. */
const released = (finalizers: readonly string[]) => {
  const api = answeringApi(({ method }) => {
    const isProtected = method === 'GET';
    const body = maintenanceRaw('1', { ...DELETED, finalizers, isProtected });
    return Effect.succeed({ status: 200, body });
  });
  return removedOn(api);
};

describe('NM-09 the removal of our finalizer', () => {
  test('ends a deleted maintenance that nothing else holds', async () => {
    expect(await released([])).toEqual({ _tag: 'Absent' });
  });

  test.each([
    ['needs nothing when it is gone', 404, {}, { _tag: 'Absent' }],
    ['needs nothing when another has its name', 200, { uid: 'another' }, { _tag: 'Absent' }],
    ['fails when it cannot be read', 500, {}, {
      _tag: 'Fault',
      why: 'reading it was answered with 500',
    }],
  ])('%s', async (_, status, traits, outcome) => {
    const api = answeringApi(() =>
      Effect.succeed({ status, body: maintenanceRaw('1', { ...DELETED, ...traits }) })
    );
    expect(await removedOn(api)).toEqual(outcome);
  });

  test('leaves a maintenance that another controller holds', async () => {
    expect((await released(HELD))._tag).toBe('Written');
  });
});
