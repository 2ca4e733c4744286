/**
 * The statechart of the session with its stream, its actions and its published events.
 *
 * Promises: actions run synchronously with the decision; what is outstanding is tracked in one
 * place and ends with its stream.
 */
import { Subject } from 'rxjs';
import { fromPromise } from 'xstate';
import type { KeyPair } from '../../domain/credentials.ts';
import type { ShardEvent } from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { Reply, Rollup } from '../../domain/session.ts';
import type { CredentialFiles, Credentials } from '../../effects/credentials.ts';
import { rollupFrames } from '../../effects/rollup-frame.ts';
import type { ShardCalls } from '../../effects/shard-call.ts';
import { fleetSession } from '../../machines/fleet-session.ts';
import type { FleetSessionEvent } from '../../machines/fleet-session-context.ts';
import { type ReplyOutbox, replyOutbox } from '../../streams/reply-outbox.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { EffectRuntime } from '../actor-logic.ts';
import type { RecordOnLease } from '../role.ts';
import { outageRecorder, recordEnding, recordTooLarge, sampledLogger } from './session-events.ts';
import { type FrameDependencies, frameHandler, type RenderBootstrap } from './session-frames.ts';
import type { StreamHold, StreamPort } from './shard-stream.ts';

/** The maximum number of queued replies (WIRE-03). */
const OUTBOX_LIMIT = 256;

/** State that outlives a stream and a session actor; one per process. */
export interface SessionState {
  readonly shardEvents: Subject<ShardEvent>;
  readonly acknowledged: Subject<Rollup>;
  readonly rollups: Subject<Rollup>;
  /** The statechart is ready for the next roll-up. */
  readonly requests: Subject<void>;
  /** A frame arrived. */
  readonly frames: Subject<void>;
  readonly outbox: ReplyOutbox<Reply>;
  /** The pair to dial with; none is plaintext. */
  pair: KeyPair | undefined;
  outstanding: { readonly rollup: Rollup; readonly sentAtMs: number } | undefined;
  /** The stream published as opened, and not yet as ended. */
  openStream: number | undefined;
}

/** The inputs of a session actor. */
export interface SessionDependencies {
  readonly environment: ActorEnvironment<SessionServices>;
  readonly options: FleetSessionOptions;
  readonly state: SessionState;
}

/** The state of a session that has not dialled yet. */
export const sessionState = (
  { telemetry }: Pick<ActorEnvironment<never>, 'telemetry'>,
): SessionState => ({
  shardEvents: new Subject(),
  acknowledged: new Subject(),
  rollups: new Subject(),
  requests: new Subject(),
  frames: new Subject(),
  outbox: replyOutbox<Reply>(OUTBOX_LIMIT, ({ _tag }) => {
    telemetry.count('bigfleet_operator_outbox_dropped_total', 1);
    telemetry.log('warn', 'Reply dropped', { reply: _tag });
  }),
  pair: undefined,
  outstanding: undefined,
  openStream: undefined,
});

/** Publishes the end of the open stream, exactly once. */
export const publishStreamEnded = (state: SessionState): void => {
  const { openStream: stream } = state;
  if (stream === undefined) return;
  state.openStream = undefined;
  state.shardEvents.next({ _tag: 'StreamEnded', stream });
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

/** The note is the same for every roll-up, so that repeats are one Event with a series. */
const recordOverdue = ({ environment, options, state }: SessionDependencies): void => {
  const { telemetry } = environment;
  const rollup = state.outstanding?.rollup.number ?? 0;
  telemetry.count('tidegate_rollups_total', 1, { outcome: 'overdue' });
  telemetry.log('warn', 'Roll-up not acknowledged', { rollup });
  options.record(
    'RollupNotAcknowledged',
    `Cannot report demand: no ack of a roll-up from "${options.address}" for ` +
      'three intervals; the session redials',
  );
};

/** The statechart with its actor and its actions. */
export const provideFleetSession = (
  dependencies: SessionDependencies,
  stream: StreamHold,
): typeof fleetSession => {
  const { environment, options, state } = dependencies;
  const { telemetry } = environment;
  const runtime: EffectRuntime<SessionServices> = environment.runtime;
  const outage = outageRecorder(options.address, options.record);
  return fleetSession.provide({
    actors: {
      holdStream: fromPromise(({ input: { stream: number }, signal }) => {
        if (number > 1) telemetry.count('bigfleet_operator_session_reconnects_total', 1);
        return runtime.runPromise(stream.hold, { signal });
      }),
    },
    actions: {
      requestRollup: () => state.requests.next(),
      closeSending: () => stream.closeSending(),
      setConnected: ({ context }) => {
        state.openStream = context.stream;
      },
      publishOpened: ({ context }) => {
        // Outstanding roll-ups end with their stream: they are rebuilt, not acknowledged.
        state.outstanding = undefined;
        state.shardEvents.next({ _tag: 'StreamOpened', stream: context.stream });
      },
      publishResynced: ({ context }) => {
        telemetry.log('info', 'Session resynced', { stream: context.stream });
        state.shardEvents.next({ _tag: 'Resynced', stream: context.stream });
      },
      publishUnproven: ({ context: { stream } }) => {
        telemetry.log('warn', 'Resync incomplete: a frame of the replay was malformed', { stream });
        state.shardEvents.next({ _tag: 'ReplayUnproven', stream });
      },
      publishStreamEnded: () => publishStreamEnded(state),
      recordRollupAcknowledged: () => recordAcknowledged(dependencies),
      recordRollupOverdue: () => recordOverdue(dependencies),
      recordRenewal: ({ context }) =>
        telemetry.log('info', 'Session closed to dial with the new key pair', {
          stream: context.stream,
        }),
      recordEnding: ({ context }) => {
        if (context.ending !== null) recordEnding(environment, context.ending, context.attempt);
      },
      recordRefused: ({ context }) => {
        if (context.ending !== null) outage.refused(context.ending);
      },
      recordUnreachable: ({ context }) => {
        if (context.ending !== null) outage.unreachable(context.ending);
      },
      recordReachable: () => outage.reachable(),
    },
  });
};

/** The interface of the session's stream to the statechart. */
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
    reply: state.outbox.offer,
    shardEvents: state.shardEvents,
    record,
    onHelloAck: () => send({ type: 'hello.acknowledged' }),
    onRollupAck: () => send({ type: 'rollup.acknowledged' }),
    onReplayGap: () => send({ type: 'frame.malformed' }),
    onReceived: () => state.frames.next(),
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

/** The session's dependencies on the environment. */
export type SessionServices = ShardCalls | Credentials;

export interface FleetSessionOptions {
  readonly clusterId: ClusterId;
  /** `host:port` of the shard. */
  readonly address: string;
  readonly rollupIntervalMs: number;
  /** Mutual TLS; plaintext without. */
  readonly credentialFiles?: CredentialFiles;
  /** The shortest time from a new key pair to its session; default `RENEWAL_DELAY_MS`. */
  readonly renewalDelayMs?: number;
  /** How often the key files are read; default `CREDENTIALS_POLL_MS`, or the renewal delay. */
  readonly credentialsPollMs?: number;
  readonly render: RenderBootstrap;
  readonly record: RecordOnLease;
}
