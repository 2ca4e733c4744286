/**
 * The pods of each node from the informer, and which nodes changed.
 *
 * Promises: simultaneous changes are handled once.
 */
import type { Observable, Subscription } from 'rxjs';
import { nodePods } from '../../domain/drain/node-pods.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Fact } from '../../domain/facts.ts';

/** Handles each name once after the current microtask. */
export const oncePerMoment = (handle: (name: string) => void): (name: string) => void => {
  let names = new Set<string>();
  const flush = (): void => {
    const taken = names;
    names = new Set();
    for (const name of taken) handle(name);
  };
  return (name) => {
    names.add(name);
    if (names.size === 1) queueMicrotask(flush);
  };
};

/** The pods of all nodes. */
export class PodsByNode {
  readonly #index = nodePods();
  readonly #onChange: (node?: string) => void;
  readonly #subscription: Subscription;

  /** `onChange` gets the node whose pods changed; no node after a list. */
  constructor(facts: Observable<Fact<DrainPod>>, onChange: (node?: string) => void) {
    this.#onChange = onChange;
    this.#subscription = facts.subscribe((fact) => this.#observe(fact));
  }

  readonly on = (node: string): Iterable<DrainPod> => this.#index.on(node);

  readonly stop = (): void => this.#subscription.unsubscribe();

  #observe(fact: Fact<DrainPod>): void {
    if (fact._tag === 'Listed') {
      this.#index.replace(fact.objects);
      return this.#onChange();
    }
    const pod = fact._tag === 'Present' ? fact.object : fact.last;
    if (fact._tag === 'Present') this.#index.put(pod);
    else this.#index.remove(pod);
    this.#onChange(pod.node);
  }
}
