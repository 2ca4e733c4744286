/**
 * The windows of maintenances, read when their statecharts ask for them.
 *
 * Promises: the time of day is looked at here and nowhere else, so that a step of the clock counts
 * from the next look on.
 */
import { type ObservedWindow, observedWindow } from '../../domain/node-maintenance/window.ts';
import type { Time } from '../../domain/time.ts';
import { readSchedule } from '../../effects/maintenance-schedule.ts';
import type { MaintenanceEntry } from './node-maintenance-actor.ts';

/** Where windows go. */
type SendWindow = (entry: MaintenanceEntry, window: ObservedWindow) => void;

/** The windows of a process. */
export class MaintenanceWindows {
  readonly #time: Pick<Time, 'now'>;
  readonly #send: SendWindow;

  constructor(time: Pick<Time, 'now'>, send: SendWindow) {
    this.#time = time;
    this.#send = send;
  }

  /** Reads a window that was asked for. */
  readonly renew = (entry: MaintenanceEntry): void => {
    const { generation, spec: { window } } = entry.maintenance;
    if (!entry.wantsWindow || window === null) return;
    entry.wantsWindow = false;
    const at = { generation, nowMs: this.#time.now() };
    this.#send(entry, observedWindow(at, window, readSchedule(window)));
  };
}
