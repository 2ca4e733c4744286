/**
 * One operator: leadership, shared informers, Events and a list of roles, under the `operator`
 * statechart.
 *
 * Promises: a standby keeps its caches complete and writes nothing; only the leader's roles write;
 * roles learn of leadership in list order; `stop` proceeds in order: sessions with peers, writes in
 * flight, lease.
 */
import { Effect } from 'effect';
import { distinctUntilChanged, skipWhile } from 'rxjs';
import { type Actor, fromPromise, toPromise } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { Events } from '../effects/events.ts';
import type { KubeApi } from '../effects/kube-api.ts';
import { serverVersion } from '../effects/server-version.ts';
import { WriteGate } from '../effects/write-gate.ts';
import { operator, type OperatorEnding, type PreflightResult } from '../machines/operator.ts';
import type { ActorEnvironment } from './actor-environment.ts';
import { type EventRecorder, startEventRecorder } from './event-recorder.ts';
import { type RefusedCollections, refusedCollections } from './informers/refused-collections.ts';
import { type SharedInformers, sharedInformers } from './informers/shared-informers.ts';
import { type Leadership, type LeadershipOptions, startLeadership } from './leadership.ts';
import {
  type RecordOnLease,
  type Role,
  type RoleCheck,
  type RoleContext,
  type RoleStart,
  STARTED,
} from './role.ts';

/** One condition of a probe. */
export interface OperatorCheck extends RoleCheck {
  /** The probe shows it, and succeeds without it. */
  readonly isNotice?: true;
}

/** A running operator. */
export interface Operator {
  readonly actor: Actor<typeof operator>;
  /** The names of its roles, in the order in which they lead. */
  readonly roles: readonly string[];
  /** What readiness waits for, and what it only shows. */
  readonly checks: readonly OperatorCheck[];
  /** What only a restart cures. */
  readonly liveChecks: readonly OperatorCheck[];
  /** Requests a clean shutdown; resolves when it is complete. */
  readonly stop: () => Promise<void>;
  readonly done: Promise<OperatorEnding>;
}

/** The inputs of an operator. */
export interface OperatorOptions {
  readonly lease: LeadershipOptions;
  /** Creates its roles, in the order in which they lead. */
  readonly roles: (context: RoleContext) => readonly Role[];
}

/** The environment of every operator, regardless of its roles. */
export type OperatorEnvironment = ActorEnvironment<KubeApi | WriteGate | Events>;

/** How long shutdown waits for answers; the pod has 30 s (DR-15). */
const SETTLE_MS = 15_000;
const STOPS_WRITING = 'this process is stopping';

/** The first of the roles that cannot start; undefined without one. */
const refusalIn = (
  starts: Promise<readonly RoleStart[]>,
): Effect.Effect<Extract<PreflightResult, { _tag: 'Unsupported' }> | undefined> =>
  Effect.map(Effect.promise(() => starts), (all) => {
    const refused = all.find((start) => start._tag === 'Refused');
    return refused === undefined ? undefined : { _tag: 'Unsupported', why: refused.problem };
  });

class RunningOperator implements Operator {
  readonly #environment: OperatorEnvironment;
  readonly #lease: LeadershipOptions;
  readonly #recorder: EventRecorder;
  readonly #refusals: RefusedCollections;
  readonly #informers: SharedInformers;
  readonly #roles: readonly Role[];
  #starts: Promise<readonly RoleStart[]> | undefined;
  #discoveries: Promise<readonly RoleStart[]> | undefined;
  #leadership: Leadership | undefined;
  readonly actor: Actor<typeof operator>;
  readonly roles: readonly string[];
  readonly checks: readonly OperatorCheck[];
  readonly liveChecks: readonly OperatorCheck[];
  readonly done: Promise<OperatorEnding>;

  constructor(environment: OperatorEnvironment, { lease, roles }: OperatorOptions) {
    this.#environment = environment;
    this.#lease = lease;
    this.#recorder = startEventRecorder(environment, { instance: lease.identity });
    const recordOnLease: RecordOnLease = (reason, note) => {
      void this.#leadership?.leaseSeen.then((regarding) =>
        this.#recorder.record({ regarding, reason, note })
      );
    };
    this.#refusals = refusedCollections(recordOnLease);
    this.#informers = sharedInformers(environment, this.#refusals);
    this.#roles = roles({
      informers: this.#informers,
      record: this.#recorder.record,
      recordOnLease,
    });
    this.roles = this.#roles.map(({ name }) => name);
    this.actor = environment.actor(this.#provided(), 'operator', { seed: environment.seed() });
    this.checks = [
      {
        name: 'cluster',
        failing: () => this.actor.getSnapshot().context.problem ?? undefined,
      },
      ...this.#roles.map(({ name, ready }) => ({ name, failing: ready })),
      ...this.#roles.flatMap(({ notices = [] }) =>
        notices.map((notice) => ({ ...notice, isNotice: true as const }))
      ),
      // A standby is ready without the lease.
      { name: 'lease', failing: () => this.#leadership?.failure(), isNotice: true },
    ];
    this.liveChecks = [
      {
        // A crashed root actor makes no more decisions, even if the process responds.
        name: 'operator',
        failing: () =>
          this.actor.getSnapshot().status === 'error' ? 'its statechart has crashed' : undefined,
      },
      { name: 'lease', failing: () => this.#leadership?.stalled() },
    ];
    this.done = toPromise(this.actor).finally(() => this.#dispose());
    this.actor.start();
  }

  readonly stop = async (): Promise<void> => {
    this.actor.send({ type: 'stop.requested' });
    await this.done;
  };

  #provided(): typeof operator {
    const { runtime } = this.#environment;
    const act = <Output, Services extends KubeApi | WriteGate | Events>(
      effect: () => Effect.Effect<Output, never, Services>,
    ) => fromPromise<Output, undefined>(({ signal }) => runtime.runPromise(effect(), { signal }));
    return operator.provide({
      actors: {
        runPreflight: act(() => this.#preflight()),
        closeRoles: act(() => this.#closeRoles()),
        settleWrites: act(() => this.#settleWrites()),
        releaseLease: act(() => Effect.promise(async () => await this.#leadership?.release())),
      },
      actions: {
        startInformers: () => this.#startInformers(),
        seekLease: () => this.#seekLease(),
        startLeading: () => this.#startLeading(),
        stopLeading: () => this.#stopLeading(),
      },
    });
  }

  /**
   * The version comes first: a cluster that is too old is asked nothing more. Roles start once,
   * also on an unreachable cluster, because their files may have problems; it is retried.
   */
  #preflight(): Effect.Effect<PreflightResult, never, KubeApi> {
    return Effect.gen({ self: this }, function* () {
      const result = yield* preflight;
      if (result._tag === 'Unsupported') return result;
      this.#starts ??= Promise.all(this.#roles.map((role) => role.start()));
      const unstarted = yield* refusalIn(this.#starts);
      if (unstarted !== undefined) return unstarted;
      if (result._tag === 'Unreachable') {
        const reason: ReasonName = 'ApiServerUnreachable';
        const fields = { reason, problem: result.why };
        this.#environment.telemetry.log('warn', 'API server gives no usable answer', fields);
        return result;
      }
      this.#discoveries ??= Promise.all(
        this.#roles.map(({ discover }) => discover?.() ?? STARTED),
      );
      return (yield* refusalIn(this.#discoveries)) ?? result;
    });
  }

  #startInformers(): void {
    this.#informers.start();
    const awaited = new Set(this.#roles.flatMap(({ informers }) => informers));
    void Promise.all([...awaited].map(({ whenSynced }) => whenSynced)).then(() => {
      this.#environment.telemetry.log('info', 'Caches are complete');
      this.actor.send({ type: 'caches.synced' });
    });
  }

  #seekLease(): void {
    if (this.#leadership !== undefined) return;
    this.#leadership = startLeadership(this.#environment, this.#lease);
    this.#leadership.leading
      .pipe(distinctUntilChanged(), skipWhile((leads) => !leads))
      .subscribe((leads) =>
        this.actor.send({ type: leads ? 'leadership.won' : 'leadership.lost' })
      );
    // Collections whose requests were lost while the API server was away need not wait either.
    this.#leadership.recoveries.subscribe(() => this.#informers.retryNow());
  }

  /** The API server has just granted the lease, so collections in a backoff need not wait. */
  #startLeading(): void {
    this.#informers.retryNow();
    this.#roles.forEach((role) => role.onLeading());
    this.#refusals.setLeading(true);
  }

  #stopLeading(): void {
    this.#refusals.setLeading(false);
    this.#roles.forEach((role) => role.onLeadershipLost());
  }

  /** From here on nothing new is sent, to peers or to the cluster (DR-15). */
  #closeRoles(): Effect.Effect<void, never, WriteGate> {
    return Effect.gen({ self: this }, function* () {
      const gate = yield* WriteGate;
      void gate.shut(STOPS_WRITING);
      yield* Effect.promise(() => Promise.all(this.#roles.map((role) => role.close?.())));
    });
  }

  /** Waits for the answers of sent writes; unsent ones are left to the next leader. */
  #settleWrites(): Effect.Effect<void, never, WriteGate> {
    return Effect.gen({ self: this }, function* () {
      const gate = yield* WriteGate;
      const stopped = this.#roles.map((role) => role.stop());
      yield* Effect.promise(() => Promise.all([gate.shut(STOPS_WRITING), ...stopped]));
    }).pipe(Effect.timeoutOption(SETTLE_MS), Effect.asVoid);
  }

  async #dispose(): Promise<void> {
    await Promise.all(this.#roles.map((role) => role.dispose?.()));
    this.#informers.stop();
    this.#recorder.stop();
  }
}

/** Starts the operator. It runs until `stop`, or until it finds the cluster unsupported. */
export const startOperator = (
  environment: OperatorEnvironment,
  options: OperatorOptions,
): Operator => new RunningOperator(environment, options);

/** Requests the server's version. Never fails. */
const preflight = serverVersion.pipe(
  Effect.match({
    onSuccess: (seen): PreflightResult => {
      if (seen._tag === 'Supported') return { _tag: 'Supported', version: seen.version };
      return { _tag: seen._tag === 'TooOld' ? 'Unsupported' : 'Unreachable', why: seen.why };
    },
    onFailure: ({ why }): PreflightResult => ({ _tag: 'Unreachable', why }),
  }),
);
