/**
 * Requests bootstrap blobs from clusters and matches the responses.
 *
 * Promises: an id is used once, even across restarts; a pull that its machine no longer waits for
 * is dropped, and a response to it is recorded as late.
 */
import { createHash } from 'node:crypto';
import type { BootstrapBlobResponse } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { type History, history } from './history.ts';

/** The result of a pull. */
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
  /** Its machine no longer waits for it. */
  readonly late: boolean;
}

/** A pull without a response. */
export interface OpenPull {
  readonly requestId: string;
  readonly cluster: string;
  readonly machineId: string;
  readonly askedAt: number;
}

const RECORDS_KEPT = 10_000;
const ID_LENGTH = 16;

/** Open and answered pulls. `seed` generates the ids and must differ between runs of a fleet. */
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

  /** Whether a machine's pull is open or answered. */
  asked(machineId: string): boolean {
    return this.#byMachine.has(machineId);
  }

  /** Adds a pull and returns its id. */
  ask(cluster: string, machineId: string, askedAt: number): OpenPull {
    this.#asked += 1;
    const digest = createHash('sha256').update(`${this.#seed} ${this.#asked}`).digest('hex');
    const pull = { requestId: digest.slice(0, ID_LENGTH), cluster, machineId, askedAt };
    this.#open.set(pull.requestId, pull);
    if (machineId !== '') this.#byMachine.set(machineId, pull.requestId);
    return pull;
  }

  /** Its machine no longer joins a cluster. */
  forget(machineId: string): void {
    const requestId = this.#byMachine.get(machineId);
    if (requestId !== undefined) this.#open.delete(requestId);
    this.#byMachine.delete(machineId);
  }

  /** Records a response; undefined when no pull of this cluster is open under its id. */
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
    // Its machine stays in `asked` until it is dropped, so that a booting one is not pulled again.
    if (pull !== undefined) this.#open.delete(pull.requestId);
    return pull;
  }
}
