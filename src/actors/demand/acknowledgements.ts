/**
 * Moves CapacityRequests to Acknowledged when the shard has acknowledged a roll-up that includes
 * them, and to Pending those that stay without a phase.
 *
 * Promises: bounded concurrency; one patch per version of a request's spec, also while the cache
 * lags behind a landed patch; a failed patch is dropped and repeated with the ack of a later
 * roll-up, or an interval later; Pending replaces no other phase; nothing waits for any of it.
 */
import { Effect } from 'effect';
import { EMPTY, interval, mergeMap, Observable, Subject, Subscription, switchMap, tap } from 'rxjs';
import type { CapacityRequestProjection } from '../../domain/demand/request.ts';
import { awaitsAcknowledgement } from '../../domain/demand/request-status.ts';
import type { Collection, Fact } from '../../domain/facts.ts';
import type { ObjectKey, ResourceVersion, Uid } from '../../domain/ids.ts';
import { isOlder } from '../../domain/resource-versions.ts';
import {
  type AcknowledgedRequest,
  type AcknowledgeOutcome,
  CapacityRequests,
  type PendingOutcome,
} from '../../effects/capacity-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

export interface AcknowledgementsOptions {
  /** The current request in the cluster. */
  readonly requests: Pick<Collection<CapacityRequestProjection>, 'get'>;
  /** Concurrent patches (`--ack-concurrency`). */
  readonly concurrency: number;
}

export interface Acknowledgements {
  /** The requests of an acknowledged roll-up. */
  readonly acknowledge: (requests: readonly CapacityRequestProjection[]) => void;
  /** Receives cluster facts, to learn that a patch arrived there. */
  readonly observe: (fact: Fact<CapacityRequestProjection>) => void;
  /** While this process does not lead, nothing new is sent and the queue is dropped. */
  readonly setLeading: (leading: boolean) => void;
  /** The number of requests queued or in flight. */
  readonly pending: () => number;
  readonly stop: () => void;
}

/** A landed patch that the cache does not have yet. */
interface Landed {
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

/** The requests of one roll-up, to measure the time to acknowledge them. */
interface Batch {
  readonly startedMs: number;
  left: number;
}

interface Task {
  /** The request as the roll-up had it. */
  readonly request: CapacityRequestProjection;
  readonly batch: Batch;
}

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

/** Acknowledgements are in the same class of writes and must not wait long behind these. */
const PENDING_AT_ONCE = 2;

export interface PendingPhasesOptions {
  readonly requests: AcknowledgementsOptions['requests'];
  /** How long a request stays without a phase, at least. */
  readonly intervalMs: number;
  readonly leading: Observable<boolean>;
}

export interface PendingPhases {
  /** Receives cluster facts. */
  readonly observe: (fact: Fact<CapacityRequestProjection>) => void;
  readonly stop: () => void;
}

/** How far a request without a phase has come: what was written is not observed yet. */
type Progress = 'New' | 'Due' | 'Queued' | 'Written';

interface WithoutPhase {
  readonly uid: Uid;
  readonly progress: Progress;
}

/**
 * Sets Pending on requests without a phase. Most are acknowledged within an interval and need no
 * second write: those that are still without a phase at the second tick after they came get one.
 */
class KeptPendingPhases implements PendingPhases {
  readonly #environment: ActorEnvironment<CapacityRequests>;
  readonly #requests: AcknowledgementsOptions['requests'];
  readonly #tasks = new Subject<CapacityRequestProjection>();
  #without: Map<ObjectKey, WithoutPhase> = new Map();
  #leading = false;
  readonly stop: () => void;

  constructor(
    environment: ActorEnvironment<CapacityRequests>,
    { requests, intervalMs, leading }: PendingPhasesOptions,
  ) {
    this.#environment = environment;
    this.#requests = requests;
    const work = new Subscription();
    work.add(
      this.#tasks.pipe(mergeMap((request) => this.#perform(request), PENDING_AT_ONCE)).subscribe(),
    );
    work.add(
      leading.pipe(
        tap({
          next: (now) => (this.#leading = now),
          complete: () => (this.#leading = false),
        }),
        switchMap((now) => now ? interval(intervalMs, environment.scheduler) : EMPTY),
      ).subscribe(() => this.#tick()),
    );
    this.stop = () => work.unsubscribe();
  }

  readonly observe = (fact: Fact<CapacityRequestProjection>): void => {
    if (fact._tag === 'Absent') this.#without.delete(fact.key);
    else if (fact._tag === 'Present') this.#see(fact.object, this.#without);
    else {
      const known = this.#without;
      this.#without = new Map();
      fact.objects.forEach((request) => this.#see(request, known));
    }
  };

  #see(
    { key, uid, phase }: CapacityRequestProjection,
    known: ReadonlyMap<ObjectKey, WithoutPhase>,
  ): void {
    if (phase !== '') {
      this.#without.delete(key);
      return;
    }
    const before = known.get(key);
    const isKnown = before?.uid === uid && before.progress !== 'Written';
    this.#without.set(key, isKnown ? before : { uid, progress: 'New' });
  }

  #tick(): void {
    for (const [key, { uid, progress }] of this.#without) {
      const current = this.#requests.get(key);
      if (progress === 'New') this.#without.set(key, { uid, progress: 'Due' });
      else if (progress === 'Due' && current !== undefined) {
        this.#without.set(key, { uid, progress: 'Queued' });
        this.#tasks.next(current);
      }
    }
  }

  #perform(request: CapacityRequestProjection): Observable<PendingOutcome> {
    const current = this.#requests.get(request.key);
    if (!this.#leading || current?.uid !== request.uid || current.phase !== '') {
      this.#settle(request, 'Due');
      return EMPTY;
    }
    const act = CapacityRequests.use((requests) => requests.setPending(current));
    return acted(
      this.#environment,
      Effect.tap(act, ({ _tag }) => Effect.sync(() => this.#count(request, _tag))),
    );
  }

  #count(request: CapacityRequestProjection, outcome: PendingOutcome['_tag']): void {
    this.#settle(request, outcome === 'Written' ? 'Written' : 'Due');
    this.#environment.telemetry.count('tidegate_pending_phase_writes_total', 1, { outcome });
  }

  #settle({ key, uid }: CapacityRequestProjection, progress: Progress): void {
    if (this.#without.get(key)?.uid === uid) this.#without.set(key, { uid, progress });
  }
}

/** Starts to set Pending while this process leads. */
export const startPendingPhases = (
  environment: ActorEnvironment<CapacityRequests>,
  options: PendingPhasesOptions,
): PendingPhases => new KeptPendingPhases(environment, options);

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
    for (const request of due) this.#tasks.next({ request, batch });
  };

  readonly observe = (fact: Fact<CapacityRequestProjection>): void => {
    if (fact._tag === 'Absent') this.#landed.delete(fact.key);
    else if (fact._tag === 'Present') this.#see(fact.object);
    else {
      for (const key of [...this.#landed.keys()]) {
        const current = this.#requests.get(key);
        if (current === undefined) this.#landed.delete(key);
        else this.#see(current);
      }
    }
  };

  /** The cache has our write or something newer: from here on it is authoritative. */
  #see({ key, uid, resourceVersion }: CapacityRequestProjection): void {
    const landed = this.#landed.get(key);
    if (landed === undefined) return;
    if (landed.uid !== uid || !isOlder(resourceVersion, landed.resourceVersion)) {
      this.#landed.delete(key);
    }
  }

  /** The current status with the generation of the roll-up. */
  #acknowledged(request: CapacityRequestProjection): AcknowledgedRequest {
    const { key, generation } = request;
    const { phase, acknowledged } = this.#requests.get(key) ?? request;
    return { key, generation, phase, acknowledged };
  }

  #isDue(request: CapacityRequestProjection): boolean {
    const { key, uid } = request;
    return this.#requests.get(key)?.uid === uid && !this.#busy.has(uid) &&
      this.#landed.get(key)?.uid !== uid && awaitsAcknowledgement(this.#acknowledged(request));
  }

  #perform(task: Task): Observable<AcknowledgeOutcome> {
    if (!this.#leading) {
      this.#busy.delete(task.request.uid);
      return EMPTY;
    }
    const act = CapacityRequests.use((requests) =>
      requests.acknowledge(this.#acknowledged(task.request))
    );
    return acted(
      this.#environment,
      Effect.tap(act, (outcome) => Effect.sync(() => this.#settle(task, outcome))),
    );
  }

  #settle({ request: { key, uid }, batch }: Task, outcome: AcknowledgeOutcome): void {
    const { telemetry, time } = this.#environment;
    this.#busy.delete(uid);
    batch.left -= 1;
    if (batch.left === 0) {
      const seconds = (time.monotonic() - batch.startedMs) / 1000;
      telemetry.observe('bigfleet_operator_acknowledge_duration_seconds', seconds);
    }
    if (outcome._tag === 'Acknowledged') {
      telemetry.count('bigfleet_operator_acknowledged_total', 1);
      this.#remember({ uid, resourceVersion: outcome.resourceVersion }, key);
    } else if (outcome._tag !== 'Gone') {
      telemetry.count('tidegate_acknowledgement_faults_total', 1);
      telemetry.log('warn', 'Cannot acknowledge CapacityRequest', {
        request: key,
        outcome: outcome._tag,
        problem: outcome.why,
      });
    }
  }

  #remember(landed: Landed, key: ObjectKey): void {
    const current = this.#requests.get(key);
    // The watch may be ahead of the answer.
    if (current?.uid === landed.uid && isOlder(current.resourceVersion, landed.resourceVersion)) {
      this.#landed.set(key, landed);
    }
  }
}

/** Starts to acknowledge; nothing happens before an acknowledged roll-up. */
export const startAcknowledgements = (
  environment: ActorEnvironment<CapacityRequests>,
  options: AcknowledgementsOptions,
): Acknowledgements => new KeptAcknowledgements(environment, options);
