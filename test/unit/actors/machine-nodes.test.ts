/** The Nodes of machines, as the registry of machines reports them. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { LEASE_TIMES } from '../../support/api/lease-times.ts';
import { ID_KEY, machineRig } from '../../support/fleet/machine-rig.ts';

describe('the Node of a machine', () => {
  const REF = { apiVersion: 'v1', kind: 'Node', name: 'm1', uid: 'uid-1' };

  test('upcomingNodes: is referred to once it is observed, before or after the frame', async () => {
    const { frames, node, status, settle } = machineRig();
    node('m1', false);
    await frames('m1', 'Configured');
    await frames('m2', 'Configured');
    node('m2', false);
    await settle();
    expect(status('m1')).toMatchObject({ nodeRef: REF });
    expect(status('m2')).toMatchObject({ nodeRef: { name: 'm2' } });
  });

  test('upcomingNodes: records its first readiness in one Event and leaves the phase to the shard', async () => {
    const { frames, node, phase, notes, settle } = machineRig();
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

  test('upcomingNodes: that was Ready before a restart gets no second Event', async () => {
    const { frames, node, notes, restart, settle, shardEvents } = machineRig();
    node('m1', true);
    await frames('m1', 'Configured');
    expect(notes.length).toBe(1);
    await restart();
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    await frames('m1', 'Configured');
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    node('m1', true, { metadata: { name: 'm1', uid: 'uid-1', labels: { a: 'b' } } });
    await settle();
    expect(notes.length).toBe(1);
  });

  test('upcomingNodes: is recorded by the leader only, and by the next one if Ready since shortly', async () => {
    const { cluster, node, notes, registry, settle, time } = machineRig({ leads: false });
    const ready = async (name: string) => {
      cluster.put(`un-${name}`, { status: { phase: 'Registered', providerID: `host-${name}` } });
      for (const isReady of [false, true]) node(name, isReady);
      await settle();
    };
    await ready('m1');
    expect([...registry().actors()], 'a standby has nothing to do').toEqual([]);
    await time.advance(2 * LEASE_TIMES.leaseMs + 1);
    await ready('m2');
    await time.advance(LEASE_TIMES.leaseMs);
    expect(notes).toEqual([]);
    registry().onLeading();
    await ready('m3');
    for (const name of ['m1', 'm2', 'm3']) {
      for (const isReady of [false, true]) node(name, isReady);
    }
    await settle();
    expect(notes.map(({ regarding, note }) => [regarding.name, note])).toEqual([
      ['un-m2', 'Node "m2" is Ready'],
      ['un-m3', 'Node "m3" is Ready'],
    ]);
  });

  // The object was indexed once, as the leader had created it: without a providerID.
  test('upcomingNodes: is followed by a standby, although the object had no status at first', async () => {
    const { cluster, node, notes, registry, settle, time } = machineRig({ leads: false });
    const name = 'un-m1';
    cluster.put(name, { metadata: { name, uid: 'u', annotations: { [ID_KEY]: 'm1' } } });
    await settle();
    cluster.put(name, { status: { phase: 'Registered', providerID: 'host-m1' } });
    await settle();
    const spec = { providerID: 'fleet:///zone/host-m1' };
    for (const isReady of [false, true]) node('n1', isReady, { spec });
    await settle();
    expect(registry().machineOf('n1')).toBe('m1');
    await time.advance(2 * LEASE_TIMES.leaseMs + 1);
    registry().onLeading();
    await settle();
    expect(notes, 'it was Ready long before the takeover').toEqual([]);
  });

  test('upcomingNodes: is recorded once, also after a term in which its machine was not written', async () => {
    const { cluster, frames, node, notes, registry, settle, time } = machineRig();
    await frames('m1', 'Configuring');
    await frames('m2', 'Configuring');
    for (const name of ['m1', 'm2']) node(name, false);
    await settle();
    cluster.intercept(() => Effect.fail(new NotSent({ why: 'the API server is away' })));
    await frames('m1', 'Configured');
    await frames('m2', 'Configured');
    node('m1', true);
    await settle();
    registry().onLeadershipLost();
    await time.advance(2 * LEASE_TIMES.leaseMs + 1);
    node('m2', true);
    await settle();
    expect(notes.filter(({ reason }) => reason === 'NodeReady')).toEqual([]);
    for (const _term of [1, 2]) {
      registry().onLeading();
      registry().onLeadershipLost();
    }
    expect(notes.filter(({ reason }) => reason === 'NodeReady').map(({ note }) => note)).toEqual([
      'Node "m2" is Ready',
    ]);
  });

  test('DR-10: of the last lifecycle is not that of the next one, which the session did not see begin', async () => {
    const { frames, node, nodes, status, settle, shardEvents } = machineRig();
    node('m1', true);
    await frames('m1', 'Configured');
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    nodes.remove('m1');
    await settle();
    expect(status('m1'), 'it records which Node it was').toMatchObject({ nodeRef: REF });
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    await frames('m1', 'Configuring');
    expect(status('m1')).toMatchObject({ phase: 'Registered' });
    expect(status('m1')).not.toHaveProperty('nodeRef');
    node('m1', false);
    await settle();
    expect(status('m1')).toMatchObject({ nodeRef: { name: 'm1' } });
  });

  test('upcomingNodes: is found for a reclaim by every rule of the wire', async () => {
    const { frames, node, registry } = machineRig();
    node('m1', true);
    await frames('m1', 'Configured');
    expect(registry().nodeOf('m1')).toMatchObject({ rule: 'ProviderId', node: { name: 'm1' } });
    expect(registry().nodeOf('unheard', 'm1')).toMatchObject({ rule: 'NamedInEntry' });
    expect(registry().nodeOf('unheard')).toBeUndefined();
  });

  test('upcomingNodes: was CONFIGURED from the frame that says so to the end of its stay', async () => {
    const { frames, registry, shardEvents, settle } = machineRig();
    const configured = () => registry().wasConfigured('m1');
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    expect(configured()).toBe(false);
    await frames('m1', 'Configuring');
    expect(configured()).toBe(false);
    await frames('m1', 'Configured', 'Draining');
    expect(configured()).toBe(true);
    await frames('m1', 'Idle');
    expect(configured()).toBe(false);
    await frames('m1', 'Configuring', 'Configured');
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await settle();
    expect(configured()).toBe(false);
    await frames('m1', 'Configured');
    registry().onLeadershipLost();
    expect(configured()).toBe(false);
  });
});
