/** The Nodes of machines, as the registry of machines reports them. */
import { describe, expect, test } from 'vitest';
import { machineRig } from '../../support/fleet/machine-rig.ts';

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
