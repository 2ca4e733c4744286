/**
 * Asks clusters how machines join them, and takes their answers.
 *
 * Promises: an id is used once, over restarts too; a pull that its machine no longer waits for is
 * forgotten, and its answer, should it come, is recorded as late.
 */
import { createHash } from 'node:crypto';
import type { BootstrapBlobResponse } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { type History, history } from './history.ts';

/** What became of a pull. */
export interface PullRecord {
  readonly requestId: string;
  readonly cluster: string;
  /** Empty for a pull that a script made. */
  readonly machineId: string;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly userData: string;
  readonly ttlSeconds: number;
  readonly error: string;
  /** Nobody waited for it any more. */
  readonly late: boolean;
}

/** A pull without its answer. */
export interface OpenPull {
  readonly requestId: string;
  readonly cluster: string;
  readonly machineId: string;
  readonly askedAt: number;
}

const RECORDS_KEPT = 10_000;
const ID_LENGTH = 16;

/** Pulls that are open and answered. `seed` makes the ids: a new one for each run of a fleet. */
export class BootstrapPulls {
  readonly answered: History<PullRecord> = history(RECORDS_KEPT);
  readonly #seed: string;
  readonly #open = new Map<string, OpenPull>();
  readonly #byMachine = new Map<string, string>();
  #asked = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  open(): readonly OpenPull[] {
    return [...this.#open.values()];
  }

  /** Whether a machine's pull is on its way, or was answered. */
  asked(machineId: string): boolean {
    return this.#byMachine.has(machineId);
  }

  /** Notes a new pull and names it. */
  ask(cluster: string, machineId: string, askedAt: number): OpenPull {
    this.#asked += 1;
    const digest = createHash('sha256').update(`${this.#seed} ${this.#asked}`).digest('hex');
    const pull = { requestId: digest.slice(0, ID_LENGTH), cluster, machineId, askedAt };
    this.#open.set(pull.requestId, pull);
    if (machineId !== '') this.#byMachine.set(machineId, pull.requestId);
    return pull;
  }

  /** Its machine is no longer being made into a node. */
  forget(machineId: string): void {
    const requestId = this.#byMachine.get(machineId);
    if (requestId !== undefined) this.#open.delete(requestId);
    this.#byMachine.delete(machineId);
  }

  /** Takes an answer; undefined when nobody in this cluster waits for it. */
  answer(cluster: string, response: BootstrapBlobResponse, now: number): OpenPull | undefined {
    const open = this.#open.get(response.requestId);
    const pull = open?.cluster === cluster ? open : undefined;
    this.answered.add({
      requestId: response.requestId,
      cluster,
      machineId: pull?.machineId ?? '',
      askedAt: pull?.askedAt ?? 0,
      answeredAt: now,
      userData: new TextDecoder().decode(response.userData),
      ttlSeconds: Number(response.ttlSeconds),
      error: response.error,
      late: pull === undefined,
    });
    // Its machine stays asked until it is forgotten: one that boots is not asked about again.
    if (pull !== undefined) this.#open.delete(pull.requestId);
    return pull;
  }
}
