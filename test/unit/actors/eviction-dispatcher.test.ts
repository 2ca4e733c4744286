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
  const state = { closed: () => true };
  let offer: SlotOffer | undefined;
  const dispatcher = new EvictionDispatcher({
    now: () => 0,
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
      candidate: () => waiting.has(pod) ? candidate(pod, node, podsLeft) : undefined,
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
    const before = sent.length;
    expect(before).toBeLessThan(20);
    dispatcher.sent(uid('a-p0'));
    await run();
    expect(sent.length).toBe(before + 1);
  });

  test('DR-34: a pod that stopped waiting or cancelled is skipped', async () => {
    const { dispatcher, run, sent, waiting } = rig({ a: 1 }, 3);
    waiting.delete('a-p0');
    dispatcher.cancel(uid('a-p1'));
    await run();
    expect(sent).toEqual(['a-p2']);
    expect(dispatcher.dispatchOne()).toBe(false);
  });

  test('DR-31: a pod that needs a slot meanwhile is not evicted without one', async () => {
    const { dispatcher, run, sent } = rig({ a: 1 }, 1);
    const pod = uid('a-p0');
    const actor = { send: () => void sent.push('a-p0') };
    dispatcher.awaitSlot(pod, { candidate: () => candidate('a-p0', 'a', 1), actor });
    await run();
    expect(sent).toEqual([]);
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
});
