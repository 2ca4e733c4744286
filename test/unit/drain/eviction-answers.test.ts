/** Answers to evictions: the effect of each on its pod and on waiting pods. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { type KubeAnswer, NotSent } from '../../../src/effects/kube-api.ts';
import { NOT_PROCESSED, refusal } from '../../support/drains/eviction-refusals.ts';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

describe('answers', () => {
  interface Row {
    readonly answer: KubeAnswer;
    readonly state: string;
    readonly reason: string;
  }
  const ROWS: Readonly<Record<string, Row>> = {
    'a webhook': {
      answer: refusal(403, 'admission webhook "guard" denied the request: not today'),
      state: 'refusedByPolicy',
      reason: 'PolicyRefused',
    },
    'two budgets': {
      answer: refusal(500, 'This pod has more than one PodDisruptionBudget'),
      state: 'twoBudgets',
      reason: 'TwoBudgets',
    },
    'a namespace that goes': {
      answer: refusal(403, 'is being terminated', { cause: 'NamespaceTerminating' }),
      state: 'namespaceTerminating',
      reason: 'NamespaceTerminating',
    },
    'a broken budget': {
      answer: refusal(403, 'pdb disruptions allowed is negative'),
      state: 'budgetBroken',
      reason: 'BudgetBroken',
    },
    'a missing right': {
      answer: refusal(403, 'User "x" cannot create resource "pods/eviction" in API group ""'),
      state: 'forbidden',
      reason: 'EvictionForbidden',
    },
    'trouble inside': {
      answer: refusal(500, 'etcdserver: leader changed'),
      state: 'backingOff',
      reason: 'EvictionFailing',
    },
    'a gateway that lost it': {
      answer: refusal(504, 'timeout'),
      state: 'awaitingCache',
      reason: 'EvictionUnanswered',
    },
    'something unknown': {
      answer: refusal(418, 'a teapot'),
      state: 'refused',
      reason: 'EvictionRefused',
    },
    'an unready pod that changed': {
      answer: { ...refusal(429, 'no', { cause: 'DisruptionBudget' }), retryAfterSeconds: 10 },
      state: 'unsettled',
      reason: 'BudgetUnsettled',
    },
  };

  test.each(Object.entries(ROWS))(
    'evictions: %s blocks only its own pod with its own reason, and the pod beside it leaves',
    async (_name, { answer, state, reason }) => {
      const made = evictionsOfTest();
      made.cluster.addPod({ name: 'bad', node: 'n1', app: 'a' });
      made.cluster.addPod({ name: 'good', node: 'n1', app: 'b' });
      await made.ready();
      made.cluster.intercept((pod) => Effect.succeed(pod === 'bad' ? answer : undefined));
      made.drain('n1');
      await made.time.advance(50);
      expect(made.status('bad')).toMatchObject({ state, reason });
      await made.time.advance(2000);
      expect(made.cluster.has('good')).toBe(false);
      made.cluster.intercept(() => Effect.succeed(undefined));
      await made.time.advance(400_000);
      expect(made.cluster.has('bad')).toBe(false);
    },
  );

  test('evictions: a policy refusal is retried after 10, 20, 40 s, at most 300 s', async () => {
    const made = evictionsOfTest({ graceMs: 3_600_000 });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(refusal(422, 'admission webhook "x" denied')));
    made.drain('n1');
    await made.time.advance(1_300_000);
    const times = made.cluster.calls.map(({ atMs }) => atMs);
    const waits = times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / 1000));
    expect(waits.slice(0, 7)).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });

  test('DR-35: an unready pod whose budget refuses is tried after 1, 2, 4, 8 and then 10 s', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', ready: false });
    await made.ready();
    const unsettled = {
      ...refusal(429, 'no', { cause: 'DisruptionBudget' }),
      retryAfterSeconds: 10,
    };
    made.cluster.intercept(() => Effect.succeed(unsettled));
    made.drain('n1');
    await made.time.advance(100_000);
    const times = made.cluster.calls.map(({ atMs }) => atMs);
    const waits = times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / 1000));
    expect(waits.slice(0, 6)).toEqual([1, 2, 4, 8, 10, 10]);
  });

  test('DR-35: an unready pod whose budget refuses is tried again when it changes', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', ready: false });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(NOT_PROCESSED));
    made.drain('n1');
    await made.time.advance(300);
    expect(podsAsked(made)).toEqual(['p1']);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.podCache.put(made.cluster.known('p1'));
    await made.time.advance(300);
    expect(podsAsked(made)).toEqual(['p1', 'p1']);
  });

  // After a conflict the API server reads the budget again: the 404 is not about the pod.
  test('DR-24: a pod whose budget is deleted during the call is evicted by the next', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 1, unavailable: 1 });
    const deleted = refusal(404, 'poddisruptionbudgets.policy "db" not found', {
      details: { kind: 'poddisruptionbudgets' },
    });
    made.cluster.intercept(() => Effect.succeed(deleted));
    made.drain('n1');
    await made.time.advance(50);
    expect(podsAsked(made)).toEqual(['p0']);
    expect(made.status('p0')).toMatchObject({ state: 'backingOff', reason: 'EvictionFailing' });
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.removeBudget('db');
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual(['p0', 'p0']);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test.each([
    ['the limit of the API server', { ...refusal(429, 'slow down'), retryAfterSeconds: 20 }, 20],
    ['credentials that are not taken', refusal(401, 'Unauthorized'), 5],
  ])(
    'evictions: %s makes everyone wait, and one call tries first',
    async (_name, answer, seconds) => {
      const made = evictionsOfTest({ timing: { answerMs: 100 } });
      for (let at = 0; at < 10; at += 1) {
        made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
      }
      await made.ready();
      made.cluster.intercept(() => Effect.succeed(answer));
      made.drain('n1');
      await made.time.advance(1000);
      const before = podsAsked(made).length;
      expect(before).toBeLessThanOrEqual(10);
      expect(made.status('p9')?.reason).toMatch(/ServerThrottling|CredentialsRefused/);
      await made.time.advance(seconds * 1000 - 1500);
      expect(podsAsked(made).length).toBe(before);
      made.cluster.intercept(() => Effect.succeed(undefined));
      await made.time.advance(550);
      expect(podsAsked(made).length).toBe(before + 1);
      await made.time.advance(5000);
      expect(made.cluster.left('n1')).toBe(0);
    },
  );

  test('DR-37: when no connection can be made evictions wait until a watch is back', async () => {
    const made = evictionsOfTest();
    for (let at = 0; at < 20; at += 1) {
      made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
    }
    await made.ready();
    made.cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
    made.drain('n1');
    await made.time.advance(1000);
    const before = podsAsked(made).length;
    await made.time.advance(3000);
    expect(podsAsked(made).length).toBe(before);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.bookmark();
    await made.time.advance(1500);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-37: a healthy watch does not make each of its events a probe', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    made.cluster.addPod({ name: 'busy', node: 'n2', app: 'b' });
    await made.ready();
    made.cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
    made.drain('n1');
    for (let at = 0; at < 1000; at += 1) {
      made.cluster.change('busy', { ready: at % 2 === 0 });
      await made.time.advance(10);
    }
    expect(podsAsked(made).length).toBeLessThanOrEqual(41);
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(7000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-32: the same name on another node is gone for its drain', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    const uid = made.uidOf('p1');
    made.cluster.intercept(() =>
      Effect.succeed(refusal(
        409,
        'Operation cannot be fulfilled on Pod "p1": the UID in the precondition (x) does not match',
        { details: { kind: 'Pod' } },
      ))
    );
    made.drain('n1');
    await made.time.advance(1000);
    made.drain('n1');
    await made.time.advance(60_000);
    expect(podsAsked(made).length).toBe(1);
    made.cluster.drop('p1');
    await made.time.advance(100);
    expect(uid === undefined ? undefined : made.registry.statusOf(uid)).toBeUndefined();
  });
});
