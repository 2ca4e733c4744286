/** Server-side apply over a real socket: the request, and the outcome of a refusal. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { type ObjectRequest, objectWrites } from '../../../src/effects/object-writes.ts';
import { type Handle, json, startStubApi } from '../../support/api/stub-api.ts';

const OBJECT = {
  apiVersion: 'g/v1',
  kind: 'Thing',
  metadata: { name: 'x', uid: 'u', resourceVersion: '7' },
};

const connected = async (handle: Handle) => {
  const stub = await startStubApi(handle);
  onTestFinished(stub.stop);
  const { source } = stub;
  const layer = kubeConnection({ source, version: 'test', telemetry: silentTelemetry });
  const runtime = ManagedRuntime.make(Layer.orDie(layer));
  onTestFinished(() => runtime.dispose());
  const api = await runtime.runPromise(KubeApi.use(Effect.succeed));
  const writes = objectWrites({
    path: '/apis/g/v1/things',
    api,
    project: identityOf,
  });
  const run = <Counted>({ call, outcomeOf }: ObjectRequest<Counted>) =>
    Effect.runPromise(outcomeOf(api.call(call)));
  return { requests: stub.requests, writes, run };
};

test('server-side apply: the request is an apply patch with manager and force', async () => {
  const { run, requests, writes } = await connected((_request, response) =>
    json(response, 200, OBJECT)
  );
  const act = writes.apply('x', OBJECT, { fieldManager: 'tidegate/one two', force: true });
  expect(await run(act)).toEqual({
    outcome: { _tag: 'Written', current: identityOf(OBJECT) },
    result: 'success',
  });
  const [request] = requests;
  expect(request?.method).toBe('PATCH');
  expect(request?.path).toBe('/apis/g/v1/things/x');
  expect(Object.fromEntries(request?.query ?? [])).toEqual({
    fieldManager: 'tidegate/one two',
    force: 'true',
  });
  expect(request?.headers['content-type']).toBe('application/apply-patch+yaml');
  expect(JSON.parse(request?.body ?? '')).toEqual(OBJECT);
});

test('server-side apply: a conflict names the other managers and their fields', async () => {
  const cause = {
    reason: 'FieldManagerConflict',
    message: 'conflict with "kubectl" with subresource "status" using g/v1',
    field: '.status.phase',
  };
  const { run, writes } = await connected((_request, response) =>
    json(response, 409, { kind: 'Status', reason: 'Conflict', details: { causes: [cause] } })
  );
  const act = writes.applyStatus('x', OBJECT, { fieldManager: 'tidegate', force: false });
  expect(await run(act)).toEqual({
    outcome: { _tag: 'Conflict', conflicts: [{ manager: 'kubectl', field: '.status.phase' }] },
    result: 'conflict',
  });
});
