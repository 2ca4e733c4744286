/** Which pod is evicted next over all drains, and how many evictions wait for the write budget. */
import { describe, expect, test } from 'vitest';
import type { SlotOffer } from '../../../src/actors/pod-evictions/budget-actor.ts';
import { EvictionDispatcher } from '../../../src/actors/pod-evictions/eviction-dispatcher.ts';
import type { Budget } from '../../../src/domain/drain/budget.ts';
import type { EvictionCandidate } from '../../../src/domain/drain/eviction-rank.ts';
import { type ObjectKey, objectKey, uid } from '../../../src/domain/ids.ts';

const DB = objectKey('db', 'ns');
const BUDGET: Budget = {
  key: DB,
  uid: uid('b1'),
  resourceVersion: '1' as Budget['resourceVersion'],
  namespace: 'ns',
  name: 'db',
  selector: [],
  unhealthyPods: 'IfHealthyBudget',
  generation: 1,
  observedGeneration: 1,
  disruptionsAllowed: 1,
  currentHealthy: 2,
  desiredHealthy: 1,
  expectedPods: 2,
  disruptedPods: {},
  countsControllers: false,
  limit: null,
  syncProblem: '',
};

const candidate = (pod: string, node: string, podsLeft: number): EvictionCandidate => ({
  pod: uid(pod),
  podName: pod,
  priority: 0,
  node,
  drainClass: 'reclaim',
  deadlineMs: 1e9,
  drainSinceMs: 0,
  nodePriority: 0,
  podsLeft,
  isOutdated: false,
});

/** Pods `p<n>` on nodes that have `podsLeft`; `sent` lists the evictions in their order. */
const rig = (nodes: Readonly<Record<string, number>>, podsPerNode: number) => {
  const sent: string[] = [];
  const waiting = new Set<string>();
  const state = { closed: () => true, nowMs: 0, ranked: 0 };
  let offer: SlotOffer | undefined;
  const dispatcher = new EvictionDispatcher({
    now: () => state.nowMs,
    isCircuitClosed: () => state.closed(),
    slots: {
      offerOf: () => offer,
      acquireSlot: (_budget: ObjectKey, pod) => {
        offer = undefined;
        sent.push(`slot of ${pod.name}`);
      },
      declineSlot: () => {
        offer = undefined;
        sent.push('declined');
      },
    },
  });
  const waiterOf = (pod: string, node: string, podsLeft: number) => {
    waiting.add(pod);
    return {
      candidate: () => {
        state.ranked += 1;
        return waiting.has(pod) ? candidate(pod, node, podsLeft) : undefined;
      },
      actor: {
        send: () => {
          waiting.delete(pod);
          sent.push(pod);
        },
      },
    };
  };
  for (const [node, podsLeft] of Object.entries(nodes)) {
    for (let at = 0; at < podsPerNode; at += 1) {
      const pod = `${node}-p${at}`;
      dispatcher.awaitDispatch(uid(pod), node, waiterOf(pod, node, podsLeft));
    }
  }
  return {
    dispatcher,
    sent,
    waiting,
    state,
    /** The pod asks for its turn, without a slot. */
    ask: (pod: string, node: string, podsLeft: number): void =>
      dispatcher.awaitDispatch(uid(pod), node, waiterOf(pod, node, podsLeft)),
    offer: (pod: string, node: string, podsLeft: number): void => {
      offer = { budget: BUDGET, pods: [uid(pod)] };
      dispatcher.awaitSlot(uid(pod), waiterOf(pod, node, podsLeft));
      dispatcher.offer(DB);
    },
    /** Another pod may take the slot that is offered already. */
    offerToo: (pod: string, node: string, podsLeft: number): void => {
      if (offer === undefined) return;
      offer = { ...offer, pods: [...offer.pods, uid(pod)] };
      dispatcher.awaitSlot(uid(pod), waiterOf(pod, node, podsLeft));
    },
    /** Until all that ask at this moment have been looked at. */
    run: () => Promise.resolve(),
  };
};

describe('eviction dispatcher', () => {
  test('DR-34: evictions are sent node by node, fewest pods first', async () => {
    const { run, sent } = rig({ a: 9, b: 3 }, 2);
    await run();
    expect(sent).toEqual(['b-p0', 'b-p1', 'a-p0', 'a-p1']);
  });

  test('DR-34: few evictions are between choice and wire, and each sent one makes room', async () => {
    const { dispatcher, run, sent } = rig({ a: 1 }, 20);
    await run();
    expect(sent).toHaveLength(8);
    dispatcher.sent(uid('a-p0'));
    await run();
    expect(sent).toHaveLength(9);
    dispatcher.sent(uid('a-p0'));
    await run();
    expect(sent).toHaveLength(9);
  });

  test('evictions that hang leave connections to everything else: 128 wait for an answer', async () => {
    const { dispatcher, run, sent } = rig({ a: 1 }, 200);
    const sendAll = async (): Promise<void> => {
      for (let at = 0; at < sent.length; at += 1) {
        dispatcher.sent(uid(`a-p${at}`));
        await run();
      }
    };
    await run();
    await sendAll();
    expect(sent).toHaveLength(128);
    dispatcher.done(uid('a-p5'));
    await run();
    expect(sent.slice(128)).toEqual(['a-p128']);
  });

  test('DR-34: a pod that asks again is behind the others of its queue', async () => {
    const made = rig({ a: 1 }, 3);
    made.ask('a-p0', 'a', 1);
    await made.run();
    expect(made.sent).toEqual(['a-p1', 'a-p2', 'a-p0']);
  });

  test('DR-34: a pod that waits for a slot now is not evicted without one', async () => {
    const { dispatcher, run, sent } = rig({ a: 1 }, 1);
    const slotless = { candidate: () => candidate('a-p0', 'a', 1), actor: { send: () => {} } };
    dispatcher.awaitSlot(uid('a-p0'), slotless);
    await run();
    expect([sent, dispatcher.dispatchOne()]).toEqual([[], false]);
  });

  test('DR-34: a pod is evicted once, also when it goes on waiting', () => {
    const { dispatcher } = rig({}, 0);
    let sent = 0;
    dispatcher.awaitDispatch(uid('a-p0'), 'a', {
      candidate: () => candidate('a-p0', 'a', 1),
      actor: {
        send: () => {
          sent += 1;
        },
      },
    });
    expect([dispatcher.dispatchOne(), dispatcher.dispatchOne()]).toEqual([true, false]);
    expect(sent).toBe(1);
  });

  test('DR-34: a pod that stopped waiting or cancelled is skipped', async () => {
    const { dispatcher, run, sent, waiting } = rig({ a: 1 }, 3);
    waiting.delete('a-p0');
    dispatcher.cancel(uid('a-p1'));
    await run();
    expect(sent).toEqual(['a-p2']);
    expect(dispatcher.dispatchOne()).toBe(false);
  });

  test('DR-37: no eviction is sent while the circuit is open, except a probe', async () => {
    const { dispatcher, run, sent, state } = rig({ a: 1 }, 3);
    state.closed = () => sent.length < 1;
    await run();
    expect(sent).toEqual(['a-p0']);
    expect(dispatcher.dispatchOne()).toBe(true);
    expect(sent).toEqual(['a-p0', 'a-p1']);
  });

  test('DR-34: a free slot is taken when the eviction of its pod is first by rank', async () => {
    const made = rig({ a: 3, b: 9 }, 1);
    made.offer('c-p0', 'c', 5);
    await made.run();
    expect(made.sent).toEqual(['a-p0', 'slot of c-p0', 'c-p0', 'b-p0']);
  });

  test('DR-34: a slot goes to the pod that is first when it is taken', async () => {
    const made = rig({}, 0);
    made.offer('late-p0', 'late', 5);
    made.offerToo('early-p0', 'early', 1);
    await made.run();
    expect(made.sent).toEqual(['slot of early-p0', 'early-p0']);
  });

  test('DR-34: a slot that no pod needs any more is declined, and the next pod is evicted', async () => {
    const made = rig({ a: 9 }, 1);
    made.offer('c-p0', 'c', 1);
    made.waiting.delete('c-p0');
    await made.run();
    expect(made.sent).toEqual(['declined', 'a-p0']);
    expect(made.dispatcher.dispatchOne()).toBe(false);
  });

  test('DR-34: a slot is declined at once when no pod waits for it', () => {
    const made = rig({}, 0);
    made.offer('c-p0', 'c', 1);
    made.dispatcher.cancel(uid('c-p0'));
    made.dispatcher.budgetMoved(DB);
    made.dispatcher.offer(DB);
    expect(made.sent).toEqual(['declined']);
  });

  test('DR-34: the first pod of a budget is kept for 100 ms, or until the budget moves', () => {
    const made = rig({}, 0);
    made.state.closed = () => false;
    made.offer('c-p0', 'c', 1);
    expect(made.state.ranked).toBe(1);
    const rankedAt = (nowMs: number): number => {
      made.state.nowMs = nowMs;
      made.dispatcher.offer(DB);
      return made.state.ranked;
    };
    expect([rankedAt(99), rankedAt(100), rankedAt(199)]).toEqual([1, 2, 2]);
    made.dispatcher.budgetMoved(DB);
    expect(rankedAt(199)).toBe(3);
  });
});
