/** Failed writes, writes of other clients, and the limits of the registry. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { ID_KEY, machineRig } from '../../support/fleet/machine-rig.ts';

describe('writes that fail', () => {
  test('upcomingNodes: every machine ends in the state of its last frame when the API server is back', async () => {
    const { frame, cluster, phase, time, frames } = machineRig();
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

  test('upcomingNodes: at most 32 machines at once retry while the API server is away', async () => {
    const { frame, cluster, time } = machineRig();
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

  test('upcomingNodes: a lost answer does no harm', async () => {
    const { frame, cluster, phase, time } = machineRig();
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

  test('upcomingNodes: a refused object gets an Event and is retried when the report changes', async () => {
    const { frame, cluster, phase, time, notes } = machineRig();
    cluster.intercept(({ body }) =>
      Effect.succeed(
        textAt(body, 'spec', 'labels', 'zone') === 'forbidden'
          ? { status: 422, body: { message: 'zone: denied by policy' } }
          : undefined,
      )
    );
    frame('m1', 'Configured', { labels: { zone: 'forbidden' } });
    await time.advance(1000);
    expect(notes.map(({ reason }) => reason)).toEqual(['WriteRefused']);
    expect(notes[0]?.note).toContain('zone: denied by policy');
    frame('m1', 'Configured');
    await time.advance(1000);
    expect(phase('m1')).toBe('Ready');
  });

  // The refusal of what was no longer wanted postponed what was by a minute, with an Event.
  test('DR-40: what is reported while a write is refused is written at once', async () => {
    const { frame, frames, cluster, phase, registry, time, notes } = machineRig();
    await frames('m1', 'Configured', 'Draining');
    cluster.intercept(({ method, body }) =>
      Effect.gen(function* () {
        if (method !== 'PATCH') return undefined;
        yield* Effect.sleep(150);
        return textAt(body, 'status', 'phase') === 'Registered'
          ? { status: 422, body: { message: 'phase: denied by policy' } }
          : undefined;
      })
    );
    frame('m1', 'Configuring');
    await time.advance(100);
    frame('m1', 'Configured');
    await time.advance(300);
    expect(phase('m1')).toBe('Ready');
    frame('m1', 'Configuring');
    await time.advance(100);
    let isAnswered = false;
    void registry().drain('m1', { _tag: 'Draining' }).then(() => (isAnswered = true));
    await time.advance(100);
    expect([isAnswered, phase('m1')], 'the object does not show it yet').toEqual([false, 'Ready']);
    await time.advance(200);
    expect([isAnswered, phase('m1')]).toEqual([true, 'Draining']);
    expect(notes).toEqual([]);
  });

  test('upcomingNodes: a refused object of a machine that is no longer bound is deleted at once', async () => {
    const { frames, cluster, shardEvents, time, notes } = machineRig();
    cluster.intercept(({ method }) =>
      Effect.succeed(
        method === 'PATCH' ? { status: 403, body: { message: 'denied by policy' } } : undefined,
      )
    );
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    await frames('m1', 'Configured');
    await time.advance(1000);
    expect(notes.map(({ reason }) => reason)).toEqual(['WriteRefused']);
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await time.advance(1000);
    expect(cluster.names()).toEqual([]);
  });

  // One malformed field made every write of the object invalid, for as long as it was reported.
  test('upcomingNodes: malformed fields are left out and reported once, and cost no more', async () => {
    const { frame, cluster, phase, settle, notes } = machineRig();
    const malformed = {
      // The CRD allows 64 characters, and its reader four times as many.
      resources: { cpu: '2', memory: 'a lot', pods: '', disk: `1.${'5'.repeat(63)}` },
      taints: [
        { key: 'gpu', value: 'present', effect: 'NoSchedule' },
        { key: 'odd', effect: '' },
        { key: '', effect: 'NoExecute' },
      ],
    };
    frame('m1', 'Configuring', malformed);
    await settle();
    frame('m1', 'Configured', malformed);
    await settle();
    expect(phase('m1')).toBe('Ready');
    expect(valueAt(cluster.get('un-m1'), 'spec')).toEqual({
      labels: { zone: 'a' },
      resources: { cpu: '2' },
      taints: [{ effect: 'NoSchedule', key: 'gpu', value: 'present' }],
    });
    // Without the UID, `kubectl describe` does not list it.
    const uid = textAt(cluster.get('un-m1'), 'metadata', 'uid');
    expect(notes).toMatchObject([{ reason: 'FieldsLeftOut', regarding: { name: 'un-m1', uid } }]);
    for (
      const part of [
        '"memory", "a lot"',
        '"pods", "", is empty',
        'is longer than 64 characters',
        'taint "odd" has no effect',
        'a taint has no key',
      ]
    ) {
      expect(notes[0]?.note).toContain(part);
    }
    frame('m1', 'Configured');
    await settle();
    frame('m1', 'Configured', { resources: { cpu: 'two' } });
    await settle();
    expect(notes).toHaveLength(2);
    expect(valueAt(cluster.get('un-m1'), 'spec', 'resources')).toEqual({});
  });

  test('UPN-10: malformed fields are recorded by the leader only, once their object exists', async () => {
    const { frame, cluster, registry, settle, notes } = machineRig();
    const make = (id: string) =>
      cluster.put(`un-${id}`, { metadata: { name: `un-${id}`, uid: id } });
    cluster.intercept(() => Effect.fail(new NotSent({ why: 'the API server is away' })));
    for (const id of ['m1', 'm2']) frame(id, 'Configuring', { resources: { cpu: 'two' } });
    await settle();
    expect(notes).toEqual([]);
    make('m1');
    await settle();
    registry().onLeadershipLost();
    make('m2');
    await settle();
    expect(notes.map(({ reason, regarding: { name } }) => [reason, name])).toEqual([
      ['FieldsLeftOut', 'un-m1'],
    ]);
  });

  test('upcomingNodes: an API server that drops every change causes no hot loop', async () => {
    const { frames, cluster, time, notes } = machineRig();
    await frames('m1', 'Configuring');
    cluster.intercept(({ method }) =>
      Effect.succeed(method === 'PATCH' ? { status: 200, body: cluster.get('un-m1') } : undefined)
    );
    const before = cluster.calls.length;
    await frames('m1', 'Configured');
    await time.advance(60_000);
    expect(cluster.calls.length - before).toBeLessThan(15);
    expect(notes[0]).toMatchObject({ reason: 'WriteFailing' });
    expect(notes[0]?.note).toContain('dropped the change');
  });

  test('upcomingNodes: a change that another client reverts at once is not repeated in a loop', async () => {
    const { frame, frames, cluster, time, notes } = machineRig();
    await frames('m1', 'Configuring');
    let touches = 0;
    cluster.intercept(({ method }) =>
      Effect.gen(function* () {
        if (method !== 'PATCH') return undefined;
        // Long enough for another frame with the same report to arrive.
        yield* Effect.sleep(150);
        touches += 1;
        cluster.put('un-m1', { status: { phase: `Other${touches}` } });
        return { status: 200, body: cluster.get('un-m1') };
      })
    );
    await frames('m1', 'Configured');
    for (let tenth = 0; tenth < 600; tenth += 1) {
      frame('m1', 'Configured');
      await time.advance(100);
    }
    cluster.intercept(() => Effect.succeed(undefined));
    await time.advance(1000);
    expect(touches).toBeGreaterThan(1);
    expect(touches).toBeLessThan(30);
    expect(notes[0]).toMatchObject({ reason: 'WriteFailing' });
  });

  test('upcomingNodes: an object that keeps failing does not starve others', async () => {
    const { frame, cluster, phase, time } = machineRig();
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
  test('upcomingNodes: a value from another client is overwritten', async () => {
    const { frames, cluster, status, settle } = machineRig();
    await frames('m1', 'Configured');
    cluster.put('un-m1', { status: { phase: 'Failed', lastError: 'somebody else' } });
    await settle();
    expect(status('m1')).toMatchObject({ phase: 'Ready', providerID: 'host-m1' });
    expect(status('m1')).not.toHaveProperty('lastError');
  });

  test('upcomingNodes: a deleted object is created again', async () => {
    const { frames, cluster, phase, settle } = machineRig();
    await frames('m1', 'Configured');
    cluster.remove('un-m1');
    await settle();
    expect(phase('m1')).toBe('Ready');
  });

  test('upcomingNodes: an object of another operator is adopted by its name', async () => {
    const { frames, cluster } = machineRig();
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

  test('upcomingNodes: a removed annotation is restored', async () => {
    const { frames, cluster, settle } = machineRig();
    await frames('m1', 'Configured');
    cluster.put('un-m1', { metadata: { name: 'un-m1', uid: 'uid-1' } });
    await settle();
    expect(cluster.get('un-m1')).toMatchObject({ metadata: { annotations: { [ID_KEY]: 'm1' } } });
  });

  test('upcomingNodes: a late echo of our own writes changes nothing', async () => {
    const { frames, cluster, phase, settle } = machineRig();
    cluster.lag();
    await frames('m1', 'Configuring');
    await frames('m1', 'Configured');
    const before = cluster.calls.length;
    cluster.catchUp();
    await settle();
    expect(phase('m1')).toBe('Ready');
    expect(cluster.calls.length).toBe(before);
  });

  test('upcomingNodes: a machine that returns before the cache knows its deletion gets a new object', async () => {
    const { frames, cluster, phase } = machineRig();
    await frames('m1', 'Draining');
    cluster.lag();
    await frames('m1', 'Idle');
    const before = cluster.writes().length;
    await frames('m1', 'Configuring');
    expect(cluster.writes().slice(before)).toEqual(['POST', 'PATCH un-m1/status']);
    cluster.catchUp();
    expect(phase('m1')).toBe('Registered');
  });

  test('upcomingNodes: a late echo of a deleted object creates nothing', async () => {
    const { frames, cluster, settle, registry } = machineRig();
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

describe('the registry', () => {
  test.each(['nodes', 'cluster'] as const)(
    'upcomingNodes: nothing is written before the list of %s is complete',
    async (missing) => {
      const rig = machineRig({ synced: missing !== 'cluster', nodesSynced: missing !== 'nodes' });
      await rig.frames('m1', 'Configured');
      await rig.time.advance(60_000);
      expect(rig.cluster.writes()).toEqual([]);
      rig[missing].list();
      await rig.settle();
      expect(rig.phase('m1')).toBe('Ready');
    },
  );

  test('wire 4: writes of one machine never overlap, and 32 machines write at once', async () => {
    const { frame, cluster, time, phase } = machineRig();
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

  test('upcomingNodes: keeps few settled actors active and still overwrites foreign values', async () => {
    const { frame, cluster, phase, registry, settle } = machineRig();
    for (let id = 0; id < 2500; id += 1) frame(`m${id}`, 'Configured');
    for (let n = 0; n < 60; n += 1) await settle();
    expect([...registry().actors()].length).toBe(2000);
    expect(registry().counts()).toMatchObject({ passive: 500, settled: 2000 });
    expect(registry().get('m0')).toBeUndefined();
    cluster.put('un-m0', { status: { phase: 'Failed' } });
    await settle();
    expect(phase('m0')).toBe('Ready');
  });

  test('upcomingNodes: reports of an earlier term of leadership are not written in the next', async () => {
    const { frames, cluster, phase, settle, registry, time, shardEvents } = machineRig();
    await frames('m1', 'Configured');
    cluster.intercept(() => Effect.fail(new NotSent({ why: 'not the leader' })));
    await frames('m2', 'Configured');
    registry().onLeadershipLost();
    cluster.intercept(() => Effect.succeed(undefined));
    cluster.put('un-m1', { status: { phase: 'Draining' } });
    await time.advance(600_000);
    expect(phase('m1')).toBe('Draining');
    expect(cluster.names()).toEqual(['un-m1']);
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    await frames('m2', 'Configured');
    shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await settle();
    expect(cluster.names()).toEqual(['un-m2']);
  });

  test('DR-40: what a drain reported in an earlier term does not hold the phase in the next', async () => {
    const { frames, phase, settle, registry, shardEvents } = machineRig();
    await frames('m1', 'Configured');
    void registry().drain('m1', { _tag: 'Draining' });
    await settle();
    expect(phase('m1')).toBe('Draining');
    registry().onLeadershipLost();
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    await frames('m1', 'Configured');
    expect(phase('m1')).toBe('Ready');
  });

  test('upcomingNodes: the end of a term of leadership activates no actor for a slot', async () => {
    const { frame, cluster, settle, registry, time } = machineRig();
    cluster.intercept(() => Effect.as(Effect.sleep(1000), undefined));
    for (let id = 0; id < 1000; id += 1) frame(`m${id}`, 'Configured');
    await settle();
    const begun = cluster.writes().length;
    registry().onLeadershipLost();
    await time.advance(600_000);
    expect(begun).toBe(32);
    expect(cluster.writes().length).toBe(begun);
    expect([...registry().actors()]).toEqual([]);
  });

  test('upcomingNodes: is idle when no actor writes', async () => {
    const { frame, registry, cluster } = machineRig();
    for (let id = 0; id < 100; id += 1) frame(`m${id}`, 'Configured');
    await registry().idle();
    expect(cluster.writes().length).toBe(200);
  });

  test('upcomingNodes: completes writes in flight on stop and starts no others', async () => {
    const { frame, registry, cluster, time, settle } = machineRig();
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
