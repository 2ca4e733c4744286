/** Demand from pods when processes end, terms change, caches lag and calls fail. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { podRig, podUid } from '../../support/demand/pod-rig.ts';

describe('the end of a process', () => {
  test('a stop waits for the answers of sent writes, and starts no more', async () => {
    const rig = podRig();
    const answer = Promise.withResolvers<undefined>();
    rig.requests.intercept(() => Effect.promise(() => answer.promise));
    rig.pod('web');
    await rig.settle();
    let stopped = false;
    const stopping = rig.registry().stop().then(() => {
      stopped = true;
    });
    await rig.settle();
    expect([stopped, rig.requests.writes()]).toEqual([false, ['POST']]);
    answer.resolve(undefined);
    await stopping;
    await rig.settle();
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
    expect(rig.requests.writes()).toEqual(['POST']);
  });
});

describe('terms of leadership', () => {
  test('a write that was sent before the lease was lost is known in the next term', async () => {
    const rig = podRig();
    const answer = Promise.withResolvers<undefined>();
    rig.requests.lag();
    rig.requests.intercept(() => Effect.promise(() => answer.promise));
    rig.pod('web');
    await rig.settle();
    rig.registry().setLeading(false);
    answer.resolve(undefined);
    await rig.settle();
    rig.registry().setLeading(true);
    await rig.settle();
    rig.requests.catchUp();
    await rig.settle();
    expect(rig.requests.writes()).toEqual(['POST', `PATCH ${rig.nameOf('web')}/status`]);
  });

  test('a queued write is written in the next term', async () => {
    const rig = podRig();
    const names = Array.from({ length: 100 }, (_, number) => `p${number}`);
    const answer = Promise.withResolvers<undefined>();
    rig.requests.intercept(() => Effect.promise(() => answer.promise));
    for (const name of names) rig.pod(name);
    await rig.settle();
    rig.registry().setLeading(false);
    answer.resolve(undefined);
    await rig.time.advance(60_000);
    rig.registry().setLeading(true);
    await rig.registry().idle();
    await rig.settle();
    expect(rig.requests.names()).toHaveLength(100);
    expect(rig.requests.writes()).toHaveLength(200);
  });
});

describe('lag and faults', () => {
  test('a cache that lags behind never causes two requests', async () => {
    const rig = podRig();
    rig.requests.lag();
    rig.pod('web', { cpu: '1' });
    await rig.settle();
    rig.pod('web', { cpu: '2' });
    await rig.settle();
    rig.pod('web', { phase: 'Succeeded' });
    await rig.settle();
    rig.requests.catchUp();
    await rig.settle();
    expect(rig.requests.names()).toEqual([]);
    expect(rig.requests.writes().filter((write) => write.startsWith('POST'))).toHaveLength(1);
    expect(rig.requests.writes().filter((write) => write.startsWith('DELETE'))).toHaveLength(1);
  });

  test('a cache that lags behind a deletion never causes a second one', async () => {
    const rig = podRig();
    rig.pod('job', { phase: 'Running' });
    await rig.settle();
    rig.requests.lag();
    rig.pod('job', { phase: 'Succeeded' });
    await rig.settle();
    rig.pod('job', { phase: 'Succeeded', metadata: { annotations: { updated: 'yes' } } });
    await rig.settle();
    expect(rig.requests.writes()).toHaveLength(3);
    rig.requests.catchUp();
    await rig.settle();
    expect(rig.requests.writes()).toHaveLength(3);
    expect([...rig.registry().actors()]).toEqual([]);
  });

  test('a creation with a lost answer is found and not repeated', async () => {
    const rig = podRig();
    rig.requests.lag();
    rig.requests.loseAnswers(({ method }) =>
      method === 'POST' ? Effect.fail(new NotSent({ why: 'planted' })) : Effect.void
    );
    rig.pod('web');
    await rig.settle();
    rig.requests.loseAnswers(() => Effect.void);
    await rig.time.advance(5_000);
    rig.requests.catchUp();
    await rig.settle();
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
    expect(rig.phaseOf(rig.nameOf('web'))).toBe('Pending');
  });

  test('a refused request is recorded on the pod, and retried later', async () => {
    const rig = podRig();
    rig.requests.intercept(({ method }) =>
      Effect.succeed(
        method === 'POST' ? { status: 403, body: { message: 'exceeded quota' } } : undefined,
      )
    );
    rig.pod('web');
    await rig.settle();
    expect(rig.notes).toEqual([{
      regarding: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: 'default',
        name: 'web',
        uid: podUid('web'),
      },
      reason: 'PodRequestRefused',
      note: 'Cannot write its CapacityRequest: 403 exceeded quota',
    }]);
    expect(rig.registry().counts()).toMatchObject({ refused: 1 });
    rig.requests.intercept(() => Effect.succeed(undefined));
    await rig.time.advance(60_000);
    await rig.settle();
    expect(rig.requests.names()).toEqual([rig.nameOf('web')]);
  });

  test('failing writes make room for other pods, and land in the end', async () => {
    const rig = podRig();
    rig.requests.intercept(() => Effect.fail(new NotSent({ why: 'planted' })));
    rig.pod('web');
    await rig.time.advance(20_000);
    expect(rig.notes.map(({ reason }) => reason)).toContain('PodRequestFailing');
    rig.requests.intercept(() => Effect.succeed(undefined));
    await rig.time.advance(60_000);
    await rig.settle();
    expect(rig.phaseOf(rig.nameOf('web'))).toBe('Pending');
  });
});
