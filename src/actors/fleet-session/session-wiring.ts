/**
 * How the session's statechart, its stream and its telemetry are tied together.
 *
 * Promises: what the statechart decides is done in the same moment; what is outstanding is known in
 * one place and dies with its stream.
 */
import { Subject } from 'rxjs';
import type { KeyPair } from '../../domain/credentials.ts';
import type { SessionNews } from '../../domain/frames.ts';
import type { Reply, Rollup } from '../../domain/session.ts';
import { rollupFrames } from '../../effects/rollup-frame.ts';
import { fleetSession, type FleetSessionEvent } from '../../machines/fleet-session.ts';
import { type ReplyOutbox, replyOutbox } from '../../streams/reply-outbox.ts';
import type { FleetSessionOptions, SessionServices } from './session-options.ts';
import { fromEffect } from '../actor-logic.ts';
import { type FrameDesk, takeFrame } from './session-frames.ts';
import { endingTeller, sparing, tellTooLarge } from './session-voice.ts';
import type { StreamHold, StreamPort } from './shard-stream.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Replies that wait (wire: rule 3). */
const OUTBOX_LIMIT = 256;

/** What the parts of a session share; there is one for each session. */
export interface SessionOptions {
  readonly news: Subject<SessionNews>;
  readonly acknowledged: Subject<Rollup>;
  readonly rollups: Subject<Rollup>;
  readonly asks: Subject<void>;
  readonly outbox: ReplyOutbox<Reply>;
  readonly reply: (reply: Reply) => boolean;
  /** The pair to dial with; none is plaintext. */
  pair: KeyPair | undefined;
  outstanding: { readonly rollup: Rollup; readonly sentAtMs: number } | undefined;
  /** A frame of the present stream was no message: it may have been about any machine. */
  replayHasHole: boolean;
}

/** One session: where it lives, what it was told, and its parts. */
export interface SessionSetting {
  readonly environment: ActorEnvironment<SessionServices>;
  readonly options: FleetSessionOptions;
  readonly parts: SessionOptions;
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

/** The statechart with its act and its actions. */
export const wiredSession = (
  { environment, options, parts }: SessionSetting,
  stream: StreamHold,
) => {
  const { telemetry, time } = environment;
  const tellEnding = endingTeller(environment, options.record);
  return fleetSession.provide({
    actors: {
      holdStream: fromEffect(environment.runtime, ({ stream: number }) => {
        if (number > 1) telemetry.count('bigfleet_operator_session_reconnects_total', 1);
        return stream.hold;
      }),
    },
    actions: {
      askForRollup: () => parts.asks.next(),
      closeSending: () => stream.closeSending(),
      tellOpened: ({ context }) => {
        // What was outstanding died with its stream: it is built afresh, not acknowledged.
        parts.outstanding = undefined;
        parts.news.next({ _tag: 'StreamOpened', stream: context.stream });
      },
      tellResynced: ({ context }) => {
        // Absence from a replay with a hole in it proves nothing, so nothing may follow from it.
        if (parts.replayHasHole) {
          return telemetry.log('warn', 'Resync not proven: a frame of the replay was unreadable', {
            stream: context.stream,
          });
        }
        telemetry.log('info', 'Session resynced', { stream: context.stream });
        parts.news.next({ _tag: 'Resynced', stream: context.stream });
      },
      tellStreamEnded: ({ context }) => {
        parts.news.next({ _tag: 'StreamEnded', stream: context.stream });
      },
      tellRollupAcknowledged: () => {
        if (parts.outstanding === undefined) return;
        const { rollup, sentAtMs } = parts.outstanding;
        parts.outstanding = undefined;
        telemetry.count('tidegate_rollups_total', 1, { outcome: 'acknowledged' });
        const seconds = (time.monotonic() - sentAtMs) / 1000;
        telemetry.observe('tidegate_rollup_ack_duration_seconds', seconds);
        parts.acknowledged.next(rollup);
      },
      tellRollupOverdue: () => {
        const number = parts.outstanding?.rollup.number ?? 0;
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

/** The parts of a new session. */
export const sessionParts = (environment: ActorEnvironment<SessionServices>): SessionOptions => {
  const outbox = replyOutbox<Reply>(OUTBOX_LIMIT);
  return {
    news: new Subject(),
    acknowledged: new Subject(),
    rollups: new Subject(),
    asks: new Subject(),
    outbox,
    reply: replier(environment, outbox.offer),
    pair: undefined,
    outstanding: undefined,
    replayHasHole: false,
  };
};

/** What the session's stream takes and whom it tells. */
export const sessionPort = (
  { environment, options, parts }: SessionSetting,
  tell: (event: FleetSessionEvent) => void,
): StreamPort => {
  const { telemetry, time } = environment;
  const { clusterId, address, render, record } = options;
  const desk: FrameDesk = {
    clusterId,
    telemetry: sparing(telemetry),
    render,
    reply: parts.reply,
    news: parts.news,
    onHelloAck: () => tell({ type: 'hello.acknowledged' }),
    onRollupAck: () => tell({ type: 'rollup.acknowledged' }),
    onHole: () => {
      parts.replayHasHole = true;
    },
  };
  return {
    address,
    clusterId,
    pair: () => parts.pair,
    outbox: parts.outbox,
    rollups: parts.rollups,
    asks: parts.asks,
    encode: rollupFrames(clusterId),
    onConnected: () => {
      parts.replayHasHole = false;
      tell({ type: 'stream.connected' });
    },
    onFrame: (frame) => takeFrame(desk, frame),
    onRollup: (rollup, bytes) => {
      parts.outstanding = { rollup, sentAtMs: time.monotonic() };
      telemetry.count('tidegate_rollups_total', 1, { outcome: 'sent' });
      telemetry.gauge('tidegate_rollup_bytes', bytes);
      tell({ type: 'rollup.sent' });
    },
    onTooLarge: (large) => tellTooLarge(environment, record, large),
  };
};
