/**
 * The session with the shard at work: the statechart, its stream, its key pair and its voice.
 *
 * Promises: frames go straight to `news` and never wait for a decision, a write or a reader; a
 * bootstrap pull is answered in the moment it arrives (wire: rule 9); secrets never enter the
 * statechart, whose context may be shown.
 */
import { type Observable, Subject } from 'rxjs';
import type { Actor } from 'xstate';
import type { KeyPair } from '../domain/credentials.ts';
import type { SessionNews } from '../domain/frames.ts';
import type { ClusterId } from '../domain/ids.ts';
import type { Reply, Rollup } from '../domain/session.ts';
import type { CredentialFiles, Credentials } from '../effects/credentials.ts';
import { rollupFrames } from '../effects/rollup-frame.ts';
import type { ShardCalls } from '../effects/shard-call.ts';
import { fleetSession } from '../machines/fleet-session.ts';
import { replyOutbox } from '../streams/reply-outbox.ts';
import { fromEffect } from './seams.ts';
import { watchCredentials } from './session-credentials.ts';
import { type RenderBootstrap, takeFrame } from './session-frames.ts';
import { endingTeller, type RecordOnLease, showState, tellTooLarge } from './session-voice.ts';
import { shardStream, type StreamHold } from './shard-stream.ts';
import type { World } from './world.ts';

/** Replies that wait (wire: rule 3). */
const OUTBOX_LIMIT = 256;

/** What the session uses of the world. */
export type SessionServices = ShardCalls | Credentials;

export interface FleetSessionOptions {
  readonly clusterId: ClusterId;
  /** `host:port` of the shard. */
  readonly address: string;
  readonly rollupIntervalMs: number;
  /** Mutual TLS; plaintext without. */
  readonly credentialFiles?: CredentialFiles;
  readonly render: RenderBootstrap;
  readonly record: RecordOnLease;
}

/** The session. It seeks a stream while it leads and the demand is listed, until it is stopped. */
export interface FleetSession {
  /** Hot: what the shard says, as it says it. */
  readonly news: Observable<SessionNews>;
  /** Hot: each roll-up that the shard acknowledged. */
  readonly acknowledged: Observable<Rollup>;
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

/** What the parts of a session share; there is one for each session. */
interface Shared {
  readonly news: Subject<SessionNews>;
  readonly acknowledged: Subject<Rollup>;
  readonly rollups: Subject<Rollup>;
  readonly asks: Subject<void>;
  readonly reply: (reply: Reply) => boolean;
  outstanding: { readonly rollup: Rollup; readonly sentAtMs: number } | undefined;
}

const replier = (
  { telemetry }: World<SessionServices>,
  offer: (reply: Reply) => boolean,
): (reply: Reply) => boolean =>
(reply) => {
  const taken = offer(reply);
  if (!taken) {
    telemetry.count('bigfleet_operator_outbox_dropped_total', 1);
    telemetry.log('warn', 'Reply dropped', { reply: reply._tag });
  }
  return taken;
};

/** The statechart with its act and its actions. */
const wired = (
  world: World<SessionServices>,
  options: FleetSessionOptions,
  shared: Shared,
  stream: StreamHold,
) => {
  const { telemetry, time } = world;
  const tellEnding = endingTeller(world, options.record);
  return fleetSession.provide({
    actors: {
      holdStream: fromEffect(world.runtime, ({ stream: number }) => {
        if (number > 1) telemetry.count('bigfleet_operator_session_reconnects_total', 1);
        return stream.hold;
      }),
    },
    actions: {
      askForRollup: () => shared.asks.next(),
      closeSending: () => stream.closeSending(),
      tellOpened: ({ context }) => {
        shared.news.next({ _tag: 'StreamOpened', stream: context.stream });
      },
      tellResynced: ({ context }) => {
        telemetry.log('info', 'Session resynced', { stream: context.stream });
        shared.news.next({ _tag: 'Resynced', stream: context.stream });
      },
      tellStreamEnded: ({ context }) => {
        shared.outstanding = undefined;
        shared.news.next({ _tag: 'StreamEnded', stream: context.stream });
      },
      tellRollupAcknowledged: () => {
        if (shared.outstanding === undefined) return;
        const { rollup, sentAtMs } = shared.outstanding;
        shared.outstanding = undefined;
        telemetry.count('tidegate_rollups_total', 1, { outcome: 'acknowledged' });
        const seconds = (time.monotonic() - sentAtMs) / 1000;
        telemetry.observe('tidegate_rollup_ack_duration_seconds', seconds);
        shared.acknowledged.next(rollup);
      },
      tellRollupOverdue: () => {
        const number = shared.outstanding?.rollup.number ?? 0;
        telemetry.count('tidegate_rollups_total', 1, { outcome: 'overdue' });
        options.record(
          'RollupNotAcknowledged',
          `Cannot hand over demand: roll-up ${number} got no ack from "${options.address}" for ` +
            'three intervals, the session is dialled again',
        );
      },
      tellEnding: ({ context }) => {
        if (context.ending !== null) tellEnding(context.ending, context.attempt);
      },
    },
  });
};

/** Follows the key files for as long as the session lives; tells the pair to dial with. */
const followCredentials = (
  world: World<SessionServices>,
  { credentialFiles, clusterId }: FleetSessionOptions,
  actor: Actor<typeof fleetSession>,
  usePair: (pair: KeyPair) => void,
): void => {
  if (credentialFiles === undefined) return;
  const changes = watchCredentials(world, credentialFiles, clusterId).subscribe((change) => {
    if (change._tag === 'Accepted') {
      world.telemetry.log('info', 'Key pair accepted; the next dial uses it');
      usePair(change.pair);
      actor.send({ type: 'credentials.accepted' });
    } else if (change._tag === 'Refused') {
      actor.send({ type: 'credentials.refused', problem: change.problem });
    } else {
      world.telemetry.log('warn', 'Key files not usable; the pair before them stays in use', {
        problem: change.problem,
      });
    }
  });
  actor.subscribe({ complete: () => changes.unsubscribe() });
};

/** Starts the session; it waits for `lead(true)` and `demandListed()`. */
export const startFleetSession = (
  world: World<SessionServices>,
  options: FleetSessionOptions,
): FleetSession => {
  const { telemetry, time } = world;
  const outbox = replyOutbox<Reply>(OUTBOX_LIMIT);
  let pair: KeyPair | undefined;
  const shared: Shared = {
    news: new Subject(),
    acknowledged: new Subject(),
    rollups: new Subject(),
    asks: new Subject(),
    reply: replier(world, outbox.offer),
    outstanding: undefined,
  };
  const desk = {
    clusterId: options.clusterId,
    telemetry,
    render: options.render,
    reply: shared.reply,
    news: shared.news,
    onHelloAck: () => actor.send({ type: 'hello.acknowledged' }),
    onRollupAck: () => actor.send({ type: 'rollup.acknowledged' }),
  };
  const stream = shardStream(world, {
    address: options.address,
    clusterId: options.clusterId,
    pair: () => pair,
    outbox,
    rollups: shared.rollups,
    asks: shared.asks,
    encode: rollupFrames(options.clusterId),
    onConnected: () => actor.send({ type: 'stream.connected' }),
    onFrame: (frame) => takeFrame(desk, frame),
    onRollup: (rollup, bytes) => {
      shared.outstanding = { rollup, sentAtMs: time.monotonic() };
      telemetry.count('tidegate_rollups_total', 1, { outcome: 'sent' });
      telemetry.gauge('tidegate_rollup_bytes', bytes);
      actor.send({ type: 'rollup.sent' });
    },
    onTooLarge: (rollup, frame) => tellTooLarge(world, options.record, rollup, frame),
  });
  const actor = world.actor(wired(world, options, shared, stream), 'fleetSession', {
    rollupIntervalMs: options.rollupIntervalMs,
    secured: options.credentialFiles !== undefined,
    seed: world.seed(),
  });
  showState(world, actor);
  actor.start();
  followCredentials(world, options, actor, (accepted) => {
    pair = accepted;
  });
  return {
    news: shared.news.asObservable(),
    acknowledged: shared.acknowledged.asObservable(),
    actor,
    lead: (leading) => actor.send({ type: leading ? 'leadership.won' : 'leadership.lost' }),
    demandListed: () => actor.send({ type: 'demand.listed' }),
    offerRollup: (rollup) => shared.rollups.next(rollup),
    reply: shared.reply,
    stop: () =>
      new Promise((resolve) => {
        actor.subscribe({ complete: resolve });
        actor.send({ type: 'stop.requested' });
      }),
  };
};
