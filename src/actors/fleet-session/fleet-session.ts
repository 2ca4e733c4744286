/**
 * The session with the shard at work: the statechart, its stream, its key pair and its voice.
 *
 * Promises: frames go straight to `news` and never wait for a decision, a write or a reader; a
 * bootstrap pull is answered in the moment it arrives (WIRE-09); secrets never enter the
 * statechart, whose context may be shown.
 */
import { distinctUntilChanged, Observable } from 'rxjs';
import type { Actor } from 'xstate';
import type { SessionNews } from '../../domain/frames.ts';
import type { Reply, Rollup } from '../../domain/session.ts';
import type { fleetSession, FleetSessionEvent } from '../../machines/fleet-session.ts';
import { CREDENTIALS_POLL_MS, watchCredentials } from './session-credentials.ts';
import { showState } from './session-voice.ts';
import { sessionParts, sessionPort, type SessionSetting, wiredSession } from './session-wiring.ts';
import type { FleetSessionOptions, SessionServices } from './session-options.ts';
import { shardStream } from './shard-stream.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** The session. It seeks a stream while it leads and the demand is listed, until it is stopped. */
export interface FleetSession {
  /** Hot: what the shard says, as it says it. */
  readonly news: Observable<SessionNews>;
  /** Hot: each roll-up that the shard acknowledged. */
  readonly acknowledged: Observable<Rollup>;
  /** Whether this process leads, from now on; completes when the session is over. */
  readonly leading: Observable<boolean>;
  readonly actor: Actor<typeof fleetSession>;
  readonly lead: (leading: boolean) => void;
  /** The list of CapacityRequests is complete: roll-ups may be made from it. */
  readonly demandListed: () => void;
  /** Puts a roll-up into the slot of the present stream; without a stream it is forgotten. */
  readonly offerRollup: (rollup: Rollup) => void;
  /** Queues a reply on the present stream; false when there is no room or no stream. */
  readonly reply: (reply: Reply) => boolean;
  /** Ends the session for good; resolves within half a second. */
  readonly stop: () => Promise<void>;
}

/** Follows the key files for as long as the session lives. */
const followCredentials = (
  { environment, options, parts }: SessionSetting,
  actor: Actor<typeof fleetSession>,
): void => {
  const { credentialFiles: files, clusterId } = options;
  if (files === undefined) return;
  const pollMs = options.credentialsPollMs ?? CREDENTIALS_POLL_MS;
  const changes = watchCredentials(environment, { files, clusterId, pollMs }).subscribe(
    (change) => {
      if (change._tag === 'Accepted') {
        environment.telemetry.log('info', 'Key pair accepted; the next dial uses it');
        parts.pair = change.pair;
        actor.send({ type: 'credentials.accepted' });
      } else if (change._tag === 'Refused') {
        actor.send({ type: 'credentials.refused', problem: change.problem });
      } else {
        environment.telemetry.log(
          'warn',
          'Key files not usable; the pair before them stays in use',
          {
            problem: change.problem,
          },
        );
      }
    },
  );
  actor.subscribe({ complete: () => changes.unsubscribe() });
};

/** Tells the statechart while it lives; what comes after its end is nobody's business. */
const teller = (actor: () => Actor<typeof fleetSession>) => (event: FleetSessionEvent): void => {
  if (actor().getSnapshot().status === 'active') actor().send(event);
};

const leadershipOf = (actor: Actor<typeof fleetSession>): Observable<boolean> =>
  new Observable<boolean>((receiver) => {
    receiver.next(actor.getSnapshot().context.leading);
    return actor.subscribe({
      next: ({ context }) => receiver.next(context.leading),
      complete: () => receiver.complete(),
    });
  }).pipe(distinctUntilChanged());

/** Starts the session; it waits for `lead(true)` and `demandListed()`. */
export const startFleetSession = (
  environment: ActorEnvironment<SessionServices>,
  options: FleetSessionOptions,
): FleetSession => {
  const parts = sessionParts(environment);
  const setting = { environment, options, parts };
  const tell = teller(() => actor);
  const stream = shardStream(environment, sessionPort(setting, tell));
  const actor = environment.actor(wiredSession(setting, stream), 'fleetSession', {
    rollupIntervalMs: options.rollupIntervalMs,
    secured: options.credentialFiles !== undefined,
    seed: environment.seed(),
  });
  showState(environment, actor);
  actor.start();
  followCredentials(setting, actor);
  return {
    news: parts.news.asObservable(),
    acknowledged: parts.acknowledged.asObservable(),
    leading: leadershipOf(actor),
    actor,
    lead: (leading) => tell({ type: leading ? 'leadership.won' : 'leadership.lost' }),
    demandListed: () => tell({ type: 'demand.listed' }),
    offerRollup: (rollup) => parts.rollups.next(rollup),
    reply: parts.reply,
    stop: () =>
      new Promise((resolve) => {
        if (actor.getSnapshot().status !== 'active') resolve();
        actor.subscribe({ complete: resolve });
        tell({ type: 'stop.requested' });
      }),
  };
};
