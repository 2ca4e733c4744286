/**
 * The statechart of the session with its stream, its actions and what they publish.
 *
 * Promises: what the statechart decides is done in the same moment; what is outstanding is known in
 * one place and ends with its stream.
 */
import { Subject } from 'rxjs';
import type { KeyPair } from '../../domain/credentials.ts';
import type { SessionNews } from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { Reply, Rollup } from '../../domain/session.ts';
import type { CredentialFiles, Credentials } from '../../effects/credentials.ts';
import { rollupFrames } from '../../effects/rollup-frame.ts';
import type { ShardCalls } from '../../effects/shard-call.ts';
import { fleetSession, type FleetSessionEvent } from '../../machines/fleet-session.ts';
import { type ReplyOutbox, replyOutbox } from '../../streams/reply-outbox.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { fromEffect } from '../actor-logic.ts';
import type { RecordOnLease } from '../role.ts';
import { endingRecorder, recordTooLarge, sampledLogger } from './session-events.ts';
import { type FrameDependencies, frameHandler, type RenderBootstrap } from './session-frames.ts';
import type { StreamHold, StreamPort } from './shard-stream.ts';

/** Replies that wait (WIRE-03). */
const OUTBOX_LIMIT = 256;

/** What outlives a stream and an actor of the session; there is one for each process. */
export interface SessionState {
  readonly news: Subject<SessionNews>;
  readonly acknowledged: Subject<Rollup>;
  readonly rollups: Subject<Rollup>;
  /** The statechart is ready for the next roll-up. */
  readonly requests: Subject<void>;
  readonly outbox: ReplyOutbox<Reply>;
  readonly reply: (reply: Reply) => boolean;
  /** The pair to dial with; none is plaintext. */
  pair: KeyPair | undefined;
  outstanding: { readonly rollup: Rollup; readonly sentAtMs: number } | undefined;
  /** The stream that was published as opened, and not yet as ended. */
  openStream: number | undefined;
}

/** What the actor of a session is made with. */
export interface SessionDependencies {
  readonly environment: ActorEnvironment<SessionServices>;
  readonly options: FleetSessionOptions;
  readonly state: SessionState;
}

const replier = (
  { telemetry }: ActorEnvironment<SessionServices>,
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

/** The state of a session that has not dialled yet. */
export const sessionState = (environment: ActorEnvironment<SessionServices>): SessionState => {
  const outbox = replyOutbox<Reply>(OUTBOX_LIMIT);
  return {
    news: new Subject(),
    acknowledged: new Subject(),
    rollups: new Subject(),
    requests: new Subject(),
    outbox,
    reply: replier(environment, outbox.offer),
    pair: undefined,
    outstanding: undefined,
    openStream: undefined,
  };
};

/** Publishes that the open stream ended; once, whoever notices first. */
export const publishStreamEnded = (state: SessionState): void => {
  const { openStream: stream } = state;
  if (stream === undefined) return;
  state.openStream = undefined;
  state.news.next({ _tag: 'StreamEnded', stream });
};

const recordAcknowledged = ({ environment, state }: SessionDependencies): void => {
  const { telemetry, time } = environment;
  if (state.outstanding === undefined) return;
  const { rollup, sentAtMs } = state.outstanding;
  state.outstanding = undefined;
  telemetry.count('tidegate_rollups_total', 1, { outcome: 'acknowledged' });
  const seconds = (time.monotonic() - sentAtMs) / 1000;
  telemetry.observe('tidegate_rollup_ack_duration_seconds', seconds);
  state.acknowledged.next(rollup);
};

const recordOverdue = ({ environment, options, state }: SessionDependencies): void => {
  const number = state.outstanding?.rollup.number ?? 0;
  environment.telemetry.count('tidegate_rollups_total', 1, { outcome: 'overdue' });
  options.record(
    'RollupNotAcknowledged',
    `Cannot hand over demand: roll-up ${number} got no ack from "${options.address}" for ` +
      'three intervals, the session is dialled again',
  );
};

/** The statechart with its actor and its actions. */
export const provideFleetSession = (
  dependencies: SessionDependencies,
  stream: StreamHold,
): typeof fleetSession => {
  const { environment, options, state } = dependencies;
  const { telemetry } = environment;
  const recordEnding = endingRecorder(environment, options.record);
  return fleetSession.provide({
    actors: {
      holdStream: fromEffect(environment.runtime, ({ stream: number }) => {
        if (number > 1) telemetry.count('bigfleet_operator_session_reconnects_total', 1);
        return stream.hold;
      }),
    },
    actions: {
      requestRollup: () => state.requests.next(),
      closeSending: () => stream.closeSending(),
      publishOpened: ({ context }) => {
        // What was outstanding ended with its stream: it is built afresh, not acknowledged.
        state.outstanding = undefined;
        state.openStream = context.stream;
        state.news.next({ _tag: 'StreamOpened', stream: context.stream });
      },
      publishResynced: ({ context }) => {
        telemetry.log('info', 'Session resynced', { stream: context.stream });
        state.news.next({ _tag: 'Resynced', stream: context.stream });
      },
      logUnprovenResync: ({ context }) =>
        telemetry.log('warn', 'Resync not proven: a frame of the replay was unreadable', {
          stream: context.stream,
        }),
      publishStreamEnded: () => publishStreamEnded(state),
      recordRollupAcknowledged: () => recordAcknowledged(dependencies),
      recordRollupOverdue: () => recordOverdue(dependencies),
      recordEnding: ({ context }) => {
        if (context.ending !== null) recordEnding(context.ending, context.attempt);
      },
    },
  });
};

/** What the session's stream takes, and what it reports to the statechart. */
export const sessionPort = (
  { environment, options, state }: SessionDependencies,
  send: (event: FleetSessionEvent) => void,
): StreamPort => {
  const { telemetry, time } = environment;
  const { clusterId, address, render, record } = options;
  const frames: FrameDependencies = {
    clusterId,
    telemetry: sampledLogger(telemetry),
    render,
    reply: state.reply,
    news: state.news,
    onHelloAck: () => send({ type: 'hello.acknowledged' }),
    onRollupAck: () => send({ type: 'rollup.acknowledged' }),
    onReplayGap: () => send({ type: 'frame.malformed' }),
  };
  return {
    address,
    clusterId,
    pair: () => state.pair,
    outbox: state.outbox,
    rollups: state.rollups,
    requests: state.requests,
    encode: rollupFrames(clusterId),
    onConnected: () => send({ type: 'stream.connected' }),
    onFrame: frameHandler(frames),
    onRollup: (rollup, bytes) => {
      state.outstanding = { rollup, sentAtMs: time.monotonic() };
      telemetry.count('tidegate_rollups_total', 1, { outcome: 'sent' });
      telemetry.gauge('tidegate_rollup_bytes', bytes);
      send({ type: 'rollup.sent' });
    },
    onTooLarge: (large) => recordTooLarge(environment, record, large),
  };
};

/** What the session uses of the environment. */
export type SessionServices = ShardCalls | Credentials;

export interface FleetSessionOptions {
  readonly clusterId: ClusterId;
  /** `host:port` of the shard. */
  readonly address: string;
  readonly rollupIntervalMs: number;
  /** Mutual TLS; plaintext without. */
  readonly credentialFiles?: CredentialFiles;
  /** How often the key files are read; default `CREDENTIALS_POLL_MS`. */
  readonly credentialsPollMs?: number;
  readonly render: RenderBootstrap;
  readonly record: RecordOnLease;
}
