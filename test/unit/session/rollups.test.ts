/** Roll-ups on simulated time, with an in-process cache and session. */
import { describe, expect, test } from 'vitest';
import type { Rollup } from '../../../src/domain/session.ts';
import { request } from '../../support/demand/fed-requests.ts';
import { INTERVAL_MS, startedRollups as start } from '../../support/demand/rollup-rig.ts';

const cpus = (offered: readonly Rollup[]): readonly string[] =>
  offered.map(({ needs }) => needs.map((need) => need.aggregateResources['cpu']).join(','));

describe('roll-ups', () => {
  test('wire 5: while demand is held, the demand of that moment is repeated', async () => {
    const { time, cluster, offered, openStream, rollups, patches, ack } = start();
    cluster.list(request('a'), request('b'));
    openStream();
    rollups.hold();
    cluster.hide(request('a'));
    cluster.list(request('b'));
    rollups.hold();
    await time.advance(2 * INTERVAL_MS);
    ack();
    await time.settle();
    expect(patches.map(({ path }) => path.split('/').at(-2)), 'what is left is acknowledged')
      .toEqual(['b']);
    rollups.release();
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['2', '2', '2', '1']);
  });

  test('wire 2: one is sent on each new stream and every interval, complete each time', async () => {
    const { time, cluster, offered, openStream, shardEvents } = start();
    cluster.list(request('a'), request('b'));
    await time.advance(60_000);
    expect(offered).toEqual([]);
    openStream();
    expect(cpus(offered)).toEqual(['2']);
    cluster.show(request('c', { spec: { priority: 7 } }));
    cluster.hide(request('b'));
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['2', '1,1']);
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    await time.advance(5 * INTERVAL_MS);
    expect(offered).toHaveLength(2);
    openStream();
    expect(offered.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('wire 2: an invalid request is excluded, counted and recorded once', async () => {
    const { time, cluster, offered, openStream, events, gauges } = start();
    const bad = request('bad', { spec: { resources: { cpu: 'lots' } } });
    cluster.list(request('a'), bad);
    cluster.show({ ...bad });
    openStream();
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['1', '1']);
    expect(gauges.get('tidegate_capacity_requests_unreadable')).toBe(1);
    expect(events).toEqual([{
      regarding: {
        apiVersion: 'bigfleet.lucy.sh/v1alpha1',
        kind: 'CapacityRequest',
        namespace: 'ns',
        name: 'bad',
        uid: 'uid-bad',
      },
      reason: 'InvalidCapacityRequest',
      note: expect.stringContaining('spec.resources'),
    }]);
  });

  test('the gauges follow the requests without a stream, and are 0 without the lease', async () => {
    const { time, cluster, openStream, shardEvents, leading, gauges } = start();
    const sizes = () =>
      ['', '_unreadable'].map((part) => gauges.get(`tidegate_capacity_requests${part}`));
    const bad = request('bad', { spec: { resources: { cpu: 'lots' } } });
    cluster.list(request('a'), bad);
    openStream();
    expect([...sizes(), gauges.get('tidegate_rollup_needs')]).toEqual([1, 1, 1]);
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    cluster.show(request('bad', { version: '2' }));
    expect(sizes()).toEqual([2, 0]);
    cluster.show({ ...bad });
    expect(sizes()).toEqual([2, 1]);
    leading.next(false);
    await time.settle();
    expect([...sizes(), gauges.get('tidegate_rollup_needs')]).toEqual([0, 0, 0]);
  });

  test('wire 2: a request that is too large is excluded and has its own Event', async () => {
    const { time, cluster, offered, openStream, events } = start();
    const names = Array.from({ length: 40_000 }, (_, index) => [`example.com/r${index}`, '1']);
    const large = request('large', { spec: { resources: Object.fromEntries(names) } });
    cluster.list(request('a'), large);
    openStream();
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['1', '1']);
    expect(events).toEqual([
      expect.objectContaining({
        reason: 'CapacityRequestTooLarge',
        note: expect.stringContaining('spec.resources has 40000 entries, more than 64'),
      }),
    ]);
  });

  test('wire 5: a request that becomes invalid keeps its last valid reading until it is deleted', async () => {
    const { time, cluster, offered, openStream, events } = start();
    cluster.list(request('a', { spec: { resources: { cpu: '3' } } }));
    openStream();
    cluster.show(request('a', { spec: { resources: { cpu: '-3' } }, version: '2' }));
    await time.advance(INTERVAL_MS);
    cluster.hide(request('a'));
    await time.advance(INTERVAL_MS);
    expect(cpus(offered)).toEqual(['3', '3', '']);
    expect(events).toHaveLength(1);
  });

  test('wire 5: the Warning says whether the last valid version of an invalid request counts', () => {
    const { cluster, events } = start();
    const bad = { spec: { resources: { cpu: '-3' } } };
    cluster.list(
      request('turned'),
      request('known', { phase: 'Acknowledged', ...bad }),
      request('new', { phase: 'Pending', ...bad }),
    );
    cluster.show(request('turned', { version: '2', phase: 'Acknowledged', ...bad }));
    const problem = 'spec.resources["cpu"] is "-3", which is negative. Give zero or more';
    expect(events.map(({ regarding: { name }, note }) => [name, note])).toEqual([
      [
        'known',
        `${problem}. It does not count: this process does not know its last valid version`,
      ],
      ['new', problem],
      ['turned', `${problem}. Its last valid version still counts, until this process ends`],
    ]);
  });

  test('wire 5: a Warning with long problems still says whether the last valid version counts', () => {
    const { cluster, events } = start();
    cluster.list(request('turned'));
    const names = ['一', '二', '三', '四', '五'].map((letter) => letter.repeat(100));
    const resources = Object.fromEntries(names.map((name) => [name, '-1']));
    cluster.show(request('turned', { version: '2', spec: { resources } }));
    const [note = ''] = events.map((event) => event.note);
    expect(new TextEncoder().encode(note).length).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^spec\.resources.*… Its last valid version still counts, until/);
  });

  test('a standby defers its Events until it leads', () => {
    const { cluster, leading, events } = start();
    leading.next(false);
    cluster.list(
      request('bad', { spec: { resources: {}, priority: 'high' } }),
      request('mended', { spec: { priority: 'x' } }),
    );
    cluster.show(request('mended', { version: '2' }));
    expect(events).toEqual([]);
    leading.next(true);
    expect(events.map(({ regarding }) => regarding.name)).toEqual(['bad']);
  });

  test('a standby forgets the Event of a request that a new list shows valid', () => {
    const { cluster, leading, events } = start();
    leading.next(false);
    cluster.list(request('mended', { spec: { priority: 'x' } }));
    cluster.list(request('mended', { version: '2' }));
    leading.next(true);
    expect(events).toEqual([]);
  });
});
