/** Server-side apply on a real API server: field owners and conflicts. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, it, onTestFinished } from 'vitest';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { GROUP_VERSION } from '../../src/domain/api-group.ts';
import { type JsonRecord, listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { projectUpcomingNode } from '../../src/domain/upcoming-node.ts';
import { KubeApi } from '../../src/effects/kube-api.ts';
import { kubeConnection } from '../../src/effects/kube-connection.ts';
import { type ObjectRequest, objectWrites } from '../../src/effects/object-writes.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { UPCOMING_NODES_PATH } from '../../src/effects/upcoming-nodes.ts';
import { writeBudget } from '../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../src/effects/write-gate.ts';
import { Writes } from '../../src/effects/writes.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { fileSource } from '../support/api/live-environment.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';

const telemetry = silentTelemetry;
const ONE = { fieldManager: 'tidegate-one', force: false };
const OTHER = { fieldManager: 'tidegate-other', force: false };

const upcoming = (name: string, more: JsonRecord = {}): JsonRecord => ({
  apiVersion: GROUP_VERSION,
  kind: 'UpcomingNode',
  metadata: { name },
  ...more,
});

const withLabels = (name: string, labels: JsonRecord): JsonRecord =>
  upcoming(name, { spec: { labels, resources: { cpu: '4' } } });

/** The operator's writes of UpcomingNodes, and a read of the result. */
const start = async (bed: Testbed) => {
  const cluster = await freshCluster(bed);
  const gate = makeWriteGate(realTime);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const source = fileSource(bed.kubeconfig);
  const runtime = ManagedRuntime.make(
    writeBudget({ qps: 200, burst: 200, telemetry }).pipe(
      Layer.provideMerge(Layer.orDie(kubeConnection({ source, version: 'test', telemetry }))),
      Layer.provideMerge(Layer.succeed(WriteGate, gate)),
    ),
  );
  onTestFinished(() => runtime.dispose());
  const { api, budget } = await runtime.runPromise(Effect.all({ api: KubeApi, budget: Writes }));
  const writes = objectWrites({
    path: UPCOMING_NODES_PATH,
    api,
    project: projectUpcomingNode,
  });
  const read = async (name: string): Promise<JsonRecord> =>
    (await cluster.call('GET', `${UPCOMING_NODES_PATH}/${name}`)).body;
  const managers = async (name: string): Promise<readonly (string | undefined)[]> =>
    listOrEmptyAt(await read(name), 'metadata', 'managedFields')
      .map((entry) => textAt(entry, 'manager'));
  const run = <Counted>({ call, outcomeOf }: ObjectRequest<Counted>) =>
    Effect.runPromise(outcomeOf(budget.send('phase', call)));
  return { writes, run, read, managers };
};

describeWithTestbed('server-side apply on a real API server', {}, (bed) => {
  it('an apply creates the object, and fields that it later omits are removed', async () => {
    const { run, writes, read, managers } = await start(bed());
    const first = withLabels('un-a', { zone: 'a', arch: 'arm64' });
    expect(await run(writes.apply('un-a', first, ONE)))
      .toMatchObject({ outcome: { _tag: 'Written' }, result: 'success' });
    expect(await managers('un-a')).toEqual(['tidegate-one']);
    await run(writes.apply('un-a', withLabels('un-a', { zone: 'a' }), ONE));
    expect(valueAt(await read('un-a'), 'spec', 'labels')).toEqual({ zone: 'a' });
  });

  it('fields of other managers are named, and taken over only by force', async () => {
    const { run, writes, read } = await start(bed());
    await run(writes.apply('un-b', withLabels('un-b', { zone: 'a' }), ONE));
    const wanted = withLabels('un-b', { zone: 'b' });
    expect(await run(writes.apply('un-b', wanted, OTHER))).toEqual({
      outcome: {
        _tag: 'Conflict',
        conflicts: [{ manager: 'tidegate-one', field: '.spec.labels.zone' }],
      },
      result: 'conflict',
    });
    expect(valueAt(await read('un-b'), 'spec', 'labels')).toEqual({ zone: 'a' });
    expect(await run(writes.apply('un-b', wanted, { ...OTHER, force: true })))
      .toMatchObject({ outcome: { _tag: 'Written' } });
    expect(valueAt(await read('un-b'), 'spec', 'labels')).toEqual({ zone: 'b' });
    const again = await run(writes.apply('un-b', withLabels('un-b', { zone: 'a' }), ONE));
    expect(again).toMatchObject({ outcome: { conflicts: [{ manager: 'tidegate-other' }] } });
  });

  it('a status has owners of its own, and a merge patch owns what it writes', async () => {
    const { run, writes } = await start(bed());
    await run(writes.apply('un-c', withLabels('un-c', {}), ONE));
    const patch = { status: { phase: 'Registered' } };
    await run(writes.patchStatus('un-c', patch));
    const ready = upcoming('un-c', { status: { phase: 'Ready' } });
    const conflict = await run(writes.applyStatus('un-c', ready, ONE));
    expect(conflict).toMatchObject({
      outcome: { _tag: 'Conflict', conflicts: [{ field: '.status.phase' }] },
    });
    expect(await run(writes.applyStatus('un-c', ready, { ...ONE, force: true })))
      .toMatchObject({ outcome: { _tag: 'Written', current: { phase: 'Ready' } } });
  });

  it('refusals are distinguished', async () => {
    const { run, writes } = await start(bed());
    const status = upcoming('un-d', { status: { phase: 'Ready' } });
    expect(await run(writes.applyStatus('un-d', status, ONE)))
      .toEqual({ outcome: { _tag: 'Absent' }, result: 'error' });
    const invalid = upcoming('un-d', { spec: { labels: {} } });
    expect(await run(writes.apply('un-d', invalid, ONE)))
      .toMatchObject({ outcome: { _tag: 'Refused' } });
    await run(writes.apply('un-d', withLabels('un-d', { zone: 'a' }), ONE));
    const again = (identity: JsonRecord) => ({
      ...withLabels('un-d', { zone: 'b' }),
      metadata: { name: 'un-d', ...identity },
    });
    expect(await run(writes.apply('un-d', again({ uid: 'another' }), ONE)))
      .toMatchObject({ outcome: { _tag: 'Refused' } });
    expect(await run(writes.apply('un-d', again({ resourceVersion: '1' }), ONE)))
      .toMatchObject({ outcome: { _tag: 'Fault' }, result: 'conflict' });
  });
});
