/**
 * Compares what maintenances select with the room that their statuses have (NM-40).
 *
 * Promises: one Event each time that a selection grows too large, and for each process that leads.
 */
import { tooManyNodesText } from '../../domain/node-maintenance/node-budget.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { workedStage } from '../../domain/node-maintenance/stage.ts';
import type { MaintenanceEntry } from './node-maintenance-actor.ts';

type Record = (maintenance: ObservedMaintenance, note: string) => void;

/** The selections of a process that are too large. */
export class SelectionSizes {
  readonly #record: Record;
  readonly #tooLarge = new WeakSet<MaintenanceEntry>();

  constructor(record: Record) {
    this.#record = record;
  }

  /** Why some of so many selected Nodes do not begin; empty when all may, or when it is over. */
  readonly observe = (entry: MaintenanceEntry, selected: number): string => {
    const { maintenance } = entry;
    const isOver = workedStage(maintenance) === 'Complete';
    const text = isOver ? '' : tooManyNodesText(maintenance, selected);
    if (text === '') this.#tooLarge.delete(entry);
    else if (!this.#tooLarge.has(entry)) {
      this.#tooLarge.add(entry);
      this.#record(maintenance, text);
    }
    return text;
  };
}
