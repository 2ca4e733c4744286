/**
 * The evictions that may be asked for and have not left yet, in the order of DR-34 over all drains:
 * when writes are scarce, nodes still empty one after another.
 *
 * Promises: few are on their way to the write budget at once, so that who comes first is decided
 * late, and a budget's free slot is handed out only then; one look at the queue costs as much as
 * there are nodes and budgets in it, not pods.
 */
import { comparePetitions, type Petition } from '../../domain/drain/queue.ts';
import type { SlotOffer } from './budgets.ts';

/** Between the permit and the first byte: enough to keep the write budget busy. */
const ON_THEIR_WAY_MAX = 8;

/** A pod that has all that it needs to be asked. */
export interface CallSeeker {
  /** `undefined` when it does not wait any more and has not said so yet. */
  readonly petition: () => Petition | undefined;
  readonly go: () => void;
}

/** Those who wait to call. */
export interface CallQueue {
  /** Whoever was handed a slot from here goes at once: its turn has come with the slot. */
  readonly add: (who: string, node: string, seeker: CallSeeker) => void;
  /** A slot for one of a budget's pods; the newest offer of a budget counts. */
  readonly offer: (budget: string, slot: SlotOffer) => void;
  readonly remove: (who: string) => void;
  /** The call has left, or will not. */
  readonly left: (who: string) => void;
  /** Lets the first go; false when there is none. */
  readonly sendOne: () => boolean;
  /** Lets as many go as may be on their way while `may` holds. */
  readonly sendMany: (may: () => boolean) => void;
}

/** Who could go next, and how. */
interface Candidate {
  readonly petition: Petition;
  /** False when it turns out that it cannot. */
  readonly go: () => boolean;
}

/** An empty queue. `now` is monotonic. */
export const callQueue = (now: () => number): CallQueue => {
  const nodes = new Map<string, Map<string, CallSeeker>>();
  const nodeOf = new Map<string, string>();
  const offers = new Map<string, SlotOffer>();
  const onTheirWay = new Set<string>();

  const remove = (who: string): void => {
    const node = nodeOf.get(who);
    if (node === undefined) return;
    nodeOf.delete(who);
    const seekers = nodes.get(node);
    seekers?.delete(who);
    if (seekers?.size === 0) nodes.delete(node);
  };
  /** Pods of one node come in the order of asking: all else is equal between them. */
  const headOf = (seekers: ReadonlyMap<string, CallSeeker>): Candidate | undefined => {
    for (const [who, seeker] of seekers) {
      const petition = seeker.petition();
      if (petition === undefined) continue;
      const go = (): boolean => {
        remove(who);
        onTheirWay.add(who);
        seeker.go();
        return true;
      };
      return { petition, go };
    }
    return undefined;
  };
  const offered = (budget: string, slot: SlotOffer): Candidate | undefined => {
    const petition = slot.first();
    if (petition === undefined) return undefined;
    const go = (): boolean => {
      offers.delete(budget);
      const taker = slot.hand();
      if (taker !== undefined) onTheirWay.add(taker);
      return taker !== undefined;
    };
    return { petition, go };
  };
  const first = (): Candidate | undefined => {
    const view = { budget: { disruptedPods: {} }, nowMs: now() };
    let best: Candidate | undefined;
    const consider = (candidate: Candidate | undefined): void => {
      if (candidate === undefined) return;
      if (best === undefined || comparePetitions(candidate.petition, best.petition, view) < 0) {
        best = candidate;
      }
    };
    for (const seekers of nodes.values()) consider(headOf(seekers));
    for (const [budget, slot] of offers) consider(offered(budget, slot));
    return best;
  };
  const sendOne = (): boolean => {
    for (let next = first(); next !== undefined; next = first()) if (next.go()) return true;
    return false;
  };

  return {
    add: (who, node, seeker) => {
      remove(who);
      if (onTheirWay.has(who)) return seeker.go();
      nodeOf.set(who, node);
      nodes.set(node, (nodes.get(node) ?? new Map()).set(who, seeker));
    },
    offer: (budget, slot) => {
      offers.set(budget, slot);
    },
    remove,
    left: (who) => {
      onTheirWay.delete(who);
    },
    sendOne,
    sendMany: (may) => {
      while (may() && onTheirWay.size < ON_THEIR_WAY_MAX) if (!sendOne()) return;
    },
  };
};
