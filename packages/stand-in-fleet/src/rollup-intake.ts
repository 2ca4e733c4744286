/**
 * Receives roll-ups: one slot per cluster, a verdict, and an ack or none.
 *
 * Promises: superseded and rejected roll-ups get no ack; a doubted one is acked and not applied;
 * the ack of an applied one follows its application.
 */
import type { ClusterCapacityNeeds } from './gen/bigfleet/v1alpha1/capacity_pb.ts';
import type { Cluster } from './cluster.ts';
import type { FleetTime } from './fleet-time.ts';
import { type History, history } from './history.ts';
import { guard, readRollup } from './needs.ts';
import type { Session } from './session.ts';

/** The verdict on a roll-up. */
export interface RollupRecord {
  readonly cluster: string;
  readonly session: number;
  readonly receivedAt: number;
  readonly rows: number;
  readonly verdict: 'accepted' | 'superseded' | 'rejected' | 'doubted';
  readonly why: string;
  readonly acked: boolean;
}

/** Faults that a script injects. */
export interface RollupFaults {
  /** This many of the next roll-ups are rejected, valid or not. */
  rejectNext: number;
  /** False: roll-ups are applied but not acked. */
  acks: boolean;
}

/** The dependencies of the intake. */
export interface RollupIntakeOptions {
  readonly time: FleetTime;
  readonly delayMs: () => number;
  /** `--empty-rollup-guard`. */
  readonly guarded: boolean;
  readonly ack: (session: Session) => void;
  readonly accepted: (cluster: Cluster) => void;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** A pending roll-up. */
interface Waiting {
  readonly session: Session;
  readonly rollup: ClusterCapacityNeeds;
  readonly receivedAt: number;
}

const RECORDS_KEPT = 1000;

/** Receives the roll-ups of all clusters. */
export class RollupIntake {
  readonly faults: RollupFaults = { rejectNext: 0, acks: true };
  readonly records: History<RollupRecord> = history(RECORDS_KEPT);
  readonly #options: RollupIntakeOptions;
  readonly #slots = new Map<string, Waiting>();

  constructor(options: RollupIntakeOptions) {
    this.#options = options;
  }

  /** Puts a roll-up into its cluster's slot. */
  receive(cluster: Cluster, session: Session, rollup: ClusterCapacityNeeds): void {
    const { time, delayMs } = this.#options;
    const replaced = this.#slots.get(cluster.id);
    if (replaced !== undefined) this.#file(cluster, replaced, { verdict: 'superseded' });
    this.#slots.set(cluster.id, { session, rollup, receivedAt: time.now() });
    if (replaced === undefined) time.schedule(delayMs(), () => this.#decide(cluster));
  }

  #decide(cluster: Cluster): void {
    const waiting = this.#slots.get(cluster.id);
    this.#slots.delete(cluster.id);
    if (waiting === undefined) return;
    const reading = readRollup(waiting.rollup, cluster.id, waiting.receivedAt);
    if (reading._tag === 'Rejected' || this.faults.rejectNext > 0) {
      const why = reading._tag === 'Rejected' ? reading.why : 'a script wants it so';
      this.faults.rejectNext = Math.max(0, this.faults.rejectNext - 1);
      this.#options.log('Rejected a roll-up', { cluster: cluster.id, why });
      return this.#file(cluster, waiting, { verdict: 'rejected', why });
    }
    const rows = reading.needs.length;
    const { apply, streak } = this.#options.guarded
      ? guard(cluster.needs?.length ?? 0, rows, cluster.doubtStreak)
      : { apply: true, streak: 0 };
    cluster.doubtStreak = streak;
    if (apply) {
      cluster.needs = reading.needs;
      this.#options.accepted(cluster);
    }
    if (this.faults.acks) this.#options.ack(waiting.session);
    this.#file(cluster, waiting, { verdict: apply ? 'accepted' : 'doubted' });
  }

  #file(
    cluster: Cluster,
    { session, rollup, receivedAt }: Waiting,
    { verdict, why = '' }: { readonly verdict: RollupRecord['verdict']; readonly why?: string },
  ): void {
    const acked = this.faults.acks && (verdict === 'accepted' || verdict === 'doubted');
    this.records.add({
      cluster: cluster.id,
      session: session.report().number,
      receivedAt,
      rows: rollup.needs.length,
      verdict,
      why,
      acked,
    });
  }
}
