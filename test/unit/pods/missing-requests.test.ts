/**
 * The pods that demand waits for after a hand-over or an outage: those that were replaced meanwhile
 * have no request yet, and a roll-up without them would return their machines.
 */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { podRig } from '../../support/demand/pod-rig.ts';

type Rig = ReturnType<typeof podRig>;

/** The numbers of missing requests, as they change. */
const counted = (rig: Rig): readonly number[] => {
  const counts: number[] = [];
  rig.registry().missing.subscribe((count) => counts.push(count));
  return counts;
};

/** A cluster whose API server delays creations until it is released. */
const held = (rig: Rig) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  rig.requests.intercept(({ method }) =>
    method === 'POST'
      ? Effect.promise(() => promise).pipe(Effect.as(undefined))
      : Effect.succeed(undefined)
  );
  return resolve;
};

describe('pods without a request are counted', () => {
  test('when this process leads, and none where every pod has its request', async () => {
    const rig = podRig({ leading: false });
    const counts = counted(rig);
    rig.pod('web');
    rig.putRequest('cr-pod-old', 'web');
    rig.pod('done', { phase: 'Succeeded' });
    rig.registry().setLeading(true);
    await rig.settle();
    expect([...new Set(counts)]).toEqual([0]);
  });

  test('until they have theirs', async () => {
    const rig = podRig({ leading: false });
    rig.pod('a');
    rig.pod('b');
    const serve = held(rig);
    const counts = counted(rig);
    rig.registry().setLeading(true);
    await rig.time.advance(1000);
    expect(counts.at(-1)).toBe(2);
    serve();
    await rig.settle();
    expect(counts.at(-1)).toBe(0);
    expect(rig.requests.names()).toEqual([rig.nameOf('a'), rig.nameOf('b')]);
  });

  test('until they are deleted or finish', async () => {
    const rig = podRig({ leading: false });
    rig.pod('gone');
    rig.pod('done');
    const serve = held(rig);
    const counts = counted(rig);
    rig.registry().setLeading(true);
    await rig.settle();
    rig.pods.remove('gone');
    await rig.settle();
    expect(counts.at(-1)).toBe(1);
    rig.pod('done', { phase: 'Succeeded' });
    await rig.settle();
    expect(counts.at(-1)).toBe(0);
    serve();
  });

  test('until the API server refuses their requests', async () => {
    const rig = podRig({ leading: false });
    rig.pod('web');
    rig.requests.intercept(() =>
      Effect.succeed({ status: 403, body: { message: 'exceeded quota' } })
    );
    const counts = counted(rig);
    rig.registry().setLeading(true);
    await rig.settle();
    expect(counts).toContain(1);
    expect(counts.at(-1)).toBe(0);
  });

  // Five failures within seconds released the demand, as if the API server had refused.
  test('wire 5: while the API server fails to create them', async () => {
    const rig = podRig({ leading: false });
    rig.pod('web');
    let serves = false;
    rig.requests.intercept(({ method }) =>
      Effect.succeed(!serves && method === 'POST' ? { status: 503, body: {} } : undefined)
    );
    const counts = counted(rig);
    rig.registry().setLeading(true);
    await rig.time.advance(20_000);
    expect(rig.notes.map(({ reason }) => reason)).toContain('PodRequestFailing');
    expect(counts.at(-1)).toBe(1);
    serves = true;
    await rig.time.advance(60_000);
    expect(counts.at(-1)).toBe(0);
  });

  test('again each time when the caches are current again; none is made meanwhile', async () => {
    const rig = podRig();
    const counts = counted(rig);
    rig.registry().setCurrent(false);
    rig.pod('new');
    await rig.time.advance(60_000);
    expect(rig.requests.names()).toEqual([]);
    rig.registry().setCurrent(true);
    expect(counts.at(-1)).toBe(1);
    await rig.settle();
    expect(counts.at(-1)).toBe(0);
    expect(rig.requests.names()).toEqual([rig.nameOf('new')]);
  });
});
