/** What drains of reclaims do with pods whose data is on their Node only. */
import { afterEach, expect, test } from 'vitest';
import { annotationOf } from '../../../src/domain/drain/cordon.ts';
import {
  ACKNOWLEDGED_KEY,
  type LocalVolumes,
  printAcknowledgement,
} from '../../../src/domain/drain/kept-pods.ts';
import { rfc3339 } from '../../../src/domain/time.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const HOST_PATH = [{ name: 'disk', hostPath: { path: '/d' } }];

/** A reclaimed Node with a pod on its disk and two others. */
const reclaimed = async (localVolumes?: LocalVolumes, graceSeconds = 600) => {
  const rig = drainRig(localVolumes === undefined ? {} : { localVolumes });
  stops.push(rig.stop);
  rig.node('n1');
  rig.pods.add({ node: 'n1', name: 'db', priority: 10, volumes: HOST_PATH });
  rig.pods.add({ node: 'n1', name: 'web' });
  rig.pods.add({ node: 'n1', name: 'api', priority: 5 });
  rig.order('i1', ['n1'], graceSeconds);
  await rig.time.advance(60_000);
  return rig;
};

test.each([undefined, 'evict'] as const)(
  'RS-11: the drain of a reclaim evicts a pod with local data by default (%s)',
  async (localVolumes) => {
    const { log, phases } = await reclaimed(localVolumes);
    expect(log.filter((line) => line.startsWith('evict'))).toEqual([
      'evict web',
      'evict api',
      'evict db',
    ]);
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
  },
);

test('RS-11: with --local-volumes=keep it keeps the pod, and fails at the deadline naming it', async () => {
  const { log, state, conditions, time, reported } = await reclaimed('keep', 300);
  expect(log.filter((line) => line.startsWith('evict'))).toEqual(['evict web', 'evict api']);
  expect(state('n1')).toEqual({ underway: { draining: 'waitingForAcknowledgement' } });
  expect(conditions.at(-1)).toMatchObject({ status: 'True', reason: 'StatefulLocalVolume' });
  await time.advance(300_000);
  expect(reported.at(-1)?.fact).toEqual({
    _tag: 'Failed',
    lastError: '1 pod remains: ns/db (data only on this node: volume "disk")',
  });
  expect(log.filter((line) => line === 'evict db')).toEqual([]);
});

test('RS-12: with --local-volumes=keep an acknowledged drain of a reclaim is complete', async () => {
  const { nodes, node, time, phases, conditions, gauges } = await reclaimed('keep');
  expect(gauges.get('tidegate_drains')).toBe(1);
  const known = nodes.known('n1');
  const annotation = known && annotationOf(known, 'reclaim');
  if (known === undefined || annotation === undefined) throw new Error('no drain');
  const text = printAcknowledgement({
    drains: { reclaim: rfc3339(annotation.sinceMs) },
    pods: ['uid-1'],
    why: '',
  });
  node('n1', {
    metadata: {
      name: 'n1',
      uid: known.uid,
      annotations: {
        'cordon.tidegate.dev/reclaim': known.cordons['reclaim'],
        [ACKNOWLEDGED_KEY]: text,
      },
    },
    spec: { unschedulable: true },
  });
  await time.advance(5000);
  expect(phases('n1').at(-1)).toBe('Drained');
  expect(conditions.at(-1)?.message)
    .toBe('All other pods are gone; stays, as was acknowledged: ns/db');
});
