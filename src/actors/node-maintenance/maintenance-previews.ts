/**
 * The previews of planned maintenances, computed when their statecharts ask for them.
 *
 * Promises: one that was computed from the same Nodes, pods, budgets and spec is not computed
 * again, so that a quiet cluster costs nothing; without a request none is, however much changes.
 */
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { effectivePlan } from '../../domain/node-maintenance/drain-plan.ts';
import type { ComputedPreview } from '../../domain/node-maintenance/maintenance-step.ts';
import { maintenancePreview } from '../../domain/node-maintenance/preview.ts';
import type { MaintenanceEntry } from './node-maintenance-actor.ts';

/** What previews are computed from, and where they go. */
export interface MaintenancePreviewsOptions {
  readonly podsOn: (node: string) => Iterable<DrainPod>;
  readonly budgets: () => Iterable<Budget>;
  readonly send: (entry: MaintenanceEntry, computed: ComputedPreview) => void;
}

/** The previews of a process. */
export class MaintenancePreviews {
  readonly #options: MaintenancePreviewsOptions;
  /** Counts the changes of Nodes, pods and budgets. */
  #changes = 0;

  constructor(options: MaintenancePreviewsOptions) {
    this.#options = options;
  }

  /** Nodes, pods or budgets changed. */
  readonly changed = (): void => {
    this.#changes += 1;
  };

  /** Its preview may be renewed; true when it is due now. */
  readonly request = (entry: MaintenanceEntry): boolean => {
    entry.wantsPreview = true;
    return this.#isDue(entry);
  };

  /** Computes a preview that is due, of the Nodes that the maintenance selects. */
  readonly renew = (
    entry: MaintenanceEntry,
    selected: readonly { readonly name: string }[],
  ): void => {
    if (!this.#isDue(entry)) return;
    const { generation, spec } = entry.maintenance;
    const { podsOn, budgets, send } = this.#options;
    entry.wantsPreview = false;
    entry.previewedFacts = this.#factsOf(entry);
    const preview = maintenancePreview({
      podsByNode: new Map(selected.map(({ name }) => [name, podsOn(name)])),
      plan: effectivePlan(spec.drainPlan, spec.podTypes),
      scope: spec,
      graceSeconds: spec.gracePeriodSeconds,
      budgets: [...budgets()],
    });
    send(entry, { generation, preview });
  };

  #isDue(entry: MaintenanceEntry): boolean {
    return entry.wantsPreview && entry.previewedFacts !== this.#factsOf(entry);
  }

  #factsOf({ maintenance: { generation } }: MaintenanceEntry): string {
    return `${generation}/${this.#changes}`;
  }
}
