/**
 * The evictions that may be asked for and have not left yet, in the order of DR-34 over all drains:
 * when writes are scarce, nodes still empty one after another.
 *
 * Promises: few are on their way to the write budget at once, so that who comes first is decided
 * late; one look at the queue costs as much as there are nodes in it, not pods.
 */
import { comparePetitions, type Petition } from '../domain/drain/queue.ts';

/** Between the permit and the first byte: enough to keep the write budget busy. */
const ON_THEIR_WAY_MAX = 8;

/** A pod that has all that it needs to be asked. */
export interface CallSeeker {
  /** False when it does not wait any more and has not said so yet. */
  readonly isWaiting: () => boolean;
  readonly petition: () => Petition;
  readonly go: () => void;
}

/** Those who wait to call. */
export interface CallQueue {
  readonly add: (who: string, node: string, seeker: CallSeeker) => void;
  readonly remove: (who: string) => void;
  /** The call has left, or will not. */
  readonly left: (who: string) => void;
  /** Lets the first go; false when there is none. */
  readonly sendOne: () => boolean;
  /** Lets as many go as may be on their way while `may` holds. */
  readonly sendMany: (may: () => boolean) => void;
}

/** An empty queue. `now` is monotonic. */
export const callQueue = (now: () => number): CallQueue => {
  const nodes = new Map<string, Map<string, CallSeeker>>();
  const nodeOf = new Map<string, string>();
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
  const headOf = (seekers: ReadonlyMap<string, CallSeeker>) => {
    for (const [who, seeker] of seekers) if (seeker.isWaiting()) return { who, seeker };
    return undefined;
  };
  const sendOne = (): boolean => {
    const view = { budget: { disruptedPods: {} }, nowMs: now() };
    let first: { who: string; seeker: CallSeeker; petition: Petition } | undefined;
    for (const seekers of nodes.values()) {
      const head = headOf(seekers);
      if (head === undefined) continue;
      const petition = head.seeker.petition();
      if (first === undefined || comparePetitions(petition, first.petition, view) < 0) {
        first = { ...head, petition };
      }
    }
    if (first === undefined) return false;
    remove(first.who);
    onTheirWay.add(first.who);
    first.seeker.go();
    return true;
  };

  return {
    add: (who, node, seeker) => {
      remove(who);
      nodeOf.set(who, node);
      nodes.set(node, (nodes.get(node) ?? new Map()).set(who, seeker));
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
