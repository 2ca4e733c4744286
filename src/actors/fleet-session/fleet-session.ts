/**
 * The session with the shard at work: the statechart, its stream and its key pair.
 *
 * Promises: frames go straight to `shardEvents` and never wait for a decision, a write or a reader;
 * a bootstrap pull is answered in the moment it arrives (WIRE-09); secrets never enter the
 * statechart, whose context may be shown; a crash ends its stream, and the restarted session knows
 * of leadership, demand and key pair what the crashed one knew.
 */
import { Effect } from 'effect';
import {
  BehaviorSubject,
  exhaustMap,
  type Observable,
  Subscription,
  throttleTime,
  timer,
} from 'rxjs';
import type { Actor, SnapshotFrom } from 'xstate';
import type { CredentialsChange } from '../../domain/credentials.ts';
import type { ShardEvent } from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { Reply, Rollup } from '../../domain/session.ts';
import { refusedNote, type ShardOutage, unreachableNote } from '../../domain/shard-reach.ts';
import { type CredentialFiles, Credentials } from '../../effects/credentials.ts';
import type { fleetSession } from '../../machines/fleet-session.ts';
import {
  type FleetSessionEvent,
  isRefused,
  isUnreachable,
} from '../../machines/fleet-session-context.ts';
import { credentialChanges } from '../../streams/credential-changes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import {
  type FleetSessionOptions,
  provideFleetSession,
  publishStreamEnded,
  type SessionDependencies,
  sessionPort,
  type SessionServices,
  type SessionState,
  sessionState,
} from './fleet-session-actor.ts';
import { reportTransport, sessionStateName, stateRecorder } from './session-events.ts';
import { shardStream } from './shard-stream.ts';

/**
 * The session. It keeps a stream open while it leads and the demand is listed, until it is stopped.
 */
export interface FleetSession {
  /** Hot: the shard's messages, as they arrive. */
  readonly shardEvents: Observable<ShardEvent>;
  /** Hot: each roll-up that the shard acknowledged. */
  readonly acknowledged: Observable<Rollup>;
  /** Sets whether this process leads, from now on; completes when the session is over. */
  readonly leading: Observable<boolean>;
  /** The running statechart; `undefined` while it awaits a restart after a crash. */
  readonly actor: Actor<typeof fleetSession> | undefined;
  /** Why a leader has no session with the shard; `undefined` while it has one, or soon. */
  readonly outage: () => ShardOutage | undefined;
  readonly setLeading: (leading: boolean) => void;
  /** Demand is current in this term: roll-ups may be built from it. */
  readonly demandListed: () => void;
  /** Puts a roll-up into the slot of the current stream; dropped without a stream. */
  readonly offerRollup: (rollup: Rollup) => void;
  /** Queues a reply on the current stream; false without room or a stream. */
  readonly reply: (reply: Reply) => boolean;
  /** Ends the session for good; resolves within half a second. */
  readonly stop: () => Promise<void>;
}

/** Frames of a replay are reported this many times in a roll-up interval. */
const REPLAY_REPORTS_AN_INTERVAL = 10;

/** The facts for a restarted session, by event. */
interface SessionFacts {
  leading: boolean;
  demandListed: boolean;
  credentials: FleetSessionEvent | undefined;
  /** Streams dialled so far. */
  stream: number;
}

const eventsOf = ({ leading, demandListed, credentials }: SessionFacts): FleetSessionEvent[] => [
  ...(credentials === undefined ? [] : [credentials]),
  ...(demandListed ? [{ type: 'demand.listed' } as const] : []),
  ...(leading ? [{ type: 'leadership.won' } as const] : []),
];

class ShardSession implements FleetSession {
  readonly #dependencies: SessionDependencies;
  readonly #state: SessionState;
  readonly #facts: SessionFacts = {
    leading: false,
    demandListed: false,
    credentials: undefined,
    stream: 0,
  };
  readonly #leading = new BehaviorSubject(false);
  readonly #sessions: ActorRegistry<typeof fleetSession, SessionFacts>;
  readonly #subscription = new Subscription();
  readonly #ended = Promise.withResolvers<void>();
  readonly #recordState: (state: string) => void;
  #stopRequested = false;
  readonly shardEvents: Observable<ShardEvent>;
  readonly acknowledged: Observable<Rollup>;
  readonly leading = this.#leading.asObservable();
  readonly reply: (reply: Reply) => boolean;

  constructor(environment: ActorEnvironment<SessionServices>, options: FleetSessionOptions) {
    this.#state = sessionState(environment);
    this.#dependencies = { environment, options, state: this.#state };
    this.shardEvents = this.#state.shardEvents.asObservable();
    this.acknowledged = this.#state.acknowledged.asObservable();
    this.reply = this.#state.outbox.offer;
    this.#recordState = stateRecorder(environment);
    reportTransport(environment, options.credentialFiles !== undefined);
    this.#sessions = this.#registry();
    this.#sessions.consider(this.#facts);
    this.#followCredentials();
    this.#followReplays();
  }

  get actor(): Actor<typeof fleetSession> | undefined {
    return this.#sessions.get(this.#dependencies.options.clusterId);
  }

  readonly outage = (): ShardOutage | undefined => {
    const context = this.actor?.getSnapshot().context;
    if (context === undefined || !context.leading || context.ending === null) return undefined;
    const { options: { address } } = this.#dependencies;
    if (isRefused(context)) {
      return { reason: 'SessionRefused', note: refusedNote(address, context.ending) };
    }
    return isUnreachable(context)
      ? { reason: 'ShardUnreachable', note: unreachableNote(address, context.ending) }
      : undefined;
  };

  readonly setLeading = (leading: boolean): void => {
    this.#facts.leading = leading;
    if (!leading) this.#facts.demandListed = false;
    this.#send({ type: leading ? 'leadership.won' : 'leadership.lost' });
    if (leading !== this.#leading.value) this.#leading.next(leading);
  };

  readonly demandListed = (): void => {
    this.#facts.demandListed = true;
    this.#send({ type: 'demand.listed' });
  };

  readonly offerRollup = (rollup: Rollup): void => this.#state.rollups.next(rollup);

  readonly stop = (): Promise<void> => {
    this.#stopRequested = true;
    // A crashed session has no stream to close.
    if (this.actor === undefined) this.#end();
    this.#send({ type: 'stop.requested' });
    return this.#ended.promise;
  };

  #registry(): ActorRegistry<typeof fleetSession, SessionFacts> {
    const { environment, options } = this.#dependencies;
    const { clusterId, rollupIntervalMs, credentialFiles } = options;
    const renewalDelayMs = options.renewalDelayMs ?? RENEWAL_DELAY_MS;
    const port = sessionPort(this.#dependencies, (event) => this.#send(event));
    return actorRegistry(environment, {
      name: 'fleetSession',
      logic: provideFleetSession(this.#dependencies, shardStream(environment, port)),
      keyOf: () => clusterId,
      input: ({ stream }, seed) => ({
        rollupIntervalMs,
        renewalDelayMs,
        secured: credentialFiles !== undefined,
        stream,
        seed,
      }),
      onStart: (facts, actor) => eventsOf(facts).forEach((event) => actor.send(event)),
      onSnapshot: (facts, snapshot) => this.#onSnapshot(facts, snapshot),
      onCrash: () => this.#onCrash(),
      stateOf: sessionStateName,
    });
  }

  #onSnapshot(facts: SessionFacts, snapshot: SnapshotFrom<typeof fleetSession>): void {
    facts.stream = snapshot.context.stream;
    this.#recordState(sessionStateName(snapshot));
    if (snapshot.status === 'done') this.#end();
  }

  #onCrash(): void {
    this.#recordState('crashed');
    publishStreamEnded(this.#state);
    if (this.#stopRequested) this.#end();
  }

  /** Changes between a crash and the restart are in the facts, or concerned the lost stream. */
  #send(event: FleetSessionEvent): void {
    const { actor } = this;
    if (actor?.getSnapshot().status === 'active') actor.send(event);
  }

  /** Follows the key files for the lifetime of the session. */
  #followCredentials(): void {
    const { environment, options } = this.#dependencies;
    const { credentialFiles: files, clusterId } = options;
    if (files === undefined) return;
    const pollMs = options.credentialsPollMs ??
      Math.min(CREDENTIALS_POLL_MS, options.renewalDelayMs ?? RENEWAL_DELAY_MS);
    this.#subscription.add(
      watchCredentials(environment, { files, clusterId, pollMs })
        .subscribe((change) => this.#onCredentials(change)),
    );
  }

  /** A replay that goes on is reported to the statechart, which sees no single frame. */
  #followReplays(): void {
    const { environment: { scheduler }, options: { rollupIntervalMs } } = this.#dependencies;
    const everyMs = rollupIntervalMs / REPLAY_REPORTS_AN_INTERVAL;
    // With the trailing report, the last frame of a burst is not forgotten.
    const reports = throttleTime<void>(everyMs, scheduler, { leading: true, trailing: true });
    this.#subscription.add(
      this.#state.frames.pipe(reports).subscribe(() => {
        const isReplaying = this.actor?.getSnapshot().hasTag('replaying') === true;
        if (isReplaying) this.#send({ type: 'frames.received' });
      }),
    );
  }

  #onCredentials(change: CredentialsChange): void {
    const { telemetry } = this.#dependencies.environment;
    if (change._tag === 'Accepted') {
      telemetry.log('info', 'Key pair accepted; an open session is renewed with it');
      this.#state.pair = change.pair;
      this.#facts.credentials = { type: 'credentials.accepted' };
    } else if (change._tag === 'Refused') {
      this.#facts.credentials = { type: 'credentials.refused', problem: change.problem };
    } else {
      return telemetry.log('warn', 'Key files rejected; the previous pair stays in use', {
        problem: change.problem,
      });
    }
    this.#send(this.#facts.credentials);
  }

  #end(): void {
    this.#sessions.close();
    this.#subscription.unsubscribe();
    this.#leading.complete();
    this.#ended.resolve();
  }
}

/** Starts the session; it waits for `setLeading(true)` and `demandListed()`. */
export const startFleetSession = (
  environment: ActorEnvironment<SessionServices>,
  options: FleetSessionOptions,
): FleetSession => new ShardSession(environment, options);

/**
 * The default poll interval. Polling, because a mounted Secret swaps symbolic links under the
 * names, which file watches miss.
 */
const CREDENTIALS_POLL_MS = 10_000;
/** The default of `--tls-renewal-delay`. */
const RENEWAL_DELAY_MS = 30_000;

/** The files, their server name and the poll interval. */
export interface KeyFiles {
  readonly files: CredentialFiles;
  readonly clusterId: ClusterId;
  readonly pollMs: number;
}

/** Changes of the key pair, from the first reading on, while subscribed. */
const watchCredentials = (
  environment: ActorEnvironment<Credentials>,
  { files, clusterId, pollMs }: KeyFiles,
): Observable<CredentialsChange> => {
  const read = Effect.gen(function* () {
    const credentials = yield* Credentials;
    return yield* credentials.read(files, clusterId);
  });
  return timer(0, pollMs, environment.scheduler).pipe(
    exhaustMap(() => environment.runtime.runPromise(read)),
    credentialChanges(),
  );
};
