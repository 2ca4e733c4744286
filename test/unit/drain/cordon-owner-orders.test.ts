/**
 * A person, two maintenances and a reclaim that cordon one node in every order, and leave it in
 * every order: 24 × 24 histories.
 *
 * The oracle counts owners only; the tested side writes patches of annotations. A second `kubectl
 * cordon` of an unschedulable node changes nothing that anybody can see, so a person is an owner
 * only after the cordon of a schedulable node.
 */
import { describe, expect, it } from 'vitest';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import type { NodeProjection } from '../../../src/domain/cluster-node.ts';
import {
  cancelSeen,
  type CordonOrder,
  decideCordon,
  endedPatch,
  releasePatch,
} from '../../../src/domain/drain/cordon-patch.ts';
import {
  annotationOf,
  CORDON_PREFIX,
  isCordonedFor,
  isMaintenanceOwner,
  maintenanceOwner,
} from '../../../src/domain/drain/cordon.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';

const FIRST = maintenanceOwner('11111111-1111-1111-1111-111111111111');
const SECOND = maintenanceOwner('22222222-2222-2222-2222-222222222222');
const MAINTENANCES = [FIRST, SECOND] as const;
type Actor = 'person' | 'reclaim' | typeof FIRST;
const ACTORS: readonly Actor[] = ['person', FIRST, SECOND, 'reclaim'];

const permutations = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  items.length <= 1
    ? [items]
    : items.flatMap((first, index) =>
      permutations([...items.slice(0, index), ...items.slice(index + 1)])
        .map((rest) => [first, ...rest])
    );

/** The node, written by people and by the operator. */
class WorkedNode {
  #raw: unknown = { metadata: { name: 'n1', uid: 'u', resourceVersion: '1' }, spec: {} };
  #version = 1;
  #orders = 0;
  readonly #wanted = new Set<Actor>();

  get node(): NodeProjection {
    const node = projectNode(this.#raw);
    if (node === undefined) throw new Error('The node has no identity');
    return node;
  }

  readonly start = (actor: Actor): void => {
    if (actor === 'person') this.#write({ spec: { unschedulable: true } });
    else {
      this.#wanted.add(actor);
      this.#cordon(actor);
    }
    this.#settle();
  };

  readonly cancel = (actor: Actor): void => {
    this.#wanted.delete(actor);
    if (actor === 'person') this.#write({ spec: { unschedulable: null } });
    else if (actor === 'reclaim') {
      const before = annotationOf(this.node, actor);
      this.#write({ metadata: { annotations: { [`${CORDON_PREFIX}reclaim`]: null } } });
      // The drain writes back how it ended (DR-05).
      if (before !== undefined) {
        this.#write(endedPatch(this.node, actor, { end: 'Cancelled', remembered: before }));
      }
    } else this.#write(releasePatch(this.node, actor));
    this.#settle();
  };

  #write(patch: object | undefined): void {
    if (patch === undefined) return;
    this.#version += 1;
    this.#raw = mergePatched(mergePatched(this.#raw, patch), {
      metadata: { resourceVersion: `${this.#version}` },
    });
  }

  #cordon(owner: Exclude<Actor, 'person'>): void {
    this.#orders += 1;
    const order: CordonOrder = {
      id: `${owner}@${this.#orders}`,
      deadlineMs: null,
      graceSeconds: 0,
      sinceMs: this.#orders * 1000,
    };
    const decision = decideCordon(this.node, owner, order);
    if (decision._tag === 'Patch') this.#write(decision.body);
  }

  /** What the operator does about a node that a person made schedulable. */
  #settle(): void {
    const known = annotationOf(this.node, 'reclaim');
    const isCancelled = known?.ended === null &&
      cancelSeen(this.node, 'reclaim', { landedAt: null, cordonObserved: true });
    if (isCancelled) {
      this.#wanted.delete('reclaim');
      this.#write(endedPatch(this.node, 'reclaim', { end: 'Cancelled', remembered: known }));
    }
    for (const owner of MAINTENANCES) {
      if (this.#wanted.has(owner) && !isCordonedFor(this.node, owner)) this.#cordon(owner);
    }
  }
}

/** Who holds the cordon, told by the rules alone. */
class Oracle {
  readonly #owners = new Set<Actor>();
  isSchedulable = true;

  readonly start = (actor: Actor): void => {
    if (actor !== 'person' || this.isSchedulable) this.#owners.add(actor);
    this.isSchedulable = false;
  };

  readonly cancel = (actor: Actor): void => {
    const wasOwner = this.#owners.delete(actor);
    if (actor === 'person') {
      // An uncordon cancels a reclaim, and is reverted for a maintenance.
      this.#owners.delete('reclaim');
      this.isSchedulable = this.#owners.size === 0;
      return;
    }
    // A reclaim never uncordons (DR-04).
    if (actor !== 'reclaim' && wasOwner && this.#owners.size === 0) this.isSchedulable = true;
  };
}

describe('cordons of several owners in every order', () => {
  it('NM-16: the node is schedulable exactly when no owner is left', () => {
    let histories = 0;
    let held = 0;
    for (const starts of permutations(ACTORS)) {
      for (const cancels of permutations(ACTORS)) {
        const [worked, oracle] = [new WorkedNode(), new Oracle()];
        const check = (moment: string): void =>
          expect(
            !worked.node.unschedulable,
            `${starts.join()} then ${cancels.join()}: after ${moment}`,
          ).toBe(oracle.isSchedulable);
        for (const actor of starts) {
          worked.start(actor);
          oracle.start(actor);
          check(`the start of ${actor}`);
        }
        for (const actor of cancels) {
          worked.cancel(actor);
          oracle.cancel(actor);
          check(`the end of ${actor}`);
          if (worked.node.unschedulable) held += 1;
        }
        histories += 1;
        expect(worked.node.unschedulable, 'all four have left').toBe(false);
        const left = Object.keys(worked.node.cordons).filter(isMaintenanceOwner);
        expect(left, 'no maintenance leaves its key').toEqual([]);
      }
    }
    expect(histories).toBe(576);
    expect(held, 'moments at which somebody left and another still held the node').toBe(1512);
  });
});
