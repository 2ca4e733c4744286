/** Writes of one kind of object, folded into outcomes. */
import { Effect } from 'effect';
import { expect, test } from 'vitest';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { type KubeAnswer, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { type ObjectRequest, objectWrites } from '../../../src/effects/object-writes.ts';
import { NotLeader } from '../../../src/effects/writes.ts';
import { unwatched } from '../../support/api/fake-api.ts';

const object = { metadata: { name: 'x', uid: 'u', resourceVersion: '7' } };
const current = identityOf(object);
const written = { outcome: { _tag: 'Written', current }, result: 'success' };
const fault = (why: string, result = 'error') => ({ outcome: { _tag: 'Fault', why }, result });

/** Answers one call after the other. */
const rig = (...answers: (KubeAnswer | NotSent | NotLeader)[]) => {
  const calls: KubeCall[] = [];
  const answer = (call: KubeCall) => {
    calls.push(call);
    const next = answers.shift() ?? { status: 500, body: {} };
    return '_tag' in next ? Effect.fail(next) : Effect.succeed(next);
  };
  const writes = objectWrites({
    path: '/apis/g/v1/things',
    api: {
      call: (call) => Effect.catchTag(answer(call), 'NotLeader', () => Effect.die('no write')),
      watch: unwatched,
    },
    project: identityOf,
  });
  const run = <Counted>({ call, outcomeOf }: ObjectRequest<Counted>) =>
    Effect.runPromise(outcomeOf(answer(call)));
  return { calls, writes, run };
};

const status = (code: number, message?: string): KubeAnswer => ({
  status: code,
  body: message === undefined ? {} : { message },
});

test('object writes: a created or patched object is returned as stored', async () => {
  const { run, writes } = rig({ status: 201, body: object }, { status: 200, body: object });
  expect(await run(writes.create({}, 'x'))).toEqual(written);
  expect(await run(writes.patch('x', {}))).toEqual(written);
});

test('object writes: an existing object is read instead', async () => {
  const { run, writes, calls } = rig(status(409), { status: 200, body: object });
  expect(await run(writes.create({}, 'x'))).toEqual({
    ...written,
    result: 'conflict',
  });
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /apis/g/v1/things',
    'GET /apis/g/v1/things/x',
  ]);
});

test('object writes: a resource that is not served differs from a missing object', async () => {
  const { run, writes } = rig(status(404, 'the server could not find the requested resource'));
  expect(await run(writes.create({}, 'x')))
    .toEqual(fault('404 the server could not find the requested resource'));
});

test('object writes: a patch of a missing object is Absent', async () => {
  const { run, writes } = rig(status(404));
  expect(await run(writes.patchStatus('x', {})))
    .toEqual({ outcome: { _tag: 'Absent' }, result: 'error' });
});

test.each([199, 300])('object writes: status %d stores nothing', async (code) => {
  const { run, writes } = rig({ status: code, body: object }, { status: code, body: object });
  expect(await run(writes.patch('x', {}))).toEqual(fault(`${code}`));
  expect(await run(writes.remove('x', 'u'))).toEqual(fault(`${code}`));
});

test.each([400, 403, 413, 422])('object writes: status %d is a refusal', async (code) => {
  const { run, writes } = rig(status(code, 'no'));
  expect(await run(writes.patch('x', {})))
    .toEqual({ outcome: { _tag: 'Refused', why: `${code} no` }, result: 'error' });
});

test.each([401, 429, 500, 503])('object writes: status %d is a fault', async (code) => {
  const { run, writes } = rig(status(code, 'later'));
  expect(await run(writes.patch('x', {}))).toEqual(fault(`${code} later`));
});

test('object writes: a conflict is a fault that counts as one', async () => {
  const { run, writes } = rig(status(409, 'changed'));
  expect(await run(writes.patch('x', {}))).toEqual(fault('409 changed', 'conflict'));
});

test('object writes: transport problems and a lost lease are faults', async () => {
  const { run, writes } = rig(
    new NotSent({ why: 'connection refused' }),
    new NotLeader({ why: 'not the leader' }),
  );
  expect(await run(writes.patch('x', {}))).toEqual(fault('connection refused'));
  expect(await run(writes.create({}, 'x'))).toEqual(fault('not the leader'));
});

test('object writes: a deletion names the UID, and succeeds when there is no object', async () => {
  const { run, writes, calls } = rig(status(200), status(404), status(409, 'another UID'));
  const absent = { _tag: 'Absent' };
  expect(await run(writes.remove('x', 'u')))
    .toEqual({ outcome: absent, result: 'success' });
  expect(calls[0]?.body).toMatchObject({ preconditions: { uid: 'u' } });
  expect(await run(writes.remove('x', 'u')))
    .toEqual({ outcome: absent, result: 'error' });
  expect(await run(writes.remove('x', 'u')))
    .toEqual(fault('409 another UID', 'conflict'));
});

const OURS = { fieldManager: 'tidegate-test', force: false };

test('object writes: an apply sends its field manager and force', async () => {
  const { run, writes, calls } = rig({ status: 201, body: object }, { status: 200, body: object });
  expect(await run(writes.apply('x', object, OURS))).toEqual(written);
  expect(await run(writes.applyStatus('x', object, { ...OURS, force: true })))
    .toEqual(written);
  const call = { method: 'PATCH', contentType: 'application/apply-patch+yaml', body: object };
  expect(calls).toMatchObject([
    {
      ...call,
      path: '/apis/g/v1/things/x',
      query: { fieldManager: 'tidegate-test', force: 'false' },
    },
    {
      ...call,
      path: '/apis/g/v1/things/x/status',
      query: { fieldManager: 'tidegate-test', force: 'true' },
    },
  ]);
});

test('object writes: an apply conflict names fields and managers', async () => {
  const causes = [
    {
      reason: 'FieldManagerConflict',
      message: 'conflict with "kubectl-client-side-apply" using apps/v1',
      field: '.spec.replicas',
    },
    {
      reason: 'FieldManagerConflict',
      message: 'conflict with "a \\"b\\"" with subresource "status" using g/v1',
      field: '.spec.paused',
    },
  ];
  const { run, writes } = rig({ status: 409, body: { message: 'no', details: { causes } } });
  expect(await run(writes.apply('x', object, OURS))).toEqual({
    outcome: {
      _tag: 'Conflict',
      conflicts: [
        { manager: 'kubectl-client-side-apply', field: '.spec.replicas' },
        { manager: 'a "b"', field: '.spec.paused' },
      ],
    },
    result: 'conflict',
  });
});

test('object writes: an apply with an older resourceVersion is a fault that counts as a conflict', async () => {
  const { run, writes } = rig(status(409, 'the object has been modified'));
  expect(await run(writes.apply('x', object, OURS)))
    .toEqual(fault('409 the object has been modified', 'conflict'));
});

test('object writes: an apply creates, so a 404 means that the resource is not served', async () => {
  const { run, writes } = rig(status(404, 'the server could not find the requested resource'));
  expect(await run(writes.apply('x', object, OURS)))
    .toEqual(fault('404 the server could not find the requested resource'));
});

test('object writes: an apply of a status to a missing object is Absent', async () => {
  const { run, writes } = rig(status(404), new NotSent({ why: 'connection refused' }));
  expect(await run(writes.applyStatus('x', object, OURS)))
    .toEqual({ outcome: { _tag: 'Absent' }, result: 'error' });
  expect(await run(writes.applyStatus('x', object, OURS)))
    .toEqual(fault('connection refused'));
});
