/**
 * Leader election of this process: the `leadership` statechart on the API server, with a watch on
 * the Lease and the gate of all writes.
 *
 * Promises: only this module opens and closes the gate, and a crash closes it; a standby learns of
 * a release from the watch and takes over at once; without the watch the local clock decides.
 */
import { Effect, Option } from 'effect';
import { type Observable, ReplaySubject, Subject } from 'rxjs';
import { type ActorRefFrom, fromPromise, type SnapshotFrom } from 'xstate';
import type { Telemetry } from '../api/telemetry.ts';
import type { Fact, Identity } from '../domain/facts.ts';
import {
  type AcquireOutcome,
  type LeaseRecord,
  leaseRecordOf,
  type LeaseTimes,
  type ReleaseOutcome,
  type RenewOutcome,
} from '../domain/lease.ts';
import { identityOf } from '../domain/object-meta.ts';
import type { KubeApi } from '../effects/kube-api.ts';
import {
  acquireLease,
  type LeaseClaim,
  leasesPath,
  releaseLease,
  renewLease,
} from '../effects/leases.ts';
import { WriteGate } from '../effects/write-gate.ts';
import { leadership } from '../machines/leadership.ts';
import type { ActorEnvironment } from './actor-environment.ts';
import type { EffectRuntime } from './actor-logic.ts';
import type { ActorKind } from './actor-kind.ts';
import { type ActorRegistry, actorRegistry } from './actor-registry.ts';
import { type Informer, startInformer } from './informers/informer.ts';

/**
 * The candidate and its lease. `identity` is unique to this process, never to a pod that may
 * restart.
 */
export interface LeadershipOptions extends LeaseTimes {
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
}

/** The Lease as Events refer to it. */
export interface LeaseRef {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A running candidacy. */
export interface Leadership {
  /** The running statechart; `undefined` while it awaits a restart after a crash. */
  readonly actor: ActorRefFrom<typeof leadership> | undefined;
  /** The current state, then every change. Completes with the release. */
  readonly leading: Observable<boolean>;
  /** Hot: the lease is held again, or still, after a request for it had failed. */
  readonly recoveries: Observable<void>;
  /** Whether this process may write now. Checks the monotonic clock, not only the state. */
  readonly leads: () => boolean;
  /** Why renewals have stopped although it still counts as leader, or undefined. */
  readonly stalled: () => string | undefined;
  /** Why the lease is not acquired although no other process is known to hold it, or undefined. */
  readonly failure: () => string | undefined;
  /** Releases the lease for good; resolves when that is done or given up. */
  readonly release: () => Promise<void>;
  /** The Lease, once it was observed. */
  readonly leaseSeen: Promise<LeaseRef>;
}

interface ObservedLease extends Identity {
  readonly lease: LeaseRecord;
}

const project = (raw: unknown): ObservedLease | undefined => {
  const identity = identityOf(raw);
  return identity === undefined ? undefined : { ...identity, lease: leaseRecordOf(raw) };
};

/** The lease of a fact; null when there is none. */
const leaseIn = (fact: Fact<ObservedLease>): LeaseRecord | null => {
  switch (fact._tag) {
    case 'Listed':
      return fact.objects[0]?.lease ?? null;
    case 'Present':
      return fact.object.lease;
    case 'Absent':
      return null;
  }
};

const keyOf = ({ namespace, name }: LeadershipOptions): string => `${namespace}/${name}`;

const SUSPENDED = { _tag: 'Fault', why: 'the machine was suspended', retryAfterMs: 0 } as const;

/** An answer that waited on the socket of a suspended machine is as old as the suspension. */
const unlessSuspended = (
  acquired: Effect.Effect<AcquireOutcome, never, KubeApi>,
): Effect.Effect<AcquireOutcome, never, KubeApi> =>
  Effect.gen(function* () {
    const gate = Option.getOrUndefined(yield* Effect.serviceOption(WriteGate));
    const isSuspended = gate?.watchSuspension();
    const outcome = yield* acquired;
    return isSuspended?.() === true ? SUSPENDED : outcome;
  });

/** The operations of the statechart on the API server. */
export const leadershipActors = (
  runtime: EffectRuntime<KubeApi>,
  claim: LeaseClaim,
  isInterrupted: () => boolean,
) => ({
  acquireLease: fromPromise<AcquireOutcome, { readonly expiredResourceVersion: string | null }>(
    ({ input, signal }) =>
      runtime.runPromise(unlessSuspended(acquireLease(claim, input.expiredResourceVersion)), {
        signal,
      }),
  ),
  renewLease: fromPromise<RenewOutcome, { readonly lease: LeaseRecord | null }>(
    async ({ input, signal }) => {
      const outcome = await runtime.runPromise(renewLease(claim, input.lease), { signal });
      return isInterrupted() ? { _tag: 'Interrupted' } : outcome;
    },
  ),
  releaseLease: fromPromise<ReleaseOutcome, undefined>(({ signal }) =>
    runtime.runPromise(releaseLease(claim), { signal })
  ),
});

/** The status of a candidacy, for logs, metrics and subscribers. */
class LeadingStatus {
  readonly #telemetry: Telemetry;
  readonly #options: LeadershipOptions;
  readonly #states = new ReplaySubject<boolean>(1);
  leads: boolean | undefined;
  /** Why the lease cannot be acquired. */
  failure: string | undefined;

  constructor(telemetry: Telemetry, options: LeadershipOptions) {
    this.#telemetry = telemetry;
    this.#options = options;
  }

  readonly states = this.#states.asObservable();

  /** `why` is logged when the lease is lost; a release is no loss. */
  show(leads: boolean, why: string | undefined): void {
    if (leads === this.leads) return;
    const { name, identity } = this.#options;
    if (leads) this.#telemetry.log('info', 'Became leader', { lease: name, identity });
    else if (this.leads === true && why !== undefined) {
      this.#telemetry.log('warn', 'Lost leadership', { lease: name, why });
    } else if (this.leads === true) {
      this.#telemetry.log('info', 'Releasing the lease', { lease: name });
    }
    this.leads = leads;
    this.#telemetry.gauge('leader_election_master_status', leads ? 1 : 0, { name });
    this.#states.next(leads);
  }

  /** Why the lease was not acquired, if it was not. Each cause is logged once, until it is held. */
  showFailure(problem: string | undefined): void {
    const isNew = problem !== undefined && problem !== this.failure;
    this.failure = problem;
    if (!isNew) return;
    const { name, namespace } = this.#options;
    this.#telemetry.log('warn', 'Cannot acquire the lease', { lease: name, namespace, problem });
  }

  end(): void {
    this.show(false, undefined);
    this.#states.complete();
  }
}

/** The Lease in the cluster, followed by its own watch. */
const leaseInformer = (
  environment: ActorEnvironment<KubeApi>,
  { namespace, name }: LeadershipOptions,
) =>
  startInformer(environment, {
    id: 'leases',
    path: leasesPath(namespace),
    query: { fieldSelector: `metadata.name=${name}` },
    project,
  });

class Candidacy implements Leadership {
  readonly #environment: ActorEnvironment<KubeApi | WriteGate>;
  readonly #options: LeadershipOptions;
  readonly #status: LeadingStatus;
  readonly #candidates: ActorRegistry<typeof leadership, LeadershipOptions>;
  readonly #lease: Informer<ObservedLease>;
  readonly #ended = Promise.withResolvers<void>();
  readonly #leaseSeen = Promise.withResolvers<LeaseRef>();
  #releaseRequested = false;
  #problem = '';
  readonly leading: Observable<boolean>;
  readonly recoveries = new Subject<void>();
  readonly leaseSeen = this.#leaseSeen.promise;

  constructor(environment: ActorEnvironment<KubeApi | WriteGate>, options: LeadershipOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#status = new LeadingStatus(environment.telemetry, options);
    this.leading = this.#status.states;
    this.#candidates = actorRegistry(environment, this.#kind());
    this.#lease = leaseInformer(environment, options);
    this.#candidates.consider(options);
    this.#lease.facts.subscribe((fact) => this.#onLease(fact));
  }

  get actor(): ActorRefFrom<typeof leadership> | undefined {
    return this.#candidates.get(keyOf(this.#options));
  }

  readonly leads = (): boolean =>
    this.actor?.getSnapshot().matches('leading') === true && this.#gate().permit()._tag === 'Open';

  readonly failure = (): string | undefined => this.#status.failure;

  /** The deadline ends leading; a statechart that is still leading a lease time later is stuck. */
  readonly stalled = (): string | undefined => {
    const snapshot = this.actor?.getSnapshot();
    if (snapshot?.matches('leading') !== true) return undefined;
    const lateMs = this.#environment.time.monotonic() - snapshot.context.deadlineMs;
    return lateMs > this.#options.leaseMs
      ? `leading without a renewal for ${Math.round(lateMs / 1000)} s past the deadline`
      : undefined;
  };

  readonly release = (): Promise<void> => {
    this.#releaseRequested = true;
    // A crashed candidate has nothing to release: its lease expires.
    if (this.actor === undefined) this.#end();
    this.actor?.send({ type: 'release.requested' });
    return this.#ended.promise;
  };

  #kind(): ActorKind<typeof leadership, LeadershipOptions> {
    const { runtime } = this.#environment;
    const { identity, namespace, name, leaseMs, renewMs, retryMs } = this.#options;
    const claim = { identity, namespace, name, leaseMs, timeoutMs: renewMs / 2 };
    return {
      name: 'leadership',
      logic: leadership.provide({
        actors: leadershipActors(runtime, claim, () => this.#gate().wasSuspended()),
        actions: {
          openGate: ({ context }) => this.#gate().openUntil(context.deadlineMs),
          closeGate: () => this.#gate().close('this process no longer holds the lease'),
        },
      }),
      keyOf,
      input: (_, seed) => ({ identity, leaseMs, renewMs, retryMs, seed }),
      onSnapshot: (_, snapshot) => this.#onSnapshot(snapshot),
      onCrash: () => this.#onCrash(),
      logFields: () => ({ lease: name }),
    };
  }

  /** Defined before anything leads: the operation that acquired the lease ran in this runtime. */
  #gate(): WriteGate['Service'] {
    return this.#environment.runtime.runSync(WriteGate);
  }

  #onSnapshot(snapshot: SnapshotFrom<typeof leadership>): void {
    const led = this.#status.leads;
    this.#status.show(snapshot.matches('leading'), this.#whyNot(snapshot));
    const before = this.#problem;
    this.#problem = snapshot.context.problem;
    if (before !== '' && this.#problem === '') this.recoveries.next();
    if (snapshot.matches('retrying') && !led) this.#status.showFailure(this.#problem);
    else if (!snapshot.matches('acquiring')) this.#status.showFailure(undefined);
    if (snapshot.status === 'done') this.#end();
  }

  /** Why this process does not lead; undefined when it releases the lease by itself. */
  #whyNot(snapshot: SnapshotFrom<typeof leadership>): string | undefined {
    if (this.#releaseRequested) return undefined;
    const { lease, problem } = snapshot.context;
    return snapshot.matches('standby') ? `${lease?.holder ?? 'another process'} holds it` : problem;
  }

  #onCrash(): void {
    this.#gate().close('the leadership actor crashed');
    this.#status.show(false, 'the leadership actor crashed');
    if (this.#releaseRequested) this.#end();
  }

  #onLease(fact: Fact<ObservedLease>): void {
    this.actor?.send({ type: 'lease.observed', lease: leaseIn(fact) });
    const [seen] = [...this.#lease.values()];
    if (seen === undefined) return;
    const { namespace, name } = this.#options;
    this.#leaseSeen.resolve({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      namespace,
      name,
      uid: seen.uid,
    });
  }

  #end(): void {
    this.#lease.stop();
    this.#candidates.close();
    this.#status.end();
    this.recoveries.complete();
    this.#ended.resolve();
  }
}

/** Starts the candidacy at once. */
export const startLeadership = (
  environment: ActorEnvironment<KubeApi | WriteGate>,
  options: LeadershipOptions,
): Leadership => new Candidacy(environment, options);
