/** How commands change NodeMaintenances, and what each answer of the API server means to them. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import type { KubeApi, KubeCall, KubeFault } from '../../../src/effects/kube-api.ts';
import {
  createMaintenance,
  deleteMaintenance,
  maintenancesLabelled,
  maintenancesNamed,
  moveMaintenance,
  readMaintenances,
} from '../../../src/effects/maintenance-objects.ts';
import { answeringApi } from '../../support/api/fake-api.ts';
import {
  maintenanceOf,
  maintenanceRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';

const PATH = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const STORED = { isTrial: false };
const NEW = { metadata: { name: 'kernel' }, spec: {} };

/** What comes of an answer, and the call that it answers. */
const answered = async <Outcome>(
  change: Effect.Effect<Outcome, KubeFault, KubeApi>,
  status: number,
  body: object,
) => {
  const calls: KubeCall[] = [];
  const api = answeringApi((call) => {
    calls.push(call);
    return Effect.succeed({ status, body });
  });
  return { outcome: await Effect.runPromise(Effect.provide(change, api)), calls };
};

const outcomeOf = async (status: number, body: object) =>
  (await answered(createMaintenance(NEW, STORED), status, body)).outcome;

describe('a change of a maintenance', () => {
  test('is stored as the API server returns it', async () => {
    expect(await outcomeOf(201, maintenanceRaw('7', {})))
      .toMatchObject({ _tag: 'Stored', maintenance: { name: 'kernel', resourceVersion: '7' } });
  });

  test('is tried without a version', async () => {
    const created = createMaintenance(NEW, { isTrial: true });
    const raw = maintenanceRaw('7', {});
    const tried = { ...raw, metadata: { name: 'kernel', uid: 'uid-kernel' } };
    const { outcome, calls } = await answered(created, 201, tried);
    expect(outcome).toMatchObject({ _tag: 'Stored', maintenance: { resourceVersion: '0' } });
    expect(calls).toMatchObject([{ method: 'POST', path: PATH, query: { dryRun: 'All' } }]);
  });

  test('is stored unless it is tried', async () => {
    const { calls } = await answered(createMaintenance(NEW, STORED), 201, {});
    expect(calls[0]).not.toHaveProperty('query');
  });

  test.each<[string, number, object, object]>([
    ['an object that is gone', 404, { details: { name: 'kernel' } }, { _tag: 'Absent' }],
    ['an unknown kind', 404, {}, {
      _tag: 'Refused',
      why: expect.stringMatching(/install its CRD/),
    }],
    ['a name that is taken', 409, { reason: 'AlreadyExists' }, { _tag: 'Present' }],
    ['another version', 409, { reason: 'Conflict' }, { _tag: 'Conflict' }],
    ['a refusal', 422, { message: 'spec.x' }, { _tag: 'Refused', why: 'spec.x' }],
    ['no reason', 300, maintenanceRaw('7', {}), { _tag: 'Refused', why: 'HTTP status 300' }],
    ['no such object', 200, {}, { _tag: 'Refused', why: 'HTTP status 200' }],
  ])('is answered with %s', async (_, status, body, outcome) => {
    expect(await outcomeOf(status, body)).toEqual(outcome);
  });

  test('names the object as it was read', async () => {
    const cordoned = maintenanceRaw('8', { stage: 'Cordon' });
    const moved = moveMaintenance(maintenanceOf('7', {}), 'Cordon', STORED);
    const { calls } = await answered(moved, 200, cordoned);
    expect(calls).toMatchObject([{
      method: 'PATCH',
      path: `${PATH}/kernel`,
      body: { metadata: { uid: 'uid-kernel', resourceVersion: '7' }, spec: { stage: 'Cordon' } },
    }]);
  });
});

describe('the deletion of a maintenance', () => {
  test.each<[number, object, string | undefined]>([
    [200, {}, undefined],
    [300, {}, 'HTTP status 300'],
    [404, {}, undefined],
    [409, { message: 'another UID' }, undefined],
    [403, { message: 'forbidden' }, 'forbidden'],
    [500, {}, 'HTTP status 500'],
  ])('is answered with %s', async (status, body, why) => {
    const { outcome, calls } = await answered(
      deleteMaintenance(maintenanceOf('7', {})),
      status,
      body,
    );
    expect(outcome).toBe(why);
    expect(calls).toMatchObject([{
      method: 'DELETE',
      path: `${PATH}/kernel`,
      body: { preconditions: { uid: 'uid-kernel' } },
    }]);
  });
});

describe('maintenances', () => {
  test('are selected by name or by labels', () => {
    expect(maintenancesNamed(undefined)).toEqual({ path: PATH });
    expect(maintenancesNamed('kernel'))
      .toEqual({ path: PATH, query: { fieldSelector: 'metadata.name=kernel' } });
    expect(maintenancesLabelled({ a: '1', b: '2' }))
      .toEqual({ path: PATH, query: { labelSelector: 'a=1,b=2' } });
  });

  test.each<[number, object]>([
    [404, { why: expect.stringMatching(/install its CRD/) }],
    [403, { status: 403, why: expect.not.stringMatching(/install its CRD/) }],
  ])('are not read: %s', async (status, read) => {
    const { outcome } = await answered(readMaintenances(undefined), status, { message: 'no' });
    expect(outcome).toMatchObject({ _tag: 'Refused', ...read });
  });

  test('are read', async () => {
    const list = { metadata: { resourceVersion: '9' }, items: [maintenanceRaw('7', {})] };
    const { outcome } = await answered(readMaintenances('kernel'), 200, list);
    expect(outcome).toMatchObject({ objects: [{ name: 'kernel' }] });
  });
});
