/** The budget of writes and its gate, on simulated time. */
import { Effect, Exit, Layer, ManagedRuntime, Result } from 'effect';
import { afterEach, describe, expect, it } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { type KubeAnswer, KubeApi, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { type WriteClass, Writes } from '../../../src/effects/writes.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A budget over an API server that takes `connectMs` to connect. */
const bed = (qps: number, burst: number, connectMs = 0) => {
  const counted: string[] = [];
  /** How many writes wait, by class. */
  const depths = new Map<string, number>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    gauge: (_name, value, ...labels) => {
      depths.set(Object.values(labels[0] ?? {}).join(), value);
    },
    count: (name, _by, ...labels) => {
      counted.push(`${name} ${JSON.stringify(labels[0])}`);
    },
  };
  const time = simulatedTime();
  const gate = makeWriteGate(time);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const sent: { readonly path: string; readonly atMs: number }[] = [];
  const server: { there: boolean; tried: number; answer: KubeAnswer } = {
    there: true,
    tried: 0,
    answer: { status: 200, body: {} },
  };
  const api = Layer.succeed(KubeApi, {
    call: (call: KubeCall) =>
      Effect.gen(function* () {
        if (connectMs > 0) yield* Effect.sleep(connectMs);
        server.tried += 1;
        if (!server.there) return yield* new NotSent({ why: 'connection refused' });
        if (call.mayLeave?.() === false) return yield* new NotSent({ why: 'held back' });
        sent.push({ path: call.path, atMs: time.monotonic() });
        return server.answer;
      }),
    watch: () => Effect.never,
  });
  const layer = writeBudget({ qps, burst, telemetry, waitingMax: 10 }).pipe(
    Layer.provide(Layer.mergeAll(api, Layer.succeed(WriteGate, gate))),
    Layer.provideMerge(clockLayer(time)),
  );
  const runtime = ManagedRuntime.make(layer);
  cleanups.push(() => runtime.dispose());
  /** The result of a write: `sent`, the tag of its fault, or `interrupted`. */
  const send = async (writeClass: WriteClass, path: string, signal?: AbortSignal) => {
    const exit = await runtime.runPromiseExit(
      Effect.result(Writes.use((writes) => writes.send(writeClass, { method: 'PATCH', path }))),
      signal === undefined ? {} : { signal },
    );
    if (Exit.isFailure(exit)) return 'interrupted';
    return Result.isFailure(exit.value) ? exit.value.failure._tag : 'sent';
  };
  const paths = () => sent.map(({ path }) => path);
  return { time, gate, sent, send, server, counted, depths, paths };
};

describe('the write budget', () => {
  it('lets a burst through at once and then limits the rate', async () => {
    const { time, sent, send } = bed(10, 5);
    const all = Array.from({ length: 15 }, (_, n) => send('phase', `/${n}`));
    await time.settle();
    expect(sent.length).toBe(5);
    await time.advance(500);
    expect(sent.length).toBe(10);
    await time.advance(500);
    expect(sent.length).toBe(15);
    expect(await Promise.all(all)).toEqual(all.map(() => 'sent'));
  });

  it('shows how many writes of each class wait, also before the first', async () => {
    const { time, depths, send } = bed(10, 1);
    await send('phase', '/first');
    expect(Object.fromEntries(depths))
      .toEqual({ phase: 0, eviction: 0, demand: 0, request: 0, event: 0 });
    for (let n = 0; n < 3; n += 1) void send('event', `/${n}`);
    await time.settle();
    expect(depths.get('event')).toBe(3);
    await time.advance(1000);
    expect(depths.get('event')).toBe(0);
  });

  it('saves no more than one burst over an idle time', async () => {
    const { time, sent, send } = bed(10, 3);
    await send('phase', '/first');
    await time.advance(60_000);
    for (let n = 0; n < 10; n += 1) void send('phase', `/${n}`);
    await time.settle();
    expect(sent.length).toBe(1 + 3);
  });

  it('saves a burst after a queue, too', async () => {
    const { time, sent, send } = bed(10, 3);
    for (let n = 0; n < 6; n += 1) void send('phase', `/queued-${n}`);
    await time.advance(60_000);
    for (let n = 0; n < 10; n += 1) void send('phase', `/${n}`);
    await time.settle();
    expect(sent.length).toBe(6 + 3);
  });

  it('DR-36: a higher class goes first, and a class is FIFO', async () => {
    const { time, send, paths } = bed(10, 1);
    void send('event', '/token');
    await time.settle();
    const late: [WriteClass, string][] = [
      ['event', '/event-1'],
      ['request', '/request-1'],
      ['demand', '/demand-1'],
      ['eviction', '/eviction-1'],
      ['event', '/event-2'],
      ['phase', '/phase-1'],
      ['phase', '/phase-2'],
    ];
    for (const [writeClass, path] of late) void send(writeClass, path);
    await time.advance(1000);
    expect(paths()).toEqual([
      '/token',
      '/phase-1',
      '/phase-2',
      '/eviction-1',
      '/demand-1',
      '/request-1',
      '/event-1',
      '/event-2',
    ]);
  });

  it('gives the place of an interrupted write to the next one', async () => {
    const { time, send, paths } = bed(10, 1);
    void send('phase', '/token');
    const abort = new AbortController();
    const given = send('phase', '/given-up', abort.signal);
    void send('phase', '/next');
    await time.settle();
    abort.abort();
    await given;
    await time.advance(100);
    expect(paths()).toEqual(['/token', '/next']);
  });
});

describe('the floors of the write budget', () => {
  it('DR-36: a storm of phases leaves every fourth write to evictions', async () => {
    const { time, send, paths } = bed(10, 1);
    void send('phase', '/token');
    await time.settle();
    for (let n = 0; n < 2; n += 1) void send('eviction', '/eviction');
    for (let n = 0; n < 10; n += 1) void send('phase', '/phase');
    for (let turn = 0; turn < 8; turn += 1) {
      await time.advance(100);
      // The storm goes on: each phase that leaves is followed by another.
      void send('phase', '/phase');
    }
    expect(paths().slice(1)).toEqual([
      ...['/phase', '/phase', '/phase', '/eviction'],
      ...['/phase', '/phase', '/phase', '/eviction'],
    ]);
  });

  it('every class that waits goes once in 16 writes, and the most urgent one most often', async () => {
    const { time, send, paths } = bed(1000, 1);
    const all: readonly WriteClass[] = ['phase', 'eviction', 'demand', 'request', 'event'];
    const keepFull = (writeClass: WriteClass): void =>
      void send(writeClass, writeClass).then((end) => end === 'sent' && keepFull(writeClass));
    for (const writeClass of all) for (let n = 0; n < 5; n += 1) keepFull(writeClass);
    await time.advance(160);
    const counts = all.map((writeClass) => paths().filter((path) => path === writeClass).length);
    expect(counts[0]).toBeGreaterThanOrEqual(65);
    expect(counts[1]).toBeGreaterThanOrEqual(35);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(9);
  });
});

describe('Retry-After', () => {
  const throttled: KubeAnswer = { status: 429, body: {}, retryAfterSeconds: 7 };
  const unavailable: KubeAnswer = { ...throttled, status: 503 };

  it.each(['phase', 'demand', 'request', 'event'] as const)(
    'of a 429 holds up the writes of class %s, and only those',
    async (writeClass) => {
      const { time, send, sent, server } = bed(1000, 100);
      server.answer = throttled;
      await send(writeClass, '/first');
      server.answer = { status: 200, body: {} };
      const others = ['phase', 'eviction', 'request'] as const;
      void send(writeClass, '/second');
      for (const other of others) if (other !== writeClass) void send(other, '/other');
      await time.advance(200);
      expect(sent.filter(({ path }) => path === '/second')).toEqual([]);
      expect(sent.filter(({ path }) => path === '/other').length).toBeGreaterThan(1);
      await time.advance(7000);
      expect(sent.find(({ path }) => path === '/second')?.atMs).toBeGreaterThanOrEqual(7000);
    },
  );

  it('of a 503 holds up evictions; that of a 429 is for one pod', async () => {
    const { time, send, paths, server } = bed(1000, 100);
    server.answer = throttled;
    await send('eviction', '/one');
    server.answer = unavailable;
    await send('eviction', '/two');
    void send('eviction', '/three');
    await time.advance(6900);
    expect(paths()).toEqual(['/one', '/two']);
    await time.advance(200);
    expect(paths()).toEqual(['/one', '/two', '/three']);
  });

  it('takes no token while all that wait are held up', async () => {
    const { time, send, sent, server } = bed(10, 5);
    server.answer = throttled;
    await send('phase', '/first');
    server.answer = { status: 200, body: {} };
    void send('phase', '/held');
    await time.advance(5000);
    for (let n = 0; n < 5; n += 1) void send('event', '/event');
    await time.advance(100);
    expect(sent.filter(({ path }) => path === '/event')).toHaveLength(5);
  });

  it('holds up a class for a minute at most', async () => {
    const { time, send, paths, server } = bed(1000, 100);
    server.answer = { ...unavailable, retryAfterSeconds: 1e9 };
    await send('phase', '/one');
    void send('phase', '/two');
    await time.advance(60_100);
    expect(paths()).toEqual(['/one', '/two']);
  });

  it('does not delay the refusal of a write without the lease', async () => {
    const { time, gate, send, server } = bed(1000, 100);
    server.answer = unavailable;
    await send('phase', '/one');
    const waiting = send('phase', '/two');
    await time.settle();
    gate.close('another process leads');
    await time.advance(200);
    expect(await waiting).toBe('NotLeader');
  });
});

describe('a full class of writes', () => {
  it('sends nothing more, fails and is counted; other classes continue', async () => {
    const { time, send, paths, counted } = bed(10, 1);
    const all = Array.from({ length: 12 }, (_, n) => send('event', `/${n}`));
    const urgent = send('phase', '/urgent');
    await time.advance(2000);
    expect((await Promise.all(all)).filter((outcome) => outcome === 'NotSent').length).toBe(1);
    expect(await urgent).toBe('sent');
    expect(paths().slice(0, 2)).toEqual(['/0', '/urgent']);
    expect(counted).toContain('tidegate_writes_total {"class":"event","outcome":"queue_full"}');
  });
});

describe('the write gate', () => {
  it('is closed until the lease is held', async () => {
    const { gate, send, sent } = bed(10, 10);
    gate.close('another process leads');
    expect(await send('phase', '/a')).toBe('NotLeader');
    expect(sent).toEqual([]);
  });

  it('closes by itself at its deadline, also when the wall clock stepped back', async () => {
    const time = simulatedTime();
    const gate = makeWriteGate(time);
    gate.openUntil(100);
    time.jumpWallClock(-3_600_000);
    expect(gate.permit()._tag).toBe('Open');
    await time.advance(100);
    expect(gate.permit()._tag).toBe('Closed');
  });

  // A suspended machine went on writing with a lease that another process had taken meanwhile.
  it('DR-15: is closed after a suspension in which the monotonic clock stood still', () => {
    const time = simulatedTime();
    const gate = makeWriteGate(time);
    gate.openUntil(10_000);
    time.jumpWallClock(9_999);
    expect(gate.permit()._tag).toBe('Open');
    time.jumpWallClock(1);
    expect(gate.permit()._tag).toBe('Closed');
    gate.openUntil(10_000);
    expect(gate.permit()._tag).toBe('Open');
  });

  it('DR-15: withholds a write that waited for the budget beyond the deadline', async () => {
    const { time, gate, send, paths } = bed(1, 1);
    gate.openUntil(1500);
    const all = ['/a', '/b', '/c'].map((path) => send('phase', path));
    await time.advance(5000);
    expect(await Promise.all(all)).toEqual(['sent', 'sent', 'NotLeader']);
    expect(paths()).toEqual(['/a', '/b']);
  });

  it('DR-15: once shut sends nothing, opens no more, and waits for requests in flight', async () => {
    const { time, gate, send, paths } = bed(10, 10, 2000);
    const early = send('phase', '/early');
    await time.settle();
    let isShut = false;
    const shut = gate.shut('this process is stopping').then(() => {
      isShut = true;
    });
    gate.openUntil(60_000);
    expect(gate.permit()).toEqual({ _tag: 'Closed', why: 'this process is stopping' });
    expect(await send('phase', '/late')).toBe('NotLeader');
    await time.advance(1000);
    expect(isShut).toBe(false);
    await time.advance(1000);
    await shut;
    expect(await early).toBe('NotLeader');
    expect(paths()).toEqual([]);
  });

  it('DR-15: withholds a write whose connection came beyond the deadline', async () => {
    const { time, gate, send, paths } = bed(10, 10, 2000);
    gate.openUntil(1500);
    const late = send('phase', '/late');
    await time.advance(5000);
    expect(await late).toBe('NotLeader');
    expect(paths()).toEqual([]);
  });

  it('DR-37: while no connection can be made one write probes and the others wait', async () => {
    const { time, send, server, sent } = bed(100, 100);
    server.there = false;
    expect(await send('event', '/first')).toBe('NotSent');
    const waiting = ['/a', '/b', '/c', '/d'].map((path) => send('phase', path));
    await time.advance(400);
    expect(server.tried).toBe(1);
    await time.advance(700);
    expect(server.tried).toBe(3);
    server.there = true;
    await time.advance(600);
    expect(sent.map(({ path }) => path)).toEqual(['/c', '/d']);
    expect(await Promise.all(waiting)).toEqual(['NotSent', 'NotSent', 'sent', 'sent']);
  });

  it('DR-37: a withheld or interrupted write is no information about the API server', async () => {
    const { time, gate, send, server, sent } = bed(100, 100, 50);
    const abort = new AbortController();
    const taken = send('phase', '/taken-back', abort.signal);
    await time.advance(10);
    abort.abort();
    expect(await taken).toBe('interrupted');
    const held = send('phase', '/held-back');
    await time.advance(10);
    gate.close('lost');
    await time.advance(100);
    expect(await held).toBe('NotLeader');
    gate.openUntil(Number.POSITIVE_INFINITY);
    void send('phase', '/next');
    await time.advance(60);
    expect(sent.map(({ path }) => path)).toEqual(['/next']);
    expect(server.tried).toBe(2);
  });

  /** The lease is lost while a write waits for an API server that cannot be reached. */
  const refusedWhileAway = async () => {
    const made = bed(100, 100);
    const { time, gate, send, server } = made;
    server.there = false;
    await send('phase', '/first');
    const waiting = send('phase', '/second');
    await time.advance(10);
    gate.close('lost');
    await time.advance(500);
    expect(await waiting).toBe('NotLeader');
    return made;
  };

  it('DR-15: writes that wait when the lease is lost are refused at once, and cost no token', async () => {
    const { time, gate, send, sent } = bed(1, 1);
    const waiting = Array.from({ length: 9 }, (_, n) => send('phase', `/${n}`));
    await time.advance(500);
    gate.close('lost');
    await time.advance(500);
    expect(await Promise.all(waiting)).toEqual(['sent', ...Array(8).fill('NotLeader')]);
    gate.openUntil(Number.POSITIVE_INFINITY);
    await time.advance(500);
    expect(await send('phase', '/next')).toBe('sent');
    expect(sent.map(({ path }) => path)).toEqual(['/0', '/next']);
  });

  it('DR-37: a write without the lease does not wait for the API server', async () => {
    const { server } = await refusedWhileAway();
    expect(server.tried).toBe(1);
  });

  it('DR-37: a write that the gate refused is not awaited as the probe', async () => {
    const { time, gate, send, server, sent } = await refusedWhileAway();
    server.there = true;
    gate.openUntil(Number.POSITIVE_INFINITY);
    void send('phase', '/third');
    await time.advance(100);
    expect(sent.map(({ path }) => path)).toEqual(['/third']);
  });

  it('DR-37: a write that was interrupted while it waited is not awaited as the probe', async () => {
    const { time, send, server, sent } = bed(100, 100);
    server.there = false;
    await send('phase', '/first');
    const abort = new AbortController();
    const waiting = send('phase', '/second', abort.signal);
    await time.advance(10);
    abort.abort();
    expect(await waiting).toBe('interrupted');
    server.there = true;
    void send('phase', '/third');
    await time.advance(600);
    expect(sent.map(({ path }) => path)).toEqual(['/third']);
  });
});
