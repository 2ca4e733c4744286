/** What a maintenance of many full nodes asks of the API server; `npm run bench -- maintenance`. */
import { expect, test } from 'vitest';
import { maintenanceCrowd } from '../../simulation/node-maintenance-crowd.ts';
import { atScale } from '../../support/scale.ts';

const NODES = atScale({ commit: 16, release: 40 });
const PODS_OF_NODE = 10;
const PODS = NODES * PODS_OF_NODE;
const SIZE = { nodes: NODES, podsOfNode: PODS_OF_NODE, replicas: 20, atOnce: 4 };
/** Statuses of few nodes are written at most so often. */
const STATUS_MS = 500;

test('NM-42: a maintenance of many nodes needs one request for each pod and six for each node', async () => {
  const crowd = await maintenanceCrowd(SIZE);
  const { counts, time } = crowd;
  await crowd.plan();
  expect(counts.drain()).toMatchObject({ 'patch nodes/status': NODES });
  counts.reset();
  const startMs = time.monotonic();
  crowd.enter('Drain');
  await crowd.until('every node is drained', () => crowd.is('Drained'));
  crowd.enter('Complete');
  await crowd.until('it is completed', () => crowd.is('Completed'));
  const elapsedMs = time.monotonic() - startMs;
  await time.advance(1000);
  const {
    'patch nodemaintenances/status': statuses = 0,
    'patch nodes/status': conditions = 0,
    ...drain
  } = counts.drain();
  expect(drain).toEqual({
    'get nodemaintenances': 1,
    // The finalizer.
    'patch nodemaintenances': 2,
    // Its cordon.
    'patch nodes': NODES,
    'post pods/eviction': PODS,
  });
  // The drain is in progress, has ended, and the node is drained; the last ones may be given back.
  expect(conditions).toBeLessThanOrEqual(3 * NODES);
  expect(conditions).toBeGreaterThanOrEqual(3 * NODES - SIZE.atOnce);
  expect(statuses).toBeLessThanOrEqual(elapsedMs / STATUS_MS);
  expect(counts.returns()).toEqual({
    'patch nodes, back into service': NODES,
    'patch nodes/status, back into service': NODES,
  });
  expect(counts.refused()).toEqual({});
  expect(counts.reasons()).toEqual({ DrainFinished: NODES, DrainStarted: NODES });
  crowd.stop();
});
