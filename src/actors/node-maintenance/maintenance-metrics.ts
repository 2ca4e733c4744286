/**
 * The metrics of single maintenances (NM-54).
 *
 * Promises: a series leaves with the stage Drain and with its object; no more than
 * `OBJECTS_WITH_SERIES_MAX` maintenances have one, and the rest is counted; only a leader has any.
 */
import type { Telemetry } from '../../api/telemetry.ts';
import { hasBegun } from '../../domain/node-maintenance/node-status.ts';
import { podsLeft } from '../../domain/node-maintenance/progress-text.ts';
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { workedStage } from '../../domain/node-maintenance/stage.ts';
import { LimitedSeries } from '../limited-series.ts';

const PODS_LEFT = 'tidegate_node_maintenance_pods_left';

interface PodsLeft {
  readonly name: string;
  readonly pods: number;
}

/** The series of all maintenances of a process. */
export class MaintenanceMetrics {
  readonly #telemetry: Pick<Telemetry, 'gauge' | 'forget'>;
  /** By UID. */
  readonly #series: LimitedSeries<string, PodsLeft>;

  constructor(telemetry: Pick<Telemetry, 'gauge' | 'forget'>) {
    this.#telemetry = telemetry;
    this.#series = new LimitedSeries((count) =>
      telemetry.gauge('tidegate_node_maintenance_series_left_out', count)
    );
  }

  /** A maintenance as its status is stored. */
  readonly observe = (maintenance: ObservedMaintenance): void => {
    const { uid, name, status } = maintenance;
    if (workedStage(maintenance) !== 'Drain') return this.forget(uid);
    // Those of a node that waits for its turn, or for the window, are not late.
    const pods = podsLeft(status.nodes.filter(hasBegun));
    if (this.#series.get(uid)?.pods === pods || !this.#series.set(uid, { name, pods })) return;
    this.#telemetry.gauge(PODS_LEFT, pods, { nodemaintenance: name });
  };

  /** It is gone. */
  readonly forget = (uid: string): void => {
    const before = this.#series.get(uid);
    this.#series.delete(uid);
    if (before !== undefined) this.#telemetry.forget(PODS_LEFT, { nodemaintenance: before.name });
  };

  /** Another process leads: it has the series from now on. */
  readonly clear = (): void => {
    for (const uid of this.#series.keys()) this.forget(uid);
  };
}
