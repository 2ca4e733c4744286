/**
 * One `Shard.Session` stream over gRPC: dials, writes, and reads continuously.
 *
 * Promises: bytes are passed on unchanged, so that a malformed frame ends nothing; frames are
 * delivered as they arrive and never queued, but a flood leaves time to other work (WIRE-11); a
 * write completes when the network accepted it, so that the caller feels the peer's backpressure;
 * leaving the scope cancels the stream and closes the connection; nothing is retried here.
 */
import {
  Client,
  type ClientDuplexStream,
  connectivityState,
  Metadata,
  status as Status,
} from '@grpc/grpc-js';
import { Context, Deferred, Effect, Layer, type Scope } from 'effect';
import type { EndingCause, SessionEnding } from '../domain/session.ts';
import { Shard } from '../gen/bigfleet/v1alpha1/shard_pb.ts';
import { contentFreeProblem } from './content-free-errors.ts';
import { realTime } from './real-time.ts';
import { FRAME_BYTES_MAX } from './rollup-frame.ts';
import { dialCredentials, nameOptions, type ShardPeer } from './shard-credentials.ts';

/** The address, and the handler of frames. */
export interface ShardDial extends ShardPeer {
  /** Called with each frame on arrival. Must not throw. */
  readonly receive: (frame: Uint8Array) => void;
}

/** An open stream. */
export interface ShardStream {
  /** Sends one message; completes when the network accepted it, or the stream is over. */
  readonly write: (message: Uint8Array) => Effect.Effect<void>;
  /** Half-closes the stream; the shard may then end it. */
  readonly closeSending: Effect.Effect<void>;
  /** Completes when the stream is over. */
  readonly ended: Effect.Effect<SessionEnding>;
}

/** The client of the shard. */
export class ShardCalls extends Context.Service<ShardCalls, {
  /** Completes when connected; fails with the cause otherwise. */
  readonly open: (
    dial: ShardDial,
  ) => Effect.Effect<ShardStream, SessionEnding, Scope.Scope>;
}>()('tidegate/ShardCalls') {}

const SESSION_PATH = `/${Shard.typeName}/${Shard.method.session.name}`;
const FLOW_CONTROL_BYTES = 8 * 1024 * 1024;

/** Go's servers close connections that ping more often than every 5 minutes (WIRE-06). */
const KEEPALIVE_MS = 6 * 60 * 1000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

const OPTIONS = {
  'grpc.max_send_message_length': FRAME_BYTES_MAX,
  'grpc.max_receive_message_length': FRAME_BYTES_MAX,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  'grpc.keepalive_permit_without_calls': 0,
  // Each dial is a new connection: a shared one would keep its own backoff and its old key pair.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  // Neither who answers DNS nor a variable decides where and how the session goes.
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
  'grpc.primary_user_agent': 'tidegate',
};

/** Statuses that a retry will not change. */
const REFUSALS: ReadonlySet<number> = new Set([
  Status.INVALID_ARGUMENT,
  Status.PERMISSION_DENIED,
  Status.UNAUTHENTICATED,
  Status.UNIMPLEMENTED,
]);

/** grpc-js appends a time and a mostly empty note to connection errors. */
const EMPTY_NOTE = /\.? *Resolution note: $/;
const TIME = / \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/g;
/** Its error when the peer closed the connection before the first HTTP/2 frame. */
const CLOSED_EARLY = /Last error: (?:Failed to connect|(?:read|write) E(?:PIPE|CONNRESET))$/;
const PERHAPS_REFUSED = ': the peer closed the connection during the handshake, as a shard does ' +
  'that does not accept our certificate';

interface StreamState {
  readonly connected: boolean;
  readonly secured: boolean;
}

/** The ending of a call with this status. */
export const endingOf = (code: number, details: string, how: StreamState): SessionEnding => {
  const text = details.replace(EMPTY_NOTE, '').replaceAll(TIME, '');
  const hint = how.secured && CLOSED_EARLY.test(text) ? PERHAPS_REFUSED : '';
  const cause = (): EndingCause => {
    if (REFUSALS.has(code)) return 'RefusedByShard';
    return how.connected ? 'EndedByShard' : 'Unreachable';
  };
  return { why: cause(), detail: `${Status[code] ?? code}: ${text}${hint}` };
};

/** Frames are handled for as long within one turn of the event loop. */
const TURN_MS_MAX = 20;
/** Timers of a turn run before the next one. */
const NEXT_TURN_MS = 0;

/**
 * Hands on each frame. The window of flow control has room for 100,000 small frames: reading pauses
 * until the next turn of the event loop when those of one turn take long.
 */
const deliver = (
  call: ClientDuplexStream<Uint8Array, Uint8Array>,
  receive: ShardDial['receive'],
): void => {
  let begunMs: number | undefined;
  const endTurn = (): void => {
    begunMs = undefined;
    call.resume();
  };
  call.on('data', (frame: Uint8Array) => {
    if (begunMs === undefined) {
      begunMs = realTime.monotonic();
      realTime.schedule(NEXT_TURN_MS, endTurn);
    }
    receive(frame);
    // What frames lead to runs between them.
    if (realTime.monotonic() - begunMs > TURN_MS_MAX) call.pause();
  });
};

interface Connection {
  readonly client: Client;
  readonly call: ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly connected: Deferred.Deferred<void, SessionEnding>;
  readonly ended: Deferred.Deferred<SessionEnding>;
  /** False: no more connections may be made. */
  wanted: boolean;
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const watchForConnection = ({ client, connected }: Connection): void => {
  const channel = client.getChannel();
  const look = (): void => {
    // Only observes: the call connects by itself, and requesting a connection here would start
    // another attempt after a failure, without the session's backoff.
    const state = channel.getConnectivityState(false);
    if (state === connectivityState.READY) Deferred.doneUnsafe(connected, Effect.void);
    else if (state !== connectivityState.SHUTDOWN) {
      channel.watchConnectivityState(state, Infinity, (problem) => {
        if (problem === undefined) look();
      });
    }
  };
  look();
};

const connect = (dial: ShardDial): Connection => {
  const credentials = dialCredentials(dial, () => connection.wanted);
  const options = { ...OPTIONS, ...nameOptions(dial.address) };
  const client = new Client(dial.address, credentials, options);
  const call = client.makeBidiStreamRequest(
    SESSION_PATH,
    asBuffer,
    (bytes): Uint8Array => bytes,
    new Metadata(),
  );
  const connection: Connection = {
    client,
    call,
    connected: Deferred.makeUnsafe(),
    ended: Deferred.makeUnsafe(),
    wanted: true,
  };
  deliver(call, dial.receive);
  // The status has the same error; without a listener it would end the process.
  call.on('error', () => {});
  call.on('status', ({ code, details }) => {
    const ending = endingOf(code, details, {
      connected: Deferred.isDoneUnsafe(connection.connected),
      secured: dial.pair !== undefined,
    });
    Deferred.doneUnsafe(connection.connected, Effect.fail(ending));
    Deferred.doneUnsafe(connection.ended, Effect.succeed(ending));
  });
  watchForConnection(connection);
  return connection;
};

const disconnect = (connection: Connection): void => {
  connection.wanted = false;
  connection.call.cancel();
  connection.client.close();
};

const streamOf = ({ call, ended }: Connection): ShardStream => ({
  write: (message) =>
    Effect.raceFirst(
      Effect.callback<void>((resume) => {
        if (call.writable) call.write(message, () => resume(Effect.void));
        else resume(Effect.void);
      }),
      Effect.asVoid(Deferred.await(ended)),
    ),
  closeSending: Effect.sync(() => {
    if (call.writable) call.end();
  }),
  ended: Deferred.await(ended),
});

const open = (dial: ShardDial): Effect.Effect<ShardStream, SessionEnding, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* Effect.acquireRelease(
      Effect.try({
        try: () => connect(dial),
        catch: (problem): SessionEnding => ({
          why: dial.pair === undefined ? 'Unreachable' : 'CredentialsRefused',
          detail: `Cannot dial "${dial.address}": ${contentFreeProblem(problem)}`,
        }),
      }),
      (made) => Effect.sync(() => disconnect(made)),
    );
    yield* Deferred.await(connection.connected);
    return streamOf(connection);
  });

/** Dials over gRPC. */
export const shardCallsLayer: Layer.Layer<ShardCalls> = Layer.succeed(ShardCalls, { open });
