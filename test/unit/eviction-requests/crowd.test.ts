/**
 * A thousand open EvictionRequests of fifteen interceptors each, on simulated time.
 *
 * Every commit plays 30 requests, because a thousand take most of a minute: 31,000 writes of the
 * status, each a server-side apply on the embedded cluster.
 */
import { describe, expect, test } from 'vitest';
import { type CrowdOptions, mixedCrowd, requestCrowd } from '../../simulation/request-crowd.ts';
import type { HandOver } from '../../simulation/crowd-history.ts';
import { atScale } from '../../support/scale.ts';

const REQUESTS = atScale({ commit: 30, release: 1000 });
const INTERCEPTORS = 15;
/** The defaults. */
const QPS = 200;
const BURST = 400;
const DEADLINE_MS = 1_200_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
/** Until another process leads after a kill: the expiry of the lease, and the lists. */
const TAKEOVER_MS = 20_000;
/** Of real time: a thousand on a busy machine. */
const PATIENCE_MS = 900_000;

const crowdOf = (options: Partial<CrowdOptions> = {}) =>
  requestCrowd({
    requests: REQUESTS,
    interceptors: INTERCEPTORS,
    heartbeatsOf: mixedCrowd,
    qps: QPS,
    burst: BURST,
    ...options,
  });

type Crowd = ReturnType<typeof crowdOf>;

const lateMs = ({ atMs, deadlineMs }: HandOver): number => atMs - (deadlineMs ?? atMs);

/** The hand-overs by deadline. */
const timedOut = ({ history }: Crowd): readonly HandOver[] =>
  history.handOvers.filter(({ deadlineMs }) => deadlineMs !== null);

const worstMs = (handOvers: readonly HandOver[]): number =>
  handOvers.reduce((worst, one) => Math.max(worst, lateMs(one)), 0);

describe('a crowd of requests that are made at one moment', { timeout: PATIENCE_MS }, () => {
  test('is handed over within a second of each deadline, for one status write a second a request', async () => {
    const crowd = crowdOf();
    crowd.create();
    crowd.start();
    await crowd.time.advance((INTERCEPTORS + 1.9) * DEADLINE_MS);
    const { history } = crowd;
    const over = timedOut(crowd);
    // Each of them but those that finish at once: every fifteenth.
    expect(over.length).toBe(REQUESTS * INTERCEPTORS * 14 / 15);
    expect(over.filter((one) => lateMs(one) < 0)).toEqual([]);
    expect(worstMs(over)).toBeLessThanOrEqual(SECOND_MS);
    expect(history.mostInASecond()).toBe(1);
    expect([...history.statuses].filter(({ final }) => final).length).toBe(REQUESTS);
    await crowd.stop();
  });

  test('loses and resets no deadline when its controller is killed, at rest and as they fall due', async () => {
    const crowd = crowdOf({ interceptors: 3, heartbeatsOf: () => 0 });
    crowd.create();
    crowd.start();
    // At rest: nothing falls due while nobody leads.
    await crowd.time.advance(10 * MINUTE_MS);
    crowd.kill();
    crowd.start();
    await crowd.time.advance(DEADLINE_MS - 5 * MINUTE_MS);
    expect(timedOut(crowd).length).toBe(REQUESTS);
    expect(worstMs(timedOut(crowd))).toBeLessThanOrEqual(SECOND_MS);
    // All second deadlines fall due while nobody leads.
    const [first] = timedOut(crowd);
    await crowd.time.advance((first?.atMs ?? 0) + DEADLINE_MS - SECOND_MS - crowd.time.now());
    const killedMs = crowd.time.now();
    crowd.kill();
    crowd.start();
    await crowd.time.advance(10 * MINUTE_MS);
    const second = timedOut(crowd).slice(REQUESTS);
    expect(new Set(second.map(({ uid }) => uid)).size).toBe(REQUESTS);
    expect(second.length).toBe(REQUESTS);
    const missed = second.filter(({ atMs }) => atMs > killedMs);
    const lastMs = Math.max(...missed.map(({ atMs }) => atMs));
    expect(missed.length).toBeGreaterThan(REQUESTS / 2);
    // The write budget alone holds them up.
    expect(lastMs - killedMs).toBeLessThan(TAKEOVER_MS + REQUESTS / QPS * SECOND_MS);
    expect(crowd.history.mostInASecond()).toBe(1);
    await crowd.stop();
  });

  test('waits for the write budget when all its interceptors fall silent at one moment', async () => {
    const crowd = crowdOf({ interceptors: 1, heartbeatsOf: () => 2, reportsTogether: true });
    crowd.create();
    crowd.start();
    await crowd.time.advance(2 * DEADLINE_MS);
    const over = timedOut(crowd);
    expect(over.length).toBe(REQUESTS);
    expect(new Set(over.map(({ deadlineMs }) => deadlineMs)).size).toBe(1);
    const budgetMs = Math.max(0, REQUESTS - BURST) / QPS * SECOND_MS;
    expect(worstMs(over)).toBeLessThanOrEqual(2 * budgetMs + SECOND_MS);
    await crowd.stop();
  });
});
