/**
 * Moves CapacityRequests to Acknowledged when the shard has acknowledged the roll-up they were in.
 *
 * Promises: a fixed number at once; one patch a request, also while the cache lags behind the patch
 * that landed; what did not land is forgotten here and comes again with the ack of a later roll-up,
 * in which it still is; nobody waits for any of it.
 */
import { Effect } from 'effect';
import { EMPTY, mergeMap, Observable, Subject } from 'rxjs';
import type { CapacityRequestProjection } from '../../domain/demand/request.ts';
import type { Collection, Fact } from '../../domain/facts.ts';
import type { ObjectKey, Revision, Uid } from '../../domain/ids.ts';
import { isOlder } from '../../domain/revisions.ts';
import { type AcknowledgeOutcome, CapacityRequests } from '../../effects/capacity-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

export interface AcknowledgementsOptions {
  /** What the cluster shows now. */
  readonly requests: Pick<Collection<CapacityRequestProjection>, 'get'>;
  /** Patches at once (`--ack-concurrency`). */
  readonly concurrency: number;
}

export interface Acknowledgements {
  /** These were in a roll-up that the shard acknowledged. */
  readonly acknowledge: (requests: readonly CapacityRequestProjection[]) => void;
  /** Takes what the cluster shows, to learn that a patch arrived there. */
  readonly observe: (fact: Fact<CapacityRequestProjection>) => void;
  /** While this process does not lead, nothing new is sent and what waits is forgotten. */
  readonly setLeading: (leading: boolean) => void;
  /** How many are waiting or under way. */
  readonly pending: () => number;
  readonly stop: () => void;
}

/** A patch that landed and that the cache has not shown yet. */
interface Landed {
  readonly uid: Uid;
  readonly revision: Revision;
}

/** The requests of one roll-up, for measuring how long it took to acknowledge them. */
interface Batch {
  readonly startedMs: number;
  left: number;
}

interface Task {
  readonly key: ObjectKey;
  readonly uid: Uid;
  readonly batch: Batch;
}

const wantsAck = (phase: string): boolean => phase === '' || phase === 'Pending';

/** Runs `effect` when subscribed and interrupts it when unsubscribed. */
const acted = <A, Services>(
  { runtime }: ActorEnvironment<Services>,
  effect: Effect.Effect<A, never, Services>,
): Observable<A> =>
  new Observable((receiver) => {
    const leaving = new AbortController();
    runtime.runPromise(effect, { signal: leaving.signal }).then((value) => {
      receiver.next(value);
      receiver.complete();
    }, (problem) => receiver.error(problem));
    return () => leaving.abort();
  });

class KeptAcknowledgements implements Acknowledgements {
  readonly #environment: ActorEnvironment<CapacityRequests>;
  readonly #requests: AcknowledgementsOptions['requests'];
  readonly #busy = new Set<Uid>();
  readonly #landed = new Map<ObjectKey, Landed>();
  readonly #tasks = new Subject<Task>();
  #leading = false;
  readonly stop: () => void;

  constructor(
    environment: ActorEnvironment<CapacityRequests>,
    { requests, concurrency }: AcknowledgementsOptions,
  ) {
    this.#environment = environment;
    this.#requests = requests;
    const work = this.#tasks
      .pipe(mergeMap((task) => this.#perform(task), concurrency))
      .subscribe();
    this.stop = () => work.unsubscribe();
  }

  readonly setLeading = (leading: boolean): void => {
    this.#leading = leading;
  };

  readonly pending = (): number => this.#busy.size;

  readonly acknowledge = (requests: readonly CapacityRequestProjection[]): void => {
    const due = requests.filter((request) => this.#isDue(request));
    const batch: Batch = { startedMs: this.#environment.time.monotonic(), left: due.length };
    for (const { uid } of due) this.#busy.add(uid);
    for (const { key, uid } of due) this.#tasks.next({ key, uid, batch });
  };

  readonly observe = (fact: Fact<CapacityRequestProjection>): void => {
    if (fact._tag === 'Absent') this.#landed.delete(fact.key);
    else if (fact._tag === 'Present') this.#see(fact.object);
    else {
      for (const key of [...this.#landed.keys()]) {
        const shown = this.#requests.get(key);
        if (shown === undefined) this.#landed.delete(key);
        else this.#see(shown);
      }
    }
  };

  /** The cache shows what we wrote, or something newer: from here on it knows better than we. */
  #see({ key, uid, revision }: CapacityRequestProjection): void {
    const landed = this.#landed.get(key);
    if (landed === undefined) return;
    if (landed.uid !== uid || !isOlder(revision, landed.revision)) this.#landed.delete(key);
  }

  #isDue({ key, uid }: CapacityRequestProjection): boolean {
    const shown = this.#requests.get(key);
    return shown?.uid === uid && wantsAck(shown.phase) && !this.#busy.has(uid) &&
      this.#landed.get(key)?.uid !== uid;
  }

  #perform(task: Task): Observable<AcknowledgeOutcome> {
    if (!this.#leading) {
      this.#busy.delete(task.uid);
      return EMPTY;
    }
    const act = Effect.gen(function* () {
      const requests = yield* CapacityRequests;
      return yield* requests.acknowledge(task.key);
    });
    return acted(
      this.#environment,
      Effect.tap(act, (outcome) => Effect.sync(() => this.#settle(task, outcome))),
    );
  }

  #settle({ key, uid, batch }: Task, outcome: AcknowledgeOutcome): void {
    const { telemetry, time } = this.#environment;
    this.#busy.delete(uid);
    batch.left -= 1;
    if (batch.left === 0) {
      const seconds = (time.monotonic() - batch.startedMs) / 1000;
      telemetry.observe('bigfleet_operator_acknowledge_duration_seconds', seconds);
    }
    if (outcome._tag === 'Acknowledged') {
      telemetry.count('bigfleet_operator_acknowledged_total', 1);
      this.#remember({ uid, revision: outcome.revision }, key);
    } else if (outcome._tag !== 'Gone') {
      telemetry.count('tidegate_acknowledgement_faults_total', 1);
      telemetry.log('warn', 'CapacityRequest not acknowledged yet', {
        request: key,
        outcome: outcome._tag,
        problem: outcome.why,
      });
    }
  }

  #remember(landed: Landed, key: ObjectKey): void {
    const shown = this.#requests.get(key);
    // The watch may have been faster than the answer.
    if (shown?.uid === landed.uid && isOlder(shown.revision, landed.revision)) {
      this.#landed.set(key, landed);
    }
  }
}

/** Starts to acknowledge; nothing happens until a roll-up was acknowledged. */
export const startAcknowledgements = (
  environment: ActorEnvironment<CapacityRequests>,
  options: AcknowledgementsOptions,
): Acknowledgements => new KeptAcknowledgements(environment, options);
