/** Machines get objects, follow their frames and end, whatever is missed. */
import type { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import { upcomingNodeName } from '../../../src/domain/names.ts';
import { ID_KEY, machineRig } from '../../support/fleet/machine-rig.ts';

describe('machines get objects', () => {
  test('upcomingNodes: a new machine costs two writes and has its start time from the first', async () => {
    const { frames, cluster, status } = machineRig();
    await frames('m1', 'Configuring');
    expect(cluster.get('un-m1')).toMatchObject({
      metadata: { annotations: { [ID_KEY]: 'm1' } },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
    });
    expect(status('m1')).toEqual({
      phase: 'Registered',
      providerID: 'host-m1',
      provisioningStartTime: '2026-01-01T00:00:00Z',
      conditions: [{
        type: 'Ready',
        status: 'False',
        reason: 'Registered',
        message: 'The machine is being configured to join the cluster',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }],
    });
    expect(cluster.writes()).toEqual(['POST', 'PATCH un-m1/status']);
  });

  test('upcomingNodes: three transitions at once cost at most two writes and end in the last', async () => {
    const { frame, cluster, phase, settle } = machineRig();
    for (let id = 0; id < 200; id += 1) {
      for (const state of ['Creating', 'Configuring', 'Configured'] as const) {
        frame(`m${id}`, state);
      }
    }
    await settle();
    for (let id = 0; id < 200; id += 1) expect(phase(`m${id}`)).toBe('Ready');
    expect(cluster.writes().length).toBe(400);
  });

  test('upcomingNodes: nothing is written when a frame changes nothing', async () => {
    const { frames, cluster, counted } = machineRig();
    await frames('m1', 'Configured');
    const before = cluster.calls.length;
    await frames('m1', 'Configured');
    expect(cluster.calls.length).toBe(before);
    expect(counted.get('bigfleet_operator_upcoming_node_writes_total status_update noop')).toBe(1);
  });

  test('upcomingNodes: an upgrade writes no object that an older version wrote without a condition', async () => {
    const { frame, frames, cluster, settle, status } = machineRig({ synced: false });
    for (let id = 0; id < 300; id += 1) {
      cluster.put(`un-m${id}`, {
        metadata: { name: `un-m${id}`, uid: `u${id}`, annotations: { [ID_KEY]: `m${id}` } },
        spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
        status: {
          phase: 'Ready',
          providerID: `host-m${id}`,
          provisioningStartTime: '2025-12-31T00:00:00Z',
        },
      });
    }
    cluster.list();
    for (let id = 0; id < 300; id += 1) frame(`m${id}`, 'Configured');
    await settle();
    expect(cluster.writes()).toEqual([]);
    await frames('m7', 'Draining');
    expect(cluster.writes(), 'the next write has it').toEqual(['PATCH un-m7/status']);
    expect(status('m7')).toMatchObject({ conditions: [{ type: 'Ready', reason: 'Draining' }] });
  });

  test('upcomingNodes: only a changed spec is patched', async () => {
    const { frames, frame, cluster, settle } = machineRig();
    await frames('m1', 'Configured');
    frame('m1', 'Configured', { labels: { zone: 'b' } });
    await settle();
    expect(cluster.get('un-m1')).toMatchObject({ spec: { labels: { zone: 'b' } } });
    expect(cluster.writes().slice(2)).toEqual(['PATCH un-m1']);
  });

  test('upcomingNodes: a machine whose id is not a DNS label gets a hashed name', async () => {
    const { frames, cluster } = machineRig();
    await frames('Rack 7/β', 'Configured');
    const [name = ''] = cluster.names();
    expect(name).toMatch(/^un-[0-9a-f]{32}$/);
    expect(cluster.get(name)).toMatchObject({
      metadata: { annotations: { [ID_KEY]: 'Rack 7/β' } },
      status: { phase: 'Ready' },
    });
  });

  test('upcomingNodes: an unexpected state change is counted and applied', async () => {
    const { frames, phase, counted } = machineRig();
    await frames('m1', 'Configured', 'Creating');
    expect(phase('m1')).toBe('Provisioning');
    expect(counted.get('tidegate_unknown_transitions_total Configured Creating')).toBe(1);
  });
});

describe('machines end', () => {
  test('wire phases: DRAINING then IDLE shows Drained and then deletes the object', async () => {
    const { frames, cluster } = machineRig();
    await frames('m1', 'Configured');
    await frames('m1', 'Draining');
    const phases: unknown[] = [];
    cluster.reflector.facts.subscribe((fact) => {
      if (fact._tag === 'Present') phases.push(fact.object.phase);
    });
    await frames('m1', 'Idle');
    expect(phases).toContain('Drained');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: DRAINING superseded by IDLE in one burst ends in deletion', async () => {
    const { frames, cluster } = machineRig();
    await frames('m1', 'Creating');
    await frames('m1', 'Configuring', 'Configured', 'Draining', 'Idle');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: DRAINING superseded by IDLE while the object list is read ends in deletion', async () => {
    const { frames, cluster, settle } = machineRig({ synced: false });
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
    const { frames, cluster } = machineRig();
    await frames('m1', 'Configuring');
    await frames('m1', 'Idle');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: DELETING deletes the object', async () => {
    const { frames, cluster } = machineRig();
    await frames('m1', 'Failed');
    await frames('m1', 'Deleting');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: IDLE of an unknown machine writes nothing and leaves no trace', async () => {
    const { frames, cluster, registry } = machineRig();
    await frames('m1', 'Idle');
    expect(cluster.calls).toEqual([]);
    expect([...registry().actors()]).toEqual([]);
    expect(Object.values(registry().counts()).reduce((sum, n) => sum + n, 0)).toBe(0);
  });

  test('wire phases: IDLE of a machine that was SPECULATIVE deletes its object', async () => {
    const { frames, cluster, phase } = machineRig();
    await frames('m1', 'Speculative');
    expect(phase('m1')).toBe('Provisioning');
    await frames('m1', 'Idle');
    expect(cluster.names()).toEqual([]);
  });

  test('wire phases: IDLE after a restart is judged by the phase of the object', async () => {
    const { frames, cluster, phase, restart } = machineRig();
    await frames('m1', 'Draining');
    await frames('m2', 'Creating');
    await restart();
    await frames('m1', 'Idle');
    await frames('m2', 'Idle');
    expect(cluster.names()).toEqual(['un-m2']);
    expect(phase('m2')).toBe('Launched');
  });

  test('wire phases: a machine that ended and returns gets a new object', async () => {
    const { frames, phase, time, status } = machineRig();
    await frames('m1', 'Draining');
    await frames('m1', 'Idle');
    await time.advance(60_000);
    await frames('m1', 'Configuring');
    expect(phase('m1')).toBe('Registered');
    expect(status('m1')).toMatchObject({ provisioningStartTime: '2026-01-01T00:01:00Z' });
  });

  test('upcomingNodes: an ended machine is forgotten', async () => {
    const { frames, registry } = machineRig();
    await frames('m1', 'Configuring');
    await frames('m1', 'Idle');
    expect(registry().get('m1')).toBeUndefined();
    expect(Object.values(registry().counts()).reduce((sum, n) => sum + n, 0)).toBe(0);
  });
});

describe('a replay', () => {
  const open = (shardEvents: Subject<ShardEvent>, stream: number) =>
    shardEvents.next({ _tag: 'StreamOpened', stream });
  const resynced = (shardEvents: Subject<ShardEvent>, stream: number) =>
    shardEvents.next({ _tag: 'Resynced', stream });

  test('wire resync: objects that were not replayed are deleted, but only after the first rollup ack', async () => {
    const { frames, cluster, shardEvents, settle } = machineRig();
    open(shardEvents, 1);
    await frames('m1', 'Configured');
    await frames('m2', 'Draining');
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    open(shardEvents, 2);
    await frames('m1', 'Configured');
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    resynced(shardEvents, 2);
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: a machine that the stream reported before its hello ack is bound', async () => {
    const { frames, cluster, shardEvents, settle } = machineRig();
    open(shardEvents, 1);
    await frames('m1', 'Configured');
    await frames('m2', 'Configured');
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    await frames('m1', 'Configured');
    open(shardEvents, 2);
    resynced(shardEvents, 2);
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: a frame of a stream that never opened proves nothing for the next', async () => {
    const { frames, cluster, shardEvents, settle } = machineRig();
    await frames('m1', 'Configured');
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    open(shardEvents, 2);
    resynced(shardEvents, 2);
    await settle();
    expect(cluster.names()).toEqual([]);
  });

  test('wire resync: objects of an earlier process are deleted when no replay includes them', async () => {
    const { frames, cluster, shardEvents, settle, restart } = machineRig();
    await frames('m1', 'Draining');
    await frames('m2', 'Configured');
    await restart();
    open(shardEvents, 1);
    await frames('m2', 'Configured');
    resynced(shardEvents, 1);
    await settle();
    expect(cluster.names()).toEqual(['un-m2']);
  });

  test('wire resync: an object that the cache gets only after the resync is deleted', async () => {
    const { frames, cluster, shardEvents, settle } = machineRig();
    open(shardEvents, 1);
    await frames('m1', 'Configured');
    resynced(shardEvents, 1);
    cluster.put('un-m2', {
      metadata: { name: 'un-m2', uid: 'm2', annotations: { [ID_KEY]: 'm2' } },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
      status: { phase: 'Ready' },
    });
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  // Nothing was kept of a malformed frame whose machine had no entry.
  test('wire resync: an object that the cache gets after a malformed frame is not deleted', async () => {
    const { cluster, frames, shardEvents, settle } = machineRig();
    const malformed = (id: string) =>
      shardEvents.next({ _tag: 'MachineMalformed', machineId: machineId(id) });
    const put = (id: string) =>
      cluster.put(`un-${id}`, {
        metadata: { name: `un-${id}`, uid: id, annotations: { [ID_KEY]: id } },
        spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
        status: { phase: 'Ready' },
      });
    malformed('m1');
    await frames('m4', 'Deleting');
    open(shardEvents, 1);
    malformed('m2');
    malformed('m5');
    await frames('m5', 'Deleting');
    put('m1');
    await settle();
    resynced(shardEvents, 1);
    for (const id of ['m2', 'm3', 'm4', 'm5']) put(id);
    await settle();
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    open(shardEvents, 2);
    resynced(shardEvents, 2);
    await settle();
    expect(cluster.names()).toEqual([]);
  });

  test('wire resync: an object that the cache gets between two streams waits for the next replay', async () => {
    const { frames, cluster, shardEvents, settle } = machineRig();
    open(shardEvents, 1);
    await frames('m1', 'Configured');
    resynced(shardEvents, 1);
    await settle();
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    cluster.put('un-m2', {
      metadata: { name: 'un-m2', uid: 'm2', annotations: { [ID_KEY]: 'm2' } },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
      status: { phase: 'Ready' },
    });
    await settle();
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    open(shardEvents, 2);
    await frames('m1', 'Configured');
    resynced(shardEvents, 2);
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: a resync before the object list is complete deletes after it', async () => {
    const { frames, cluster, shardEvents, settle } = machineRig({ synced: false });
    for (const id of ['m1', 'm2']) {
      cluster.put(`un-${id}`, {
        metadata: { name: `un-${id}`, uid: id, annotations: { [ID_KEY]: id } },
        spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
        status: { phase: 'Ready' },
      });
    }
    open(shardEvents, 1);
    await frames('m1', 'Configured');
    resynced(shardEvents, 1);
    await settle();
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    cluster.list();
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: silence deletes nothing', async () => {
    const { frames, cluster, shardEvents, time } = machineRig();
    await frames('m1', 'Configured');
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    open(shardEvents, 2);
    await time.advance(3_600_000);
    expect(cluster.names()).toEqual(['un-m1']);
  });

  test('wire resync: objects of other owners are left alone', async () => {
    const { cluster, shardEvents, settle } = machineRig();
    cluster.put('nodes-of-a-person', {
      metadata: { name: 'nodes-of-a-person', uid: 'a' },
      spec: {},
    });
    cluster.put('other', {
      metadata: { name: 'other', uid: 'b', annotations: { [ID_KEY]: 'other' } },
      spec: {},
    });
    open(shardEvents, 1);
    resynced(shardEvents, 1);
    await settle();
    expect(cluster.names()).toEqual(['nodes-of-a-person', 'other']);
  });

  // Only objects with our annotation were known before a frame named their machines, so that
  // stale ones of the Go operator stayed for good.
  test('wire resync: stale objects of the Go operator are deleted, the others adopted', async () => {
    const { frames, cluster, shardEvents, settle, restart, phase } = machineRig();
    for (const id of ['m1', 'm2']) {
      cluster.put(`un-${id}`, {
        metadata: { name: `un-${id}`, uid: id },
        spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
        status: { phase: 'Ready' },
      });
    }
    await restart();
    open(shardEvents, 1);
    await frames('m1', 'Configured');
    expect(cluster.names()).toEqual(['un-m1', 'un-m2']);
    resynced(shardEvents, 1);
    await settle();
    expect(cluster.names()).toEqual(['un-m1']);
    expect(phase('m1')).toBe('Ready');
    expect(textAt(cluster.get('un-m1'), 'metadata', 'annotations', ID_KEY)).toBe('m1');
  });

  test('wire resync: an object with a hashed name and without annotation is its machine’s', async () => {
    const { frames, cluster, shardEvents, settle, restart } = machineRig();
    const name = upcomingNodeName(machineId('Rack 1'));
    cluster.put(name, {
      metadata: { name, uid: 'a' },
      spec: { labels: { zone: 'a' }, resources: { cpu: '2' } },
      status: { phase: 'Ready' },
    });
    await restart();
    open(shardEvents, 1);
    await frames('Rack 1', 'Configured');
    resynced(shardEvents, 1);
    await settle();
    expect(cluster.writes()).toEqual([`PATCH ${name}/status`, `PATCH ${name}`]);
    expect(textAt(cluster.get(name), 'metadata', 'annotations', ID_KEY)).toBe('Rack 1');
  });

  test('wire resync: a replay without changes writes nothing and activates no actor', async () => {
    const { frames, cluster, shardEvents, settle, restart, registry } = machineRig();
    for (let id = 0; id < 50; id += 1) await frames(`m${id}`, 'Configured');
    const before = cluster.calls.length;
    await restart();
    open(shardEvents, 1);
    for (let id = 0; id < 50; id += 1) await frames(`m${id}`, 'Configured');
    resynced(shardEvents, 1);
    await settle();
    expect(cluster.calls.length).toBe(before);
    expect(registry().counts()).toMatchObject({ passive: 50 });
  });
});
