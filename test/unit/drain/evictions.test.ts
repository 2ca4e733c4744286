/** The registry of pods that are to leave, over a small cluster in memory. */
import { Effect } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { AnswerLost, type KubeAnswer, NotSent } from '../../../src/effects/kube-api.ts';
import { evictionRig, type RigOptions } from '../../support/drains/eviction-rig.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const rig = (options: RigOptions = {}) => {
  const made = evictionRig(options);
  stops.push(made.stop);
  return made;
};

/** An app of `size` pods on node `n1` behind a budget. */
const app = async (
  made: ReturnType<typeof evictionRig>,
  { size, unavailable }: { readonly size: number; readonly unavailable: number },
): Promise<void> => {
  for (let at = 0; at < size; at += 1) {
    made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
  }
  made.cluster.settle('a');
  made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: unavailable });
  await made.ready();
};

/** Calls so far, by pod. */
const asked = (made: ReturnType<typeof evictionRig>): readonly string[] =>
  made.cluster.calls.map(({ pod }) => pod);

describe('which pods are asked', () => {
  test('DR-22: a pod that is terminating is not asked, and is watched until it is gone', async () => {
    const made = rig();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    const uid = made.uidOf('p1');
    made.drain('n1');
    await made.time.advance(100);
    made.drain('n1');
    expect(made.standing('p1')).toMatchObject({ reason: 'Terminating', accepted: true });
    await made.time.advance(2000);
    expect(asked(made)).toEqual(['p1']);
    expect(uid === undefined ? undefined : made.registry.standing(uid)).toBeUndefined();
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-22: nothing is sent for a UID that is not the one under that name', async () => {
    const made = rig();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    const [old] = made.cluster.onNode('n1');
    made.cluster.drop('p1');
    made.cluster.addPod({ name: 'p1', node: 'n2', app: 'a' });
    await made.ready();
    if (old !== undefined) {
      made.registry.want(old, {
        node: 'n1',
        deadlineMonotonicMs: 1e6,
        drainSinceMs: 0,
        podsLeft: () => 1,
      });
    }
    await made.time.advance(10_000);
    expect(asked(made)).toEqual([]);
  });

  test('DR-22: a pod that was recreated while its eviction waited is not asked', async () => {
    const made = rig();
    await app(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.cluster.drop('p0');
    made.cluster.addPod({ name: 'p0', node: 'n2', app: 'a' });
    made.cluster.changeBudget('db', { maxUnavailable: 5 });
    await made.time.advance(5000);
    expect(asked(made)).toEqual(['p1']);
    expect(made.cluster.has('p0')).toBe(true);
  });

  test('DR-31: Pending and unready pods leave at once behind a budget that has no slot', async () => {
    const made = rig();
    made.cluster.addPod({ name: 'pending', node: 'n1', app: 'a', phase: 'Pending', ready: false });
    made.cluster.addPod({ name: 'unready', node: 'n1', app: 'a', ready: false });
    await app(made, { size: 3, unavailable: 2 });
    made.drain('n1');
    await made.time.advance(1000);
    expect(asked(made).toSorted()).toEqual(['pending', 'unready']);
    expect(made.standing('p0')).toMatchObject({ state: 'queued', reason: 'BlockedByBudget' });
  });

  test('DR-20: a pod that finishes while it waits is not asked', async () => {
    const made = rig();
    await app(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.cluster.change('p0', { phase: 'Succeeded', ready: false });
    await made.time.advance(60_000);
    expect(asked(made)).toEqual([]);
    expect(made.cluster.has('p0')).toBe(true);
  });

  test('DR-31: a pod under two budgets is never asked, and is once one of them is gone', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 3 });
    made.cluster.addBudget({ name: 'other', app: 'a', maxUnavailable: 3 });
    await made.ready();
    made.drain('n1');
    await made.time.advance(60_000);
    expect(asked(made)).toEqual([]);
    expect(made.standing('p0')).toMatchObject({ reason: 'TwoBudgets' });
    made.cluster.removeBudget('other');
    await made.time.advance(100);
    expect(asked(made).length).toBe(3);
  });

  test('DR-30: pods join and leave the queue of a budget as it comes to cover them, or goes', async () => {
    const made = rig();
    await app(made, { size: 2, unavailable: 0 });
    made.cluster.addPod({ name: 'free', node: 'n2', app: 'b' });
    made.cluster.addBudget({ name: 'late', app: 'b', maxUnavailable: 0 });
    made.cluster.settle('b');
    await made.ready();
    made.drain('n1');
    made.drain('n2');
    await made.time.advance(1000);
    expect(asked(made)).toEqual([]);
    expect(made.registry.counts()).toMatchObject({ queued: 3 });
    made.cluster.removeBudget('db');
    await made.time.advance(100);
    expect(asked(made).toSorted()).toEqual(['p0', 'p1']);
    expect(made.standing('free')).toMatchObject({ reason: 'BlockedByBudget', subject: 'ns/late' });
  });
});

describe('slots', () => {
  test('DR-32: after a refusal nobody asks until the status is newer', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 1 });
    let refusals = 0;
    made.cluster.intercept(() => {
      refusals += 1;
      return Effect.succeed(refusal(429, 'no', { cause: 'DisruptionBudget' }));
    });
    made.drain('n1');
    await made.time.advance(60_000);
    expect(refusals).toBe(1);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.changeBudget('db', { maxUnavailable: 2 });
    await made.time.advance(500);
    expect(asked(made).length).toBe(3);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-35: a budget that closes in the middle makes it silent, and it goes on when it opens', async () => {
    const made = rig();
    await app(made, { size: 4, unavailable: 1 });
    made.drain('n1');
    await made.time.advance(1000);
    made.cluster.changeBudget('db', { maxUnavailable: 0 });
    await made.time.advance(100);
    const before = asked(made).length;
    for (let minute = 0; minute < 10; minute += 1) {
      made.cluster.bookmark();
      await made.time.advance(60_000);
    }
    expect(asked(made).length).toBe(before);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(60_000);
    expect(asked(made).length).toBe(4);
    expect(made.cluster.refused()).toBe(0);
  });

  test('DR-35: a watch that is silent for 120 s is probed by one call for each budget', async () => {
    const made = rig();
    await app(made, { size: 4, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(1000);
    made.cluster.budgetCache.silence();
    await made.time.advance(110_000);
    expect(asked(made).length).toBe(0);
    await made.time.advance(15_000);
    expect(asked(made).length).toBe(1);
    await made.time.advance(120_000);
    expect(asked(made).length).toBe(2);
  });

  test('DR-35: a watch that speaks again ends the silence for budgets that nobody waited at', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.registry.release('n1');
    await made.time.advance(130_000);
    made.cluster.bookmark();
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    expect(asked(made)).toEqual([]);
  });

  test('DR-32: a call whose answer was lost keeps its slot for its own retry', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 1 });
    let lost = 0;
    made.cluster.intercept(() => {
      lost += 1;
      if (lost > 1) return Effect.succeed(undefined);
      return Effect.fail(new AnswerLost({ why: 'cut' }));
    });
    made.drain('n1');
    await made.time.advance(1000);
    const [first = ''] = asked(made);
    expect(made.standing(first)).toMatchObject({ reason: 'EvictionUnanswered' });
    expect(asked(made).length).toBe(1);
    await made.time.advance(2000);
    expect(asked(made)).toEqual([first, first]);
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.refused()).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-32: the lost answer of a call that was done is not asked for again', async () => {
    const made = rig();
    await app(made, { size: 2, unavailable: 1 });
    const { cluster } = made;
    cluster.intercept((pod) => {
      cluster.charged('db', pod);
      cluster.drop(pod);
      cluster.intercept(() => Effect.succeed(undefined));
      return Effect.fail(new AnswerLost({ why: 'cut' }));
    });
    made.drain('n1');
    await made.time.advance(60_000);
    expect(new Set(asked(made)).size).toBe(asked(made).length);
  });

  test('DR-32: a pod that became ready while its call waited does not go without a slot', async () => {
    const made = rig({ pace: { qps: 1 } });
    for (const name of ['p0', 'p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: 'a' });
    made.cluster.settle('a');
    made.cluster.change('p1', { ready: false });
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 1, alwaysAllow: true });
    await made.ready();
    made.drain('n1');
    await made.time.advance(10);
    expect(made.standing('p1')?.state).toBe('calling');
    made.cluster.change('p1', { ready: true });
    await made.time.advance(60_000);
    expect(made.cluster.mostAtOnce()).toBe(1);
    expect(made.cluster.refused()).toBe(0);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-37: a slot is not handed out while everyone has to wait, and that is said', async () => {
    const made = rig();
    await app(made, { size: 2, unavailable: 2 });
    made.cluster.intercept(() =>
      Effect.succeed({ ...refusal(429, 'slow down'), retryAfterSeconds: 20 })
    );
    made.drain('n1');
    await made.time.advance(1000);
    expect(asked(made).length).toBe(1);
    for (const name of ['p0', 'p1']) {
      expect(made.standing(name)).toMatchObject({ state: 'queued', reason: 'ServerThrottling' });
    }
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(30_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-34: a slot goes first to the eviction that was cut short', async () => {
    const made = rig();
    await app(made, { size: 4, unavailable: 2 });
    made.cluster.charged('db', 'p3');
    await made.ready();
    made.drain('n1');
    await made.time.advance(100);
    expect(asked(made)[0]).toBe('p3');
  });

  test('DR-34: a slot that an interrupted eviction holds is said so, with its end', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 1 });
    made.cluster.charged('db', 'p2');
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    expect(asked(made)).toEqual([]);
    expect(made.standing('p0')).toMatchObject({
      reason: 'SlotHeldByInterruptedEviction',
      text: expect.stringContaining('2026-01-01T00:02:00Z'),
    });
    await made.time.advance(125_000);
    expect(made.cluster.left('n1')).toBeLessThan(3);
  });

  test('DR-34: a slot is held as well by an interrupted eviction on a node that stays', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 1 });
    made.cluster.addPod({ name: 'elsewhere', node: 'n2', app: 'a' });
    made.cluster.settle('a');
    await made.ready();
    made.cluster.charged('db', 'elsewhere');
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    expect(asked(made)).toEqual([]);
    expect(made.standing('p0')?.reason).toBe('SlotHeldByInterruptedEviction');
    await made.time.advance(125_000);
    expect(asked(made).length).toBeGreaterThan(0);
  });

  test('DR-34: the node with the fewest pods left comes first', async () => {
    const made = rig();
    for (const name of ['x1', 'x2', 'x3']) made.cluster.addPod({ name, node: 'full', app: 'a' });
    made.cluster.addPod({ name: 'y1', node: 'nearly-empty', app: 'a' });
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 0 });
    await made.ready();
    made.drain('full');
    made.drain('nearly-empty');
    await made.time.advance(100);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(100);
    expect(asked(made)).toEqual(['y1']);
  });

  test('DR-33: one call is in flight under one budget, and different budgets run in parallel', async () => {
    const made = rig({ pace: { answerMs: 1000 } });
    await app(made, { size: 3, unavailable: 3 });
    for (const name of ['q0', 'q1']) made.cluster.addPod({ name, node: 'n1', app: 'b' });
    made.cluster.settle('b');
    made.cluster.addBudget({ name: 'other', app: 'b', maxUnavailable: 2 });
    await made.ready();
    made.drain('n1');
    await made.time.advance(500);
    expect(asked(made).length).toBe(2);
    await made.time.advance(10_000);
    expect(made.cluster.mostAtOnce()).toBe(1);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-33: as many calls are in flight as the flag allows', async () => {
    const made = rig({ callsPerBudget: 3, pace: { answerMs: 1000 } });
    await app(made, { size: 5, unavailable: 5 });
    made.drain('n1');
    await made.time.advance(500);
    expect(asked(made).length).toBe(3);
  });
});

describe('when nothing more is wanted', () => {
  test('DR-05: a release sends nothing more, and what was sent ends as it ends', async () => {
    const made = rig({ pace: { deleteMs: 500 } });
    await app(made, { size: 6, unavailable: 2 });
    made.drain('n1');
    await made.time.advance(100);
    expect(asked(made).length).toBe(1);
    made.registry.release('n1');
    await made.time.advance(60_000);
    expect(asked(made).length).toBe(1);
    expect(made.cluster.calls[0]?.status).toBe(201);
    expect(made.registry.counts()).toMatchObject({ released: 5 });
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-45: who was released goes on when it is wanted again', async () => {
    const made = rig();
    await app(made, { size: 3, unavailable: 1 });
    made.drain('n1');
    made.registry.release('n1');
    await made.time.advance(10_000);
    expect(asked(made)).toEqual([]);
    made.drain('n1');
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-33: a stop waits for the answers of calls that were sent', async () => {
    const made = evictionRig({ pace: { answerMs: 8000 } });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.drain('n1');
    await made.time.advance(10);
    let ended = false;
    const stopped = made.registry.stop().then(() => {
      ended = true;
    });
    await made.time.advance(5000);
    expect(ended).toBe(false);
    await made.time.advance(5000);
    await stopped;
    expect(made.cluster.calls.map(({ status }) => status)).toEqual([201]);
    expect(made.cluster.violations).toEqual([]);
    await made.stop();
  });
});

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
      state: 'lookingAround',
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
    'evictions: %s holds its own pod up by its own name, and the pod beside it leaves',
    async (_name, { answer, state, reason }) => {
      const made = rig();
      made.cluster.addPod({ name: 'bad', node: 'n1', app: 'a' });
      made.cluster.addPod({ name: 'good', node: 'n1', app: 'b' });
      await made.ready();
      made.cluster.intercept((pod) => Effect.succeed(pod === 'bad' ? answer : undefined));
      made.drain('n1');
      await made.time.advance(50);
      expect(made.standing('bad')).toMatchObject({ state, reason });
      await made.time.advance(2000);
      expect(made.cluster.has('good')).toBe(false);
      made.cluster.intercept(() => Effect.succeed(undefined));
      await made.time.advance(400_000);
      expect(made.cluster.has('bad')).toBe(false);
    },
  );

  test('evictions: who is refused by a policy is asked again after 10, 20, 40 s, at most 300 s', async () => {
    const made = rig();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(refusal(422, 'admission webhook "x" denied')));
    made.drain('n1');
    await made.time.advance(1_000_000);
    const times = made.cluster.calls.map(({ atMs }) => atMs);
    const waits = times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / 1000));
    expect(waits.slice(0, 7)).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });

  test.each([
    ['the limit of the API server', { ...refusal(429, 'slow down'), retryAfterSeconds: 20 }, 20],
    ['credentials that are not taken', refusal(401, 'Unauthorized'), 5],
  ])(
    'evictions: %s makes everyone wait, and one call tries first',
    async (_name, answer, seconds) => {
      const made = rig({ pace: { answerMs: 100 } });
      for (let at = 0; at < 10; at += 1) {
        made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
      }
      await made.ready();
      made.cluster.intercept(() => Effect.succeed(answer));
      made.drain('n1');
      await made.time.advance(1000);
      const before = asked(made).length;
      expect(before).toBeLessThanOrEqual(10);
      expect(made.standing('p9')?.reason).toMatch(/ServerThrottling|CredentialsRefused/);
      await made.time.advance(seconds * 1000 - 1500);
      expect(asked(made).length).toBe(before);
      made.cluster.intercept(() => Effect.succeed(undefined));
      await made.time.advance(550);
      expect(asked(made).length).toBe(before + 1);
      await made.time.advance(5000);
      expect(made.cluster.left('n1')).toBe(0);
    },
  );

  test('DR-37: when no connection can be made evictions wait until a watch is back', async () => {
    const made = rig();
    for (let at = 0; at < 20; at += 1) {
      made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
    }
    await made.ready();
    made.cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
    made.drain('n1');
    await made.time.advance(1000);
    const before = asked(made).length;
    await made.time.advance(3000);
    expect(asked(made).length).toBe(before);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.bookmark();
    await made.time.advance(1500);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-37: a watch that never went does not make each of its events a trial', async () => {
    const made = rig();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    made.cluster.addPod({ name: 'busy', node: 'n2', app: 'b' });
    await made.ready();
    made.cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
    made.drain('n1');
    for (let at = 0; at < 1000; at += 1) {
      made.cluster.change('busy', { ready: at % 2 === 0 });
      await made.time.advance(10);
    }
    expect(asked(made).length).toBeLessThanOrEqual(41);
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(7000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-32: the same name elsewhere is gone for its drain', async () => {
    const made = rig();
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
    expect(asked(made).length).toBe(1);
    made.cluster.drop('p1');
    await made.time.advance(100);
    expect(uid === undefined ? undefined : made.registry.standing(uid)).toBeUndefined();
  });
});

describe('pods that cannot go', () => {
  test('DR-44: under a kubelet that does not answer each pod is asked once', async () => {
    const made = rig();
    for (const name of ['p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: 'a' });
    made.cluster.node('n1', 'Unknown');
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(refusal(500, 'trouble')));
    made.drain('n1');
    await made.time.advance(600_000);
    expect(asked(made).toSorted()).toEqual(['p1', 'p2']);
    expect(made.standing('p1')).toMatchObject({ state: 'stranded', reason: 'KubeletSilent' });
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.node('n1', 'True');
    await made.time.advance(5000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-41: a finalizer that never clears is named', async () => {
    const made = rig();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', finalizers: ['x.dev/keep'] });
    await made.ready();
    made.drain('n1');
    await made.time.advance(60_000);
    expect(made.standing('p1')).toMatchObject({
      state: 'heldByFinalizer',
      reason: 'Finalizer',
      subject: 'x.dev/keep',
    });
    made.cluster.clearFinalizers('p1');
    await made.time.advance(100);
    expect(made.cluster.left('n1')).toBe(0);
    expect(asked(made)).toEqual(['p1']);
  });

  test('DR-42: says the node of each pod whose standing changes, once for many', async () => {
    const made = rig();
    for (let at = 0; at < 50; at += 1) {
      made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
    }
    await made.ready();
    const said: string[] = [];
    const listening = made.registry.changes.subscribe((node) => said.push(node));
    made.drain('n1');
    await made.time.advance(5000);
    listening.unsubscribe();
    expect(new Set(said)).toEqual(new Set(['n1']));
    expect(said.length).toBeLessThan(250);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.defects).toEqual([]);
  });
});
