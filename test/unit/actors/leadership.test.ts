/** Candidates for one lease, on simulated time, with network cuts. */
import { Layer, ManagedRuntime } from 'effect';
import { afterEach, describe, expect, it } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startLeadership } from '../../../src/actors/leadership.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { type LeaseTimes, leaseTimesProblem } from '../../../src/domain/lease.ts';
import { LEASE_TIMES } from '../../support/api/lease-times.ts';
import { type SimulatedTime, simulatedTime } from '../../support/time/simulated-time.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { leaseApi } from '../../support/api/lease-api.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Several processes on one clock; `clockOf` may give one its own wall clock. */
const bed = () => {
  const time = simulatedTime();
  const api = leaseApi();
  let made = 0;
  let suspendedMs = 0;
  const candidate = (
    wallClockOffsetMs = 0,
    opening: () => void = () => {},
    laterMs: () => number = () => 0,
  ) => {
    made += 1;
    const identity = `candidate-${made}`;
    const own: SimulatedTime = {
      ...time,
      now: () => time.now() + wallClockOffsetMs,
      monotonic: () => time.monotonic() + laterMs(),
    };
    const client = api.client();
    const real = makeWriteGate(own, { wallClock: own.now, suspendedMs: () => suspendedMs });
    const gate: WriteGate['Service'] = {
      ...real,
      openUntil: (deadlineMs) => {
        opening();
        real.openUntil(deadlineMs);
      },
    };
    const runtime = ManagedRuntime.make(Layer.mergeAll(
      Layer.succeed(KubeApi, client.service),
      Layer.succeed(WriteGate, gate),
      clockLayer(own),
    ));
    cleanups.push(() => runtime.dispose());
    const logged: string[] = [];
    const causes: unknown[] = [];
    const statuses: number[] = [];
    const environment = makeActorEnvironment({
      time: own,
      runtime,
      telemetry: {
        ...silentTelemetry,
        log: (_level, message, fields) => {
          if (fields?.['lease'] === undefined) return;
          logged.push(message);
          const cause = fields['why'] ?? fields['problem'];
          if (cause !== undefined) causes.push(cause);
        },
        gauge: (name, value, ..._labels) => {
          if (name === 'leader_election_master_status') statuses.push(value);
        },
      },
      firstSeed: made,
    });
    const options = { identity, namespace: 'ns', name: 'l', ...LEASE_TIMES };
    const leadership = startLeadership(environment, options);
    const published: boolean[] = [];
    leadership.leading.subscribe((leads) => published.push(leads));
    cleanups.push(() => {
      leadership.actor?.stop();
      return Promise.resolve();
    });
    const state = () => String(JSON.stringify(leadership.actor?.getSnapshot().value));
    return { identity, client, gate, leadership, published, logged, causes, statuses, state };
  };
  const suspend = (ms: number): void => {
    suspendedMs += ms;
  };
  return { time, api, candidate, suspend };
};

describe('a candidate', () => {
  it('creates the lease, leads, and keeps it', async () => {
    const { time, api, candidate } = bed();
    const one = candidate();
    await time.settle();
    expect(one.leadership.leads()).toBe(true);
    await time.advance(60_000);
    expect(one.published).toEqual([false, true]);
    expect(api.spec()).toMatchObject({
      holderIdentity: 'candidate-1',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
    });
  });

  // The timers of its drains had stood still, and ended them late.
  it('DR-16: leads anew after its machine was suspended', async () => {
    const { time, candidate, suspend } = bed();
    const one = candidate();
    await time.advance(5000);
    suspend(1000);
    await time.advance(5000);
    expect(one.published).toEqual([false, true]);
    suspend(60_000);
    await time.advance(10_000);
    expect(one.published).toEqual([false, true, false, true]);
  });

  it('does not lead by an answer that waited while its machine was suspended', async () => {
    const { time, candidate, suspend } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('unreachable');
    await time.advance(20_000);
    one.client.meets('slow');
    await time.advance(2500);
    expect(one.state()).toBe('"acquiring"');
    suspend(60_000);
    await time.advance(2000);
    expect(one.published).toEqual([false, true, false]);
    expect(one.leadership.failure()).toBe('the machine was suspended');
    await time.advance(10_000);
    expect(one.leadership.leads()).toBe(true);
  });

  it('names the cause once when it can never acquire the lease', async () => {
    const { time, api, candidate } = bed();
    api.permitCreation(false);
    const one = candidate();
    await time.advance(60_000);
    expect(one.logged).toEqual(['Cannot acquire the lease']);
    expect(one.causes).toEqual(['leases is forbidden']);
    expect(one.leadership.failure()).toBe('leases is forbidden');
    api.permitCreation(true);
    await time.advance(5000);
    expect(one.leadership.failure()).toBeUndefined();
    expect(one.logged.at(-1)).toBe('Became leader');
  });

  it('stands by while another process leads', async () => {
    const { time, candidate } = bed();
    candidate();
    await time.settle();
    const two = candidate();
    await time.advance(120_000);
    expect(two.published).toEqual([false]);
    expect(two.state()).toBe('"standby"');
    expect(two.client.requests.length).toBeLessThan(5);
  });

  it('takes over at once when the leader releases', async () => {
    const { time, api, candidate } = bed();
    const one = candidate();
    await time.settle();
    const two = candidate();
    await time.advance(5000);
    const before = time.monotonic();
    await Promise.all([one.leadership.release(), time.settle()]);
    await time.settle();
    expect(two.leadership.leads()).toBe(true);
    expect(time.monotonic()).toBe(before);
    expect(api.spec()).toMatchObject({ holderIdentity: 'candidate-2', leaseTransitions: 1 });
    expect(one.published).toEqual([false, true, false]);
    expect(one.gate.permit()._tag).toBe('Closed');
  });

  it('reports that it leads, that it lost the lease, and that it gives it back', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    expect(one.logged).toEqual(['Became leader']);
    one.client.meets('unreachable', true);
    await time.advance(20_000);
    one.client.meets('fair');
    await time.advance(60_000);
    await Promise.all([one.leadership.release(), time.settle()]);
    expect(one.logged).toEqual([
      'Became leader',
      'Lost leadership',
      'Cannot acquire the lease',
      'Became leader',
      'Releasing the lease',
    ]);
    expect(one.causes).toEqual(['the lease was not renewed in time', 'unreachable']);
    expect(one.statuses).toEqual([0, 1, 0, 1, 0]);
  });

  it('takes over from a dead leader within the lease duration, never before', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    const two = candidate();
    await time.advance(5000);
    one.leadership.actor?.stop();
    await time.advance(12_000);
    expect(two.leadership.leads()).toBe(false);
    await time.advance(4000);
    expect(two.leadership.leads()).toBe(true);
  });

  // Retries followed every two seconds, whatever the API server requested.
  it('waits for Retry-After of a renewal, and still tries once more before its deadline', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('throttled', false);
    const before = one.client.requests.length;
    await time.advance(6900);
    expect(one.client.requests.length - before).toBe(1);
    one.client.meets('fair');
    await time.advance(200);
    expect(one.client.requests.length - before).toBe(2);
    await time.advance(5000);
    expect(one.published).toEqual([false, true]);
  });

  it('waits for Retry-After of a request for the lease, at most for its duration', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    one.client.meets('throttled', false);
    await time.advance(60_000);
    expect(one.client.requests.filter((method) => method === 'GET').length).toBeLessThan(8);
    one.client.meets('fair');
    await time.advance(15_100);
    expect(one.leadership.leads()).toBe(true);
  });

  it('never compares clocks: a wall clock that is hours off changes nothing', async () => {
    const { time, candidate } = bed();
    const one = candidate(-7 * 3_600_000);
    await time.settle();
    const two = candidate(5 * 3_600_000);
    await time.advance(60_000);
    expect([one.leadership.leads(), two.leadership.leads()]).toEqual([true, false]);
  });

  it('takes over without a watch, by its local clock', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    const two = candidate();
    await time.advance(5000);
    two.client.meets('deaf');
    one.leadership.actor?.stop();
    await time.advance(31_000);
    expect(two.leadership.leads()).toBe(true);
  });

  it('keeps waiting when the leader renewed unobserved', async () => {
    const { time, candidate } = bed();
    candidate();
    await time.settle();
    const two = candidate();
    await time.settle();
    // It learns of renewals only from its own reads, one per expiry.
    two.client.meets('deaf');
    await time.advance(120_000);
    expect(two.published).toEqual([false]);
  });
});

describe('a leader', () => {
  it('DR-15: writes nothing after its renew deadline, then becomes a candidate again', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.advance(5000);
    const lastRenewal = 4000;
    one.client.meets('unreachable');
    await time.advance(lastRenewal + LEASE_TIMES.renewMs - 5000 - 1);
    expect([one.leadership.leads(), one.gate.permit()._tag]).toEqual([true, 'Open']);
    await time.advance(1);
    expect([one.leadership.leads(), one.gate.permit()._tag]).toEqual([false, 'Closed']);
    expect(one.published).toEqual([false, true, false]);
    one.client.meets('fair');
    await time.advance(3000);
    expect(one.leadership.leads()).toBe(true);
  });

  it('says that it is stalled when it still leads a lease time after its renew deadline', async () => {
    const { time, candidate } = bed();
    let laterMs = 0;
    const one = candidate(0, () => {}, () => laterMs);
    await time.advance(60_000);
    expect(one.leadership.stalled()).toBeUndefined();
    // Timers that never fire: the clock goes on, the statechart stays.
    laterMs = LEASE_TIMES.renewMs + LEASE_TIMES.leaseMs + 1;
    expect(one.leadership.stalled()).toMatch(/^leading without a renewal for \d+ s/);
  });

  it('DR-15: counts the deadline from when the last successful renewal was sent', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('hanging');
    await time.advance(LEASE_TIMES.renewMs - 1);
    expect(one.gate.permit()._tag).toBe('Open');
    await time.advance(1);
    expect(one.gate.permit()._tag).toBe('Closed');
  });

  it('is never one of two, whichever connections are cut', async () => {
    const { time, candidate } = bed();
    const all = [candidate(), candidate(3_600_000), candidate(-3_600_000)];
    const weathers = ['fair', 'deaf', 'unreachable', 'answers lost', 'hanging'] as const;
    let seed = 42;
    const draw = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    let led = 0;
    for (let step = 0; step < 600; step += 1) {
      const weather = weathers[draw(8)] ?? 'fair';
      all[draw(3)]?.client.meets(weather, draw(2) === 0);
      await time.advance(draw(4000));
      const leaders = all.filter(({ gate }) => gate.permit()._tag === 'Open');
      expect(leaders.length).toBeLessThanOrEqual(1);
      led += leaders.length;
    }
    expect(led).toBeGreaterThan(200);
  });

  it('keeps the lease when a renewal landed and its answer was lost', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.advance(1000);
    one.client.meets('answers lost', false);
    await time.advance(2000);
    one.client.meets('fair', false);
    await time.advance(20_000);
    expect(one.published).toEqual([false, true]);
  });

  it('steps down when another process has taken the lease', async () => {
    const { time, api, candidate } = bed();
    const one = candidate();
    await time.settle();
    api.overwrite({ holderIdentity: 'stranger', leaseDurationSeconds: 15 });
    await time.advance(2000);
    expect(one.leadership.leads()).toBe(false);
    expect(one.state()).toBe('"standby"');
    expect(one.causes).toEqual(['stranger holds it']);
    await time.advance(15_000);
    expect(one.leadership.leads()).toBe(true);
  });

  it('DR-15: keeps leading when one renewal gets no answer', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('hanging', false);
    await time.advance(3000);
    one.client.meets('fair');
    await time.advance(30_000);
    expect(one.published).toEqual([false, true]);
  });

  it('creates the lease again when it was deleted', async () => {
    const { time, api, candidate } = bed();
    const one = candidate();
    await time.settle();
    api.remove();
    await time.advance(2000);
    expect([one.leadership.leads(), api.holder()]).toEqual([true, 'candidate-1']);
    expect(one.published).toEqual([false, true]);
  });
});

describe('a candidacy that crashes', () => {
  /** A candidate whose renewals crash while `broken` is true. */
  const fragile = () => {
    const all = bed();
    const planted = { broken: false };
    const one = all.candidate(0, () => {
      if (planted.broken) throw new Error('planted');
    });
    return { ...all, one, planted };
  };

  it('allows no write until it leads again', async () => {
    const { time, one, planted } = fragile();
    await time.settle();
    planted.broken = true;
    await time.advance(2100);
    expect([one.leadership.leads(), one.gate.permit()._tag]).toEqual([false, 'Closed']);
    planted.broken = false;
    await time.advance(5000);
    expect([one.leadership.leads(), one.gate.permit()._tag]).toEqual([true, 'Open']);
    expect(one.published).toEqual([false, true, false, true]);
  });

  it('DR-15: allows no write when it crashes while it leads', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('broken', false);
    await time.advance(2100);
    expect(one.leadership.actor).toBeUndefined();
    expect(one.gate.permit()._tag).toBe('Closed');
  });

  it('is restarted with growing backoff while it keeps crashing', async () => {
    const { time, one, planted } = fragile();
    await time.settle();
    planted.broken = true;
    await time.advance(300_000);
    const before = one.client.requests.length;
    await time.advance(60_000);
    expect(one.client.requests.length - before).toBeLessThan(20);
    expect(one.leadership.leads()).toBe(false);
  });

  it('ends at once when it is released while it awaits its restart', async () => {
    const { time, one, planted } = fragile();
    await time.settle();
    planted.broken = true;
    await time.advance(2100);
    await one.leadership.release();
    expect(one.leadership.actor).toBeUndefined();
    expect(time.pending()).toBe(0);
  });
});

describe('a release', () => {
  it('leaves a lease of another process alone', async () => {
    const { time, api, candidate } = bed();
    candidate();
    await time.settle();
    const two = candidate();
    await time.settle();
    await two.leadership.release();
    expect(api.holder()).toBe('candidate-1');
  });

  it('is given up after ten seconds when the server is away', async () => {
    const { time, candidate } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('unreachable');
    let released = false;
    void one.leadership.release().then(() => released = true);
    await time.advance(9900);
    expect([released, one.gate.permit()._tag]).toEqual([false, 'Closed']);
    await time.advance(200);
    expect(released).toBe(true);
    expect(time.pending()).toBe(0);
  });

  it('is retried after a failure', async () => {
    const { time, api, candidate } = bed();
    const one = candidate();
    await time.settle();
    one.client.meets('unreachable');
    const released = one.leadership.release();
    await time.settle();
    one.client.meets('fair');
    await time.advance(500);
    await released;
    expect(api.holder()).toBe('');
  });
});

describe('the times of a lease', () => {
  it('must be consistent', () => {
    const problem = (times: Partial<LeaseTimes>) => leaseTimesProblem({ ...LEASE_TIMES, ...times });
    expect(problem({})).toBeUndefined();
    expect(problem({ leaseMs: 10_000 })).toBe('RenewDeadlineTooLong');
    expect(problem({ retryMs: 5000 })).toBeUndefined();
    expect(problem({ retryMs: 5001 })).toBe('RetryPeriodTooLong');
  });
});
