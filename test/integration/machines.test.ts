/** Machines, free capacity and Events on a real API server, with a scripted session. */
import { Layer, ManagedRuntime } from 'effect';
import { NEVER, Subject } from 'rxjs';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { startInformer } from '../../src/actors/informers/informer.ts';
import { startEventRecorder } from '../../src/actors/event-recorder.ts';
import { startAvailableCapacities } from '../../src/actors/upcoming-nodes/available-capacities.ts';
import { startUpcomingNodes } from '../../src/actors/upcoming-nodes/upcoming-nodes.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { projectAvailableCapacity } from '../../src/domain/available-capacity.ts';
import { projectNode } from '../../src/domain/cluster-node.ts';
import type { MachineState, ShardEvent } from '../../src/domain/frames.ts';
import { machineId } from '../../src/domain/ids.ts';
import { listOrEmptyAt, parseJson, textAt } from '../../src/domain/json.ts';
import { textPool } from '../../src/domain/text-pool.ts';
import {
  projectUpcomingNode,
  type UpcomingNodeProjection,
} from '../../src/domain/upcoming-node.ts';
import {
  AVAILABLE_CAPACITIES_PATH,
  availableCapacitiesLayer,
} from '../../src/effects/available-capacities.ts';
import { cordonsLayer } from '../../src/effects/cordons.ts';
import { eventsLayer } from '../../src/effects/events.ts';
import { kubeConnection } from '../../src/effects/kube-connection.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { UPCOMING_NODES_PATH, upcomingNodesLayer } from '../../src/effects/upcoming-nodes.ts';
import { writeBudget } from '../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../src/effects/write-gate.ts';
import { fileSource } from '../support/api/live-environment.ts';
import { LEASE_TIMES } from '../support/api/lease-times.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { atScale } from '../support/scale.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const until = (what: string, probe: () => boolean | Promise<boolean>): Promise<unknown> =>
  eventually(probe, { what });

/** The half of an operator that writes the shard's reports. */
const start = async (bed: Testbed) => {
  const telemetry = silentTelemetry;
  const intern = textPool(1000);
  const gate = makeWriteGate(realTime);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      upcomingNodesLayer({ telemetry, intern }),
      availableCapacitiesLayer({ telemetry }),
      eventsLayer,
      cordonsLayer(telemetry),
    ).pipe(
      Layer.provideMerge(writeBudget({ qps: 2000, burst: 2000, telemetry })),
      Layer.provideMerge(Layer.orDie(kubeConnection({
        source: fileSource(bed.kubeconfig),
        version: 'test',
        telemetry,
      }))),
      Layer.provideMerge(Layer.succeed(WriteGate, gate)),
    ),
  );
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: 7 });
  const shardEvents = new Subject<ShardEvent>();
  const upcomingNodes = startInformer(environment, {
    id: 'upcomingnodes',
    path: UPCOMING_NODES_PATH,
    project: (raw) => projectUpcomingNode(raw, intern),
  });
  const capacities = startInformer(environment, {
    id: 'availablecapacities',
    path: AVAILABLE_CAPACITIES_PATH,
    project: projectAvailableCapacity,
  });
  const nodes = startInformer(environment, {
    id: 'nodes',
    path: '/api/v1/nodes',
    project: projectNode,
  });
  const recorder = startEventRecorder(environment, { instance: 'test' });
  const { record } = recorder;
  const registry = startUpcomingNodes(environment, {
    shardEvents,
    upcomingNodes,
    nodes,
    record,
    intern,
    leaseMs: LEASE_TIMES.leaseMs,
  });
  registry.onLeading();
  const free = startAvailableCapacities(environment, {
    shardEvents,
    acknowledged: NEVER,
    record,
    availableCapacities: capacities,
  });
  cleanups.push(async () => {
    await registry.stop();
    await free.stop();
    for (const reflector of [upcomingNodes, capacities, nodes]) reflector.stop();
    recorder.stop();
    await runtime.dispose();
  });
  await Promise.all([upcomingNodes.whenSynced, capacities.whenSynced, nodes.whenSynced]);
  const frame = (id: string, state: MachineState, more: object = {}) =>
    shardEvents.next({
      _tag: 'MachineObserved',
      machine: {
        machineId: machineId(id),
        state,
        nodeName: '',
        providerId: `host-${id}`,
        lastError: '',
        labels: { 'topology.kubernetes.io/zone': 'a' },
        resources: { cpu: '8', memory: '32Gi' },
        taints: [],
        ...more,
      },
    });
  return { shardEvents, registry, upcomingNodes, frame, recorder };
};

const readAll = async (bed: Testbed, ...what: readonly string[]): Promise<readonly unknown[]> => {
  const { stdout } = await bed.kubectl('get', ...what, '-o', 'json');
  return listOrEmptyAt(parseJson(stdout), 'items');
};

const currentObjects = async (
  bed: Testbed,
): Promise<ReadonlyMap<string, UpcomingNodeProjection>> => {
  const objects = (await readAll(bed, 'upcomingnodes')).flatMap((raw) =>
    projectUpcomingNode(raw) ?? []
  );
  return new Map(objects.map((object) => [object.machineId, object]));
};

/** Writes of UpcomingNodes in the audit log. */
const writesOf = async (bed: Testbed, prefix: string) =>
  (await bed.audit()).filter(({ resource, verb, name, uri }) =>
    resource === 'upcomingnodes' && ['create', 'patch', 'delete'].includes(verb) &&
    (name.startsWith(prefix) || uri.includes(prefix))
  );

describeWithTestbed('machines on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
  });

  it('upcomingNodes: a machine gets an object, follows its frames and ends', async () => {
    const { frame, registry, upcomingNodes } = await start(bed());
    frame('walk', 'Configuring');
    await registry.idle();
    const first = (await currentObjects(bed())).get('walk');
    expect(first).toMatchObject({ phase: 'Registered', providerId: 'host-walk' });
    expect(first?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z$/);
    frame('walk', 'Failed', { lastError: 'no room', labels: { a: 'b' } });
    await registry.idle();
    expect((await currentObjects(bed())).get('walk')).toMatchObject({
      phase: 'Failed',
      lastError: 'no room',
      startedAt: first?.startedAt,
      spec: '{"labels":{"a":"b"},"resources":{"cpu":"8","memory":"32Gi"}}',
    });
    frame('walk', 'Draining');
    await registry.idle();
    frame('walk', 'Idle');
    await registry.idle();
    expect((await currentObjects(bed())).has('walk')).toBe(false);
    await until('an empty cache', () => upcomingNodes.size === 0);
    expect(registry.get('walk')).toBeUndefined();
  });

  it('upcomingNodes: kubectl waits for the condition Ready, whatever the generation', async () => {
    const { frame, registry } = await start(bed());
    const waitFor = (condition: string) =>
      bed().kubectl('wait', `--for=condition=${condition}`, 'upn/un-waited', '--timeout=120s');
    frame('waited', 'Configuring');
    await registry.idle();
    const waiting = waitFor('Ready');
    frame('waited', 'Configured', { labels: { a: 'b' } });
    expect(await waiting).toMatchObject({ code: 0, stderr: '' });
    frame('waited', 'Configured', { labels: { a: 'c' } });
    await registry.idle();
    expect((await waitFor('Ready')).code).toBe(0);
    frame('waited', 'Failed', { lastError: 'no room', labels: { a: 'c' } });
    expect((await waitFor('Ready=false')).code).toBe(0);
    const condition = '{.status.conditions[0].reason}: {.status.conditions[0].message}';
    const { stdout } = await bed().kubectl(
      'get',
      'upn',
      'un-waited',
      '-o',
      `jsonpath=${condition}`,
    );
    expect(stdout).toBe('Failed: no room');
    expect((await writesOf(bed(), 'un-waited')).map(({ verb }) => verb))
      .toEqual(['create', 'patch', 'patch', 'patch', 'patch', 'patch']);
  });

  it('upcomingNodes: the Node is referred to, and its first readiness is one Event', async () => {
    const { frame, registry, recorder } = await start(bed());
    frame('noded', 'Configured');
    await registry.idle();
    const node = (ready: string) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-1' },
      spec: { providerID: 'fleet:///a/host-noded' },
      status: { conditions: [{ type: 'Ready', status: ready }] },
    });
    await bed().apply(JSON.stringify(node('False')));
    const ready = JSON.stringify({ status: node('True').status });
    await bed().kubectl('patch', 'node', 'node-1', '--subresource=status', '-p', ready);
    await until(
      'the nodeRef',
      async () => (await currentObjects(bed())).get('noded')?.nodeName === 'node-1',
    );
    await until('the Event', async () => {
      await recorder.idle();
      const events = await readAll(bed(), 'events.events.k8s.io', '-n', 'default');
      return events.some((event) =>
        textAt(event, 'reason') === 'NodeReady' &&
        textAt(event, 'regarding', 'name') === 'un-noded' &&
        textAt(event, 'reportingController') === 'tidegate.dev/operator'
      );
    });
    expect((await currentObjects(bed())).get('noded')?.phase).toBe('Ready');
  });

  it('upcomingNodes: a burst ends in the last states, with one write in flight per machine', async () => {
    const MACHINES = atScale({ commit: 100, release: 1000 });
    const { frame, registry } = await start(bed());
    for (let id = 0; id < MACHINES; id += 1) {
      for (const state of ['Creating', 'Configuring', 'Configured'] as const) {
        frame(`burst-${id}`, state);
      }
    }
    await registry.idle();
    const objects = await currentObjects(bed());
    for (let id = 0; id < MACHINES; id += 1) {
      expect(objects.get(`burst-${id}`)?.phase).toBe('Ready');
    }
    const writes = await writesOf(bed(), 'un-burst-');
    expect(writes.length / MACHINES).toBeLessThanOrEqual(2.5);
    const free = new Map<string, number>();
    for (const write of writes.toSorted((a, b) => a.receivedMs - b.receivedMs)) {
      expect(write.receivedMs).toBeGreaterThanOrEqual(free.get(write.name) ?? 0);
      free.set(write.name, write.answeredMs);
    }
  });

  it('upcomingNodes: an API server outage during a burst ends with every last state', async () => {
    const MACHINES = atScale({ commit: 50, release: 200 });
    const { frame, registry } = await start(bed());
    for (let id = 0; id < MACHINES; id += 1) frame(`away-${id}`, 'Configuring');
    await bed().stopApiServer();
    for (let id = 0; id < MACHINES; id += 1) {
      frame(`away-${id}`, id % 2 === 0 ? 'Configured' : 'Deleting');
    }
    await bed().startApiServer();
    await until('the last states', async () => {
      await registry.idle();
      const objects = [...await currentObjects(bed())].filter(([id]) => id.startsWith('away-'));
      return objects.length === MACHINES / 2 &&
        objects.every(([, { phase }]) => phase === 'Ready');
    });
  });

  it('upcomingNodes: malformed fields are left out with an Event, and the rest is written', async () => {
    const { frame, recorder } = await start(bed());
    const taints = [{ key: 'odd', effect: '' }];
    frame('odd', 'Configured', { resources: { cpu: 'many', memory: '1Gi' }, taints });
    await until('the object', async () => {
      const objects = new Map(await currentObjects(bed()));
      return objects.get('odd')?.phase === 'Ready';
    });
    await until('the Event', async () => {
      await recorder.idle();
      const events = await readAll(bed(), 'events.events.k8s.io', '-n', 'default');
      return events.some((event) =>
        textAt(event, 'reason') === 'FieldsLeftOut' && (textAt(event, 'note') ?? '').includes('cpu')
      );
    });
  });

  it('availableCapacities: an object is created, changed and deleted', async () => {
    const { shardEvents } = await start(bed());
    const print = (availableCount: number) =>
      shardEvents.next({
        _tag: 'CapacityObserved',
        capacity: {
          supersedesKey: 'available:p=1',
          requirements: [{ key: 'zone', operator: 'In', values: ['a'] }],
          resources: { cpu: '8' },
          availableCount,
          confidence: availableCount === 0 ? 'None' : 'Medium',
          costPerHour: 88.49,
        },
      });
    const capacity = async () => (await readAll(bed(), 'availablecapacities'))[0];
    print(3);
    await until('the cost', async () => textAt(await capacity(), 'spec', 'cost') === '88.49');
    print(0);
    await until('the end', async () => await capacity() === undefined);
  });
});
