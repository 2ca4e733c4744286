/**
 * The interceptors that pods have besides those that they register (ER-55).
 *
 * Promises: follows nothing while there are none.
 */
import { Subscription } from 'rxjs';
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import {
  type AvailabilityIndex,
  availabilityIndex,
} from '../../domain/eviction-requests/default-interceptors.ts';
import type { Fact } from '../../domain/facts.ts';
import type { Informer } from '../informers/informer.ts';

/** What they follow from. */
export interface DefaultInterceptorsOptions {
  /** `--default-interceptors`. */
  readonly names: readonly string[];
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'values'>;
  readonly budgets: Pick<Informer<Budget>, 'facts' | 'values'>;
}

const NONE: readonly string[] = [];

/** The defaults of pods. */
export class DefaultInterceptors {
  readonly #options: DefaultInterceptorsOptions;
  readonly #subscription = new Subscription();
  #index: AvailabilityIndex = availabilityIndex();

  constructor(options: DefaultInterceptorsOptions) {
    this.#options = options;
    const { names, pods, budgets } = options;
    if (names.length === 0) return;
    this.#subscription.add(pods.facts.subscribe((fact) => this.#onPods(fact)));
    this.#subscription.add(budgets.facts.subscribe((fact) => this.#onBudgets(fact)));
  }

  /** Those of the pod now. */
  readonly of = (pod: DrainPod): readonly string[] => {
    const { names } = this.#options;
    return names.length > 0 && this.#index.wouldLose(pod) ? names : NONE;
  };

  readonly stop = (): Promise<void> => Promise.resolve(this.#subscription.unsubscribe());

  /** What a list does not have is absent. */
  #rebuild(): void {
    this.#index = availabilityIndex();
    for (const pod of this.#options.pods.values()) this.#index.putPod(pod);
    for (const budget of this.#options.budgets.values()) this.#index.putBudget(budget);
  }

  #onPods(fact: Fact<DrainPod>): void {
    if (fact._tag === 'Listed') this.#rebuild();
    else if (fact._tag === 'Present') this.#index.putPod(fact.object);
    else this.#index.removePod(fact.last);
  }

  #onBudgets(fact: Fact<Budget>): void {
    if (fact._tag === 'Listed') this.#rebuild();
    else if (fact._tag === 'Present') this.#index.putBudget(fact.object);
    else this.#index.removeBudget(fact.key);
  }
}
