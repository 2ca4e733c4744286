/**
 * When demand is complete enough to report: pods that were replaced without a leader have no
 * request yet, and a roll-up without them would return their machines.
 */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { INITIAL_REQUESTS_MS_MAX } from '../../../src/machines/initial-requests.ts';
import { podRig } from '../../support/demand/pod-rig.ts';

type Rig = ReturnType<typeof podRig>;

/** Whether the demand of pods is complete. */
const watched = (rig: Rig): () => boolean => {
  let isMade = false;
  void rig.registry().made.then(() => {
    isMade = true;
  });
  return () => isMade;
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

describe('the demand of pods is complete', () => {
  test('at once where every pod has its request, and not before this process leads', async () => {
    const rig = podRig({ leading: false });
    const isMade = watched(rig);
    rig.pod('web');
    rig.putRequest('cr-pod-old', 'web');
    await rig.time.advance(2 * INITIAL_REQUESTS_MS_MAX);
    expect(isMade()).toBe(false);
    rig.registry().setLeading(true);
    await rig.settle();
    expect(isMade()).toBe(true);
  });

  test('when the pods that lacked a request have theirs', async () => {
    const rig = podRig({ leading: false });
    rig.pod('a');
    rig.pod('b');
    const serve = held(rig);
    const isMade = watched(rig);
    rig.registry().setLeading(true);
    await rig.time.advance(1000);
    expect(isMade()).toBe(false);
    serve();
    await rig.settle();
    expect(isMade()).toBe(true);
    expect(rig.requests.names()).toEqual([rig.nameOf('a'), rig.nameOf('b')]);
  });

  test('when the pods without a request are deleted or finish', async () => {
    const rig = podRig({ leading: false });
    rig.pod('gone');
    rig.pod('done');
    const serve = held(rig);
    const isMade = watched(rig);
    rig.registry().setLeading(true);
    await rig.settle();
    rig.pods.remove('gone');
    await rig.settle();
    expect(isMade()).toBe(false);
    rig.pod('done', { phase: 'Succeeded' });
    await rig.settle();
    expect(isMade()).toBe(true);
    serve();
  });

  test('when the API server refuses the missing requests', async () => {
    const rig = podRig({ leading: false });
    rig.pod('web');
    rig.requests.intercept(() =>
      Effect.succeed({ status: 403, body: { message: 'exceeded quota' } })
    );
    const isMade = watched(rig);
    rig.registry().setLeading(true);
    await rig.settle();
    expect(isMade()).toBe(true);
  });

  test('after its time limit in any case', async () => {
    const rig = podRig({ leading: false });
    rig.pod('web');
    const serve = held(rig);
    const isMade = watched(rig);
    rig.registry().setLeading(true);
    await rig.time.advance(INITIAL_REQUESTS_MS_MAX - 1);
    expect(isMade()).toBe(false);
    await rig.time.advance(1);
    expect(isMade()).toBe(true);
    serve();
  });
});
