/**
 * The role evictions in a cluster with very many EvictionRequests, most of them final: it lists
 * them in pages, and an actor and its memory are spent on open ones only.
 */
import { expect, it, onTestFinished } from 'vitest';
import { memoryOf } from '../bench/bench-process.ts';
import { startRequestCluster, startRequestsRole, untilServing } from '../bench/requests-process.ts';
import { atScale } from '../support/scale.ts';

const COUNTS = atScale({ commit: 15_000, release: 150_000 });
const OPEN = 1000;
/** Of the objects of a page, whatever their size. */
const PAGE_OBJECTS_MAX = 500;
const GIBIBYTE = 2 ** 30;
const HEAP_MEBIBYTES = 1400;

it('serves a thousand open EvictionRequests among 150,000 within 2 GiB, and lists them in pages', async () => {
  const cluster = await startRequestCluster({ requests: COUNTS, open: OPEN, pods: COUNTS });
  onTestFinished(cluster.end);
  const role = await startRequestsRole(cluster, HEAP_MEBIBYTES);
  onTestFinished(role.end);
  await untilServing(role, OPEN);
  expect(await role.metric('leader_election_master_status')).toBe(1);
  expect(await role.metric('tidegate_watch_objects', { resource: 'evictionrequests' })).toBe(
    COUNTS,
  );
  const seen = await cluster.seen();
  expect(seen).toMatchObject({ unlimited: 0, largestLimit: PAGE_OBJECTS_MAX });
  expect(seen.pages).toBeGreaterThanOrEqual(COUNTS / PAGE_OBJECTS_MAX);
  // Each has the status and the labels that follow.
  expect(seen.writes).toBe(0);
  expect((await memoryOf(role.pid)).peak).toBeLessThan(2 * GIBIBYTE);
});
