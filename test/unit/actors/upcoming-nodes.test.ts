/** The registry of machines over a small API server in memory: its objects count, not calls. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/actors/clocks.ts';
import { startUpcomingNodes } from '../../../src/actors/upcoming-nodes.ts';
import { makeWorld } from '../../../src/actors/world.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import type { MachineState, SessionNews } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import { simulatedTime } from '../../../src/domain/simulated-time.ts';
import { textPool } from '../../../src/domain/text-pool.ts';
import { projectUpcomingNode } from '../../../src/domain/upcoming-node.ts';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { UPCOMING_NODES_PATH, upcomingNodesLayer } from '../../../src/effects/upcoming-nodes.ts';
import { fakeObjects } from '../../support/fake-objects.ts';

const ID_KEY = 'bigfleet.lucy.sh/machine-id';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A cluster, a session and a registry, all on one simulated time. */
const rig = ({ synced = true } = {}) => {
  const time = simulatedTime();
  const cluster = fakeObjects(UPCOMING_NODES_PATH, projectUpcomingNode);
  const nodes = fakeObjects('/api/v1/nodes', projectNode);
  const counted = new Map<string, number>();
  const notes: EventNote[] = [];
  const news = new Subject<SessionNews>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    count: (name, by, ...[labels]) => {
      const key = [name, ...Object.values(labels ?? {})].join(' ');
      counted.set(key, (counted.get(key) ?? 0) + by);
    },
  };
  const layer = upcomingNodesLayer({ telemetry, intern: (text) => text }).pipe(
    Layer.provideMerge(cluster.layer),
    Layer.provideMerge(clockLayer(time)),
  );
  const runtime = ManagedRuntime.make(layer);
  const world = makeWorld({ time, runtime, telemetry, firstSeed: 1 });
  nodes.list();
  if (synced) cluster.list();
  const start = () =>
    startUpcomingNodes(world, {
      news,
      upcomingNodes: cluster.reflector,
      nodes: nodes.reflector,
      record: (note) => notes.push(note),
      intern: textPool(100),
    });
  let registry = start();
  stops.push(async () => {
    const stopping = registry.stop();
    await time.advance(20_000);
    await stopping;
    await runtime.dispose();
  });
  const frame = (id: string, state: MachineState, more: object = {}) =>
    news.next({
      _tag: 'MachineObserved',
      machine: {
        machineId: machineId(id),
        state,
        nodeName: '',
        providerId: `host-${id}`,
        lastError: '',
        labels: { zone: 'a' },
        resources: { cpu: '2' },
        taints: [],
        ...more,
      },
    });
  return {
    time,
    cluster,
    nodes,
    counted,
    notes,
    news,
    frame,
    registry: () => registry,
    settle: time.settle,
    frames: (id: string, ...states: readonly MachineState[]) => {
      for (const state of states) frame(id, state);
      return time.settle();
    },
    /** A new process on the same cluster. */
    restart: async () => {
      await registry.stop();
      registry = start();
    },
    phase: (id: string) => textAt(cluster.get(`un-${id}`), 'status', 'phase'),
    status: (id: string) => valueAt(cluster.get(`un-${id}`), 'status'),
    node: (name: string, ready: boolean, more: object = {}) =>
      nodes.put(name, {
        spec: { providerID: `fleet:///zone/host-${name}` },
        status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
        ...more,
      }),
  };
};

describe('machines become objects', () => {
  test('upcomingNodes: a new machine costs two writes and has its start time from the first', async () => {
    const { frames, cluster, status } = rig();
    await frames('m1', 'Configuring');
    expect(cluster.get('un-m1')).toMatchObject({
      metadata: { annotations: { [ID_KEY]: 'm1' } },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
    });
    expect(status('m1')).toEqual({
      phase: 'Registered',
      providerID: 'host-m1',
      provisioningStartTime: '2026-01-01T00:00:00Z',
    });
    expect(cluster.writes()).toEqual(['POST', 'PATCH un-m1/status']);
  });

  test('upcomingNodes: three transitions at once cost at most two writes and end in the last', async () => {
    const { frame, cluster, phase, settle } = rig();
    for (let id = 0; id < 200; id += 1) {
      for (const state of ['Creating', 'Configuring', 'Configured'] as const) {
        frame(`m${id}`, state);
      }
    }
    await settle();
    for (let id = 0; id < 200; id += 1) expect(phase(`m${id}`)).toBe('Ready');
    expect(cluster.writes().length).toBe(400);
  });

  test('upcomingNodes: nothing is written when a frame says what stands there', async () => {
    const { frames, cluster, counted } = rig();
    await frames('m1', 'Configured');
    const before = cluster.calls.length;
    await frames('m1', 'Configured');
    expect(cluster.calls.length).toBe(before);
    expect(counted.get('bigfleet_operator_upcoming_node_writes_total status_update noop')).toBe(1);
  });

  test('upcomingNodes: a changed spec is patched alone', async () => {
    const { frames, frame, cluster, settle } = rig();
    await frames('m1', 'Configured');
    frame('m1', 'Configured', { labels: { zone: 'b' } });
    await settle();
    expect(cluster.get('un-m1')).toMatchObject({ spec: { labels: { zone: 'b' } } });
    expect(cluster.writes().slice(2)).toEqual(['PATCH un-m1']);
  });

  test('upcomingNodes: a machine with an id that is no DNS label has an object with a hashed name', async () => {
    const { frames, cluster } = rig();
    await frames('Rack 7/β', 'Configured');
    const [name = ''] = cluster.names();
    expect(name).toMatch(/^un-[0-9a-f]{32}$/);
    expect(cluster.get(name)).toMatchObject({
      metadata: { annotations: { [ID_KEY]: 'Rack 7/β' } },
      status: { phase: 'Ready' },
    });
  });

  test('upcomingNodes: an unknown step is counted and followed', async () => {
    const { frames, phase, counted } = rig();
    await frames('m1', 'Configured', 'Creating');
    expect(phase('m1')).toBe('Provisioning');
    expect(counted.get('tidegate_unknown_transitions_total Configured Creating')).toBe(1);
  });
});

describe('machines end', () => {
  test('wire phases: DRAINING then IDLE shows Drained and then deletes the object', async () => {
    const { frames, cluster } = rig();
    await frames('m1', 'Configured');
    await frames('m1', 'Draining');
    const shown: unknown[] = [];
    cluster.reflector.facts.subscribe((fact) => {
      if (fact._tag === 'Present') shown.push(fact.object.phase);
    });
    await frames('m1', 'Idle');
    expect(shown).toContain('Drained');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: DRAINING superseded by IDLE in one burst ends in deletion', async () => {
    const { frames, cluster } = rig();
    await frames('m1', 'Creating');
    await frames('m1', 'Configuring', 'Configured', 'Draining', 'Idle');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: DRAINING superseded by IDLE while the object list is read ends in deletion', async () => {
    const { frames, cluster, settle } = rig({ synced: false });
    cluster.put('un-m1', {
      metadata: { name: 'un-m1', uid: 'u', annotations: { [ID_KEY]: 'm1' } },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
      status: { phase: 'Provisioning' },
    });
    await frames('m1', 'Configured', 'Draining', 'Idle');
    expect(cluster.writes()).toEqual([]);
    cluster.list();
    await settle();
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: a bootstrap rolled back, CONFIGURING then IDLE, deletes the object', async () => {
    const { frames, cluster } = rig();
    await frames('m1', 'Configuring');
    await frames('m1', 'Idle');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: DELETING deletes the object', async () => {
    const { frames, cluster } = rig();
    await frames('m1', 'Failed');
    await frames('m1', 'Deleting');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: IDLE of an unknown machine writes nothing and leaves no trace', async () => {
    const { frames, cluster, registry } = rig();
    await frames('m1', 'Idle');
    expect(cluster.calls).toEqual([]);
    expect([...registry().actors()]).toEqual([]);
    expect(Object.values(registry().counts()).reduce((sum, n) => sum + n, 0)).toBe(0);
  });

  test('wire phases: IDLE after a restart is judged by the phase that stands there', async () => {
    const { frames, cluster, phase, restart } = rig();
    await frames('m1', 'Draining');
    await frames('m2', 'Creating');
    await restart();
    await frames('m1', 'Idle');
    await frames('m2', 'Idle');
    expect(cluster.names()).toEqual(['un-m2']);
    expect(phase('m2')).toBe('Launched');
  });

  test('wire phases: a machine that ended and comes back has a new object', async () => {
    const { frames, phase, time, status } = rig();
    await frames('m1', 'Draining');
    await frames('m1', 'Idle');
    await time.advance(60_000);
    await frames('m1', 'Configuring');
    expect(phase('m1')).toBe('Registered');
    expect(status('m1')).toMatchObject({ provisioningStartTime: '2026-01-01T00:01:00Z' });
  });

  test('upcomingNodes: an ended machine is forgotten', async () => {
    const { frames, registry } = rig();
    await frames('m1', 'Configuring');
    await frames('m1', 'Idle');
    expect(registry().get('m1')).toBeUndefined();
    expect(Object.values(registry().counts()).reduce((sum, n) => sum + n, 0)).toBe(0);
  });
});

describe('a replay', () => {
  const open = (news: Subject<SessionNews>, stream: number) =>
    news.next({ _tag: 'StreamOpened', stream });
  const resynced = (news: Subject<SessionNews>, stream: number) =>
    news.next({ _tag: 'Resynced', stream });

  test('wire resync: objects that were not replayed go, but only after the first rollup ack', async () => {
    const { frames, cluster, news, settle } = rig();
    open(news, 1);
    await frames('m1', 'Configured');
    await frames('m2', 'Draining');
    news.next({ _tag: 'StreamEnded', stream: 1 });
    open(news, 2);
    await frames('m1', 'Configured');
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    resynced(news, 2);
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: objects of an earlier process are collected when nothing replays them', async () => {
    const { frames, cluster, news, settle, restart } = rig();
    await frames('m1', 'Draining');
    await frames('m2', 'Configured');
    await restart();
    open(news, 1);
    await frames('m2', 'Configured');
    resynced(news, 1);
    await settle();
    expect(cluster.names()).toEqual(['un-m2']);
  });

  test('wire resync: a resync before the object list is complete collects after it', async () => {
    const { frames, cluster, news, settle } = rig({ synced: false });
    for (const id of ['m1', 'm2']) {
      cluster.put(`un-${id}`, {
        metadata: { name: `un-${id}`, uid: id, annotations: { [ID_KEY]: id } },
        spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
        status: { phase: 'Ready' },
      });
    }
    open(news, 1);
    await frames('m1', 'Configured');
    resynced(news, 1);
    await settle();
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    cluster.list();
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: silence deletes nothing', async () => {
    const { frames, cluster, news, time } = rig();
    await frames('m1', 'Configured');
    news.next({ _tag: 'StreamEnded', stream: 1 });
    open(news, 2);
    await time.advance(3_600_000);
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: objects that are not ours are left alone', async () => {
    const { cluster, news, settle } = rig();
    cluster.put('un-theirs', { metadata: { name: 'un-theirs', uid: 'a' }, spec: {} });
    cluster.put('other', {
      metadata: { name: 'other', uid: 'b', annotations: { [ID_KEY]: 'other' } },
      spec: {},
    });
    open(news, 1);
    resynced(news, 1);
    await settle();
    expect(cluster.names()).toEqual(['un-theirs', 'other']);
  });

  test('wire resync: a replay that changes nothing writes nothing and wakes nobody', async () => {
    const { frames, cluster, news, settle, restart, registry } = rig();
    for (let id = 0; id < 50; id += 1) await frames(`m${id}`, 'Configured');
    const before = cluster.calls.length;
    await restart();
    open(news, 1);
    for (let id = 0; id < 50; id += 1) await frames(`m${id}`, 'Configured');
    resynced(news, 1);
    await settle();
    expect(cluster.calls.length).toBe(before);
    expect(registry().counts()).toMatchObject({ asleep: 50 });
  });
});

describe('writes that fail', () => {
  test('upcomingNodes: every machine ends in the state of its last frame when the API server is back', async () => {
    const { frame, cluster, phase, time, frames } = rig();
    await frames('old', 'Configured');
    cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
    for (let id = 0; id < 100; id += 1) frame(`m${id}`, 'Configuring');
    await time.advance(30_000);
    for (let id = 0; id < 100; id += 1) frame(`m${id}`, id % 2 === 0 ? 'Configured' : 'Idle');
    frame('old', 'Draining');
    await time.advance(30_000);
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(60_000);
    for (let id = 0; id < 100; id += 2) expect(phase(`m${id}`)).toBe('Ready');
    expect(cluster.names().length).toBe(51);
    expect(phase('old')).toBe('Draining');
  });

  test('upcomingNodes: an API server that is away is knocked at by 32 machines at once at most', async () => {
    const { frame, cluster, time } = rig();
    let inFlight = 0;
    let most = 0;
    cluster.intercept(() =>
      Effect.sync(() => {
        inFlight += 1;
        most = Math.max(most, inFlight);
      }).pipe(
        Effect.andThen(Effect.sleep(1000)),
        Effect.andThen(Effect.sync(() => {
          inFlight -= 1;
        })),
        Effect.andThen(Effect.fail(new NotSent({ why: 'no route' }))),
      )
    );
    for (let id = 0; id < 100; id += 1) frame(`m${id}`, 'Configured');
    await time.advance(60_000);
    expect(most).toBe(32);
  });

  test('upcomingNodes: an answer that was lost on the way does no harm', async () => {
    const { frame, cluster, phase, time } = rig();
    cluster.put('un-m1', {
      metadata: { name: 'un-m1', uid: 'u', annotations: { [ID_KEY]: 'm1' } },
      spec: { resources: { cpu: '2' } },
    });
    cluster.lag();
    cluster.remove('un-m1');
    cluster.put('un-m1', {
      metadata: { name: 'un-m1', uid: 'u2', annotations: { [ID_KEY]: 'm1' } },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
    });
    frame('m1', 'Configured');
    await time.advance(5000);
    cluster.catchUp();
    await time.advance(5000);
    expect(phase('m1')).toBe('Ready');
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('upcomingNodes: a refused object is told to people and tried again when the machine says otherwise', async () => {
    const { frame, cluster, phase, time, notes } = rig();
    cluster.intercept(({ body }) =>
      Effect.succeed(
        textAt(body, 'spec', 'resources', 'cpu') === 'many'
          ? { status: 422, body: { message: 'cpu: not a quantity' } }
          : undefined,
      )
    );
    frame('m1', 'Configured', { resources: { cpu: 'many' } });
    await time.advance(1000);
    expect(notes.map(({ reason }) => reason)).toEqual(['WriteRefused']);
    expect(notes[0]?.note).toContain('cpu: not a quantity');
    frame('m1', 'Configured');
    await time.advance(1000);
    expect(phase('m1')).toBe('Ready');
  });

  test('upcomingNodes: an API server that keeps nothing of a write is not written to in a hot loop', async () => {
    const { frames, cluster, time, notes } = rig();
    await frames('m1', 'Configuring');
    cluster.intercept(({ method }) =>
      Effect.succeed(method === 'PATCH' ? { status: 200, body: cluster.get('un-m1') } : undefined)
    );
    const before = cluster.calls.length;
    await frames('m1', 'Configured');
    await time.advance(60_000);
    expect(cluster.calls.length - before).toBeLessThan(15);
    expect(notes[0]).toMatchObject({ reason: 'WriteFailing' });
    expect(notes[0]?.note).toContain('did not keep what was written');
  });

  test('upcomingNodes: an object that keeps failing does not keep others from their turn', async () => {
    const { frame, cluster, phase, time } = rig();
    cluster.intercept(({ path, body }) =>
      (path + (textAt(body, 'metadata', 'name') ?? '')).includes('un-bad')
        ? Effect.succeed({ status: 500, body: {} })
        : Effect.succeed(undefined)
    );
    for (let id = 0; id < 40; id += 1) frame(`bad${id}`, 'Configured');
    frame('good', 'Configured');
    await time.advance(60_000);
    expect(phase('good')).toBe('Ready');
  });
});

describe('other hands', () => {
  test('upcomingNodes: a foreign value is written over', async () => {
    const { frames, cluster, status, settle } = rig();
    await frames('m1', 'Configured');
    cluster.put('un-m1', { status: { phase: 'Failed', lastError: 'somebody else' } });
    await settle();
    expect(status('m1')).toMatchObject({ phase: 'Ready', providerID: 'host-m1' });
    expect(status('m1')).not.toHaveProperty('lastError');
  });

  test('upcomingNodes: an object that somebody deleted is made again', async () => {
    const { frames, cluster, phase, settle } = rig();
    await frames('m1', 'Configured');
    cluster.remove('un-m1');
    await settle();
    expect(phase('m1')).toBe('Ready');
  });

  test('upcomingNodes: an object of another operator is adopted by its name', async () => {
    const { frames, cluster } = rig();
    cluster.put('un-m1', {
      metadata: { name: 'un-m1', uid: 'u' },
      spec: { resources: { cpu: '2' } },
      status: { phase: 'Registered', provisioningStartTime: '2025-12-31T23:00:00Z' },
    });
    await frames('m1', 'Configured');
    expect(cluster.get('un-m1')).toMatchObject({
      metadata: { annotations: { [ID_KEY]: 'm1' } },
      spec: { labels: { zone: 'a' } },
      status: { phase: 'Ready', provisioningStartTime: '2025-12-31T23:00:00Z' },
    });
    expect(cluster.writes()).toEqual(['PATCH un-m1/status', 'PATCH un-m1']);
  });

  test('upcomingNodes: an annotation that somebody took away is put back', async () => {
    const { frames, cluster, settle } = rig();
    await frames('m1', 'Configured');
    cluster.put('un-m1', { metadata: { name: 'un-m1', uid: 'uid-1' } });
    await settle();
    expect(cluster.get('un-m1')).toMatchObject({ metadata: { annotations: { [ID_KEY]: 'm1' } } });
  });

  test('upcomingNodes: an echo of our own writes that comes late changes nothing', async () => {
    const { frames, cluster, phase, settle } = rig();
    cluster.lag();
    await frames('m1', 'Configuring');
    await frames('m1', 'Configured');
    const before = cluster.calls.length;
    cluster.catchUp();
    await settle();
    expect(phase('m1')).toBe('Ready');
    expect(cluster.calls.length).toBe(before);
  });

  test('upcomingNodes: an echo of a deleted object that comes late makes nothing new', async () => {
    const { frames, cluster, settle, registry } = rig();
    cluster.lag();
    await frames('m1', 'Configuring');
    await frames('m1', 'Idle');
    const before = cluster.calls.length;
    cluster.catchUp();
    await settle();
    expect(cluster.names()).toEqual([]);
    expect(cluster.calls.length).toBe(before);
    expect(registry().get('m1')).toBeUndefined();
  });
});

describe('the Node of a machine', () => {
  const REF = { apiVersion: 'v1', kind: 'Node', name: 'm1', uid: 'uid-1' };

  test('upcomingNodes: is referred to when it is seen, before or after the frame', async () => {
    const { frames, node, status, settle } = rig();
    node('m1', false);
    await frames('m1', 'Configured');
    await frames('m2', 'Configured');
    node('m2', false);
    await settle();
    expect(status('m1')).toMatchObject({ nodeRef: REF });
    expect(status('m2')).toMatchObject({ nodeRef: { name: 'm2' } });
  });

  test('upcomingNodes: tells its first readiness in one Event and leaves the phase to the shard', async () => {
    const { frames, node, phase, notes, settle } = rig();
    await frames('m1', 'Configuring');
    node('m1', false);
    await settle();
    expect(notes).toEqual([]);
    for (const ready of [true, false, true]) {
      node('m1', ready);
      await settle();
    }
    expect(notes.map(({ reason, note }) => [reason, note])).toEqual([
      ['NodeReady', 'Node "m1" is Ready'],
    ]);
    expect(phase('m1')).toBe('Registered');
  });

  test('upcomingNodes: that was Ready before a restart is not told again', async () => {
    const { frames, node, notes, restart, settle, news } = rig();
    node('m1', true);
    await frames('m1', 'Configured');
    expect(notes.length).toBe(1);
    await restart();
    news.next({ _tag: 'StreamOpened', stream: 1 });
    await frames('m1', 'Configured');
    news.next({ _tag: 'Resynced', stream: 1 });
    node('m1', true, { metadata: { name: 'm1', uid: 'uid-1', labels: { a: 'b' } } });
    await settle();
    expect(notes.length).toBe(1);
  });

  test('upcomingNodes: is found for a reclaim by every rule of the wire', async () => {
    const { frames, node, registry } = rig();
    node('m1', true);
    await frames('m1', 'Configured');
    expect(registry().nodeOf('m1')).toMatchObject({ rule: 'ProviderId', node: { name: 'm1' } });
    expect(registry().nodeOf('unheard', 'm1')).toMatchObject({ rule: 'NamedInEntry' });
    expect(registry().nodeOf('unheard')).toBeUndefined();
  });
});

describe('the registry', () => {
  test('wire 4: writes of one machine are never in flight together, and 32 machines write at once', async () => {
    const { frame, cluster, time, phase } = rig();
    const busy = new Set<string>();
    let most = 0;
    cluster.intercept(({ path, body }) => {
      const name = textAt(body, 'metadata', 'name') ?? path.split('/')[5] ?? '';
      return Effect.sync(() => {
        expect(busy.has(name)).toBe(false);
        busy.add(name);
        most = Math.max(most, busy.size);
      }).pipe(
        Effect.andThen(Effect.sleep(10)),
        Effect.andThen(Effect.sync(() => {
          busy.delete(name);
          return undefined;
        })),
      );
    });
    for (const state of ['Creating', 'Configuring', 'Configured'] as const) {
      for (let id = 0; id < 300; id += 1) frame(`m${id}`, state);
      await time.advance(15);
    }
    await time.advance(5000);
    expect(most).toBe(32);
    for (let id = 0; id < 300; id += 1) expect(phase(`m${id}`)).toBe('Ready');
  });

  test('upcomingNodes: keeps few settled actors awake and still writes foreign values over', async () => {
    const { frame, cluster, phase, registry, settle } = rig();
    for (let id = 0; id < 2500; id += 1) frame(`m${id}`, 'Configured');
    for (let n = 0; n < 60; n += 1) await settle();
    expect([...registry().actors()].length).toBe(2000);
    expect(registry().counts()).toMatchObject({ asleep: 500, settled: 2000 });
    expect(registry().get('m0')).toBeUndefined();
    cluster.put('un-m0', { status: { phase: 'Failed' } });
    await settle();
    expect(phase('m0')).toBe('Ready');
  });

  test('upcomingNodes: what was said in an earlier term of leadership is not written in the next', async () => {
    const { frames, cluster, phase, settle, registry, time, news } = rig();
    await frames('m1', 'Configured');
    cluster.intercept(() => Effect.fail(new NotSent({ why: 'not the leader' })));
    await frames('m2', 'Configured');
    registry().renounce();
    cluster.intercept(() => Effect.succeed(undefined));
    cluster.put('un-m1', { status: { phase: 'Draining' } });
    await time.advance(600_000);
    expect(phase('m1')).toBe('Draining');
    expect(cluster.names()).toEqual(['un-m1']);
    news.next({ _tag: 'StreamOpened', stream: 2 });
    await frames('m2', 'Configured');
    news.next({ _tag: 'Resynced', stream: 2 });
    await settle();
    expect(cluster.names()).toEqual(['un-m2']);
  });

  test('upcomingNodes: nobody wakes up for a turn at the end of a term of leadership', async () => {
    const { frame, cluster, settle, registry, time } = rig();
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    for (let id = 0; id < 1000; id += 1) frame(`m${id}`, 'Configured');
    await settle();
    const begun = cluster.writes().length;
    registry().renounce();
    await time.advance(600_000);
    expect(begun).toBe(32);
    expect(cluster.writes().length).toBe(begun);
    expect([...registry().actors()]).toEqual([]);
  });

  test('upcomingNodes: is idle when nobody writes', async () => {
    const { frame, registry, cluster } = rig();
    for (let id = 0; id < 100; id += 1) frame(`m${id}`, 'Configured');
    await registry().idle();
    expect(cluster.writes().length).toBe(200);
  });

  test('upcomingNodes: stops by letting writes under way finish and beginning no others', async () => {
    const { frame, registry, cluster, time, settle } = rig();
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    for (let id = 0; id < 100; id += 1) frame(`m${id}`, 'Configured');
    await settle();
    let stopped = false;
    const stop = registry().stop().then(() => (stopped = true));
    await settle();
    expect(stopped).toBe(false);
    await time.advance(1000);
    await stop;
    await time.advance(60_000);
    expect(cluster.writes()).toEqual(Array.from({ length: 32 }, () => 'POST'));
  });
});
