/**
 * One `Shard.Session` stream over gRPC: dialled, written to, and read without ever stopping.
 *
 * Promises: bytes are handed over as they came, so that a frame that is no message ends nothing;
 * each frame is received at once and never queued (WIRE-11); a write completes when the network
 * took it, so whoever waits for it feels the peer's backpressure; leaving the scope cancels the
 * stream and closes the connection; nothing is retried here.
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
import { FRAME_BYTES_MAX } from './rollup-frame.ts';
import { dialCredentials, nameOptions, type ShardPeer } from './shard-credentials.ts';

/** Whom to dial, and who hears the frames. */
export interface ShardDial extends ShardPeer {
  /** Called with each frame the moment it is there. Must not throw. */
  readonly receive: (frame: Uint8Array) => void;
}

/** An open stream. */
export interface ShardStream {
  /** Sends one message; completes when the network took it, or the stream is over. */
  readonly write: (message: Uint8Array) => Effect.Effect<void>;
  /** Says that nothing more will be sent; the shard may then end the stream. */
  readonly closeSending: Effect.Effect<void>;
  /** Completes when the stream is over. */
  readonly ended: Effect.Effect<SessionEnding>;
}

/** The way to the shard. */
export class ShardCalls extends Context.Service<ShardCalls, {
  /** Completes when the connection stands; fails with why there is none. */
  readonly open: (
    dial: ShardDial,
  ) => Effect.Effect<ShardStream, SessionEnding, Scope.Scope>;
}>()('tidegate/ShardCalls') {}

const SESSION_PATH = `/${Shard.typeName}/${Shard.method.session.name}`;
const FLOW_CONTROL_BYTES = 8 * 1024 * 1024;

/** Go's servers close connections that ping more often than every 5 minutes (WIRE-06). */
export const KEEPALIVE_MS = 6 * 60 * 1000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

const OPTIONS = {
  'grpc.max_send_message_length': FRAME_BYTES_MAX,
  'grpc.max_receive_message_length': FRAME_BYTES_MAX,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  'grpc.keepalive_permit_without_calls': 0,
  // Each dial is a new connection: a shared one would bring its own backoff and its old key pair.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
  'grpc.primary_user_agent': 'tidegate',
};

/** Statuses that no new attempt will change by itself. */
const REFUSALS: ReadonlySet<number> = new Set([
  Status.INVALID_ARGUMENT,
  Status.PERMISSION_DENIED,
  Status.UNAUTHENTICATED,
  Status.UNIMPLEMENTED,
]);

/** grpc-js ends connection problems with a time and a note that is mostly empty. */
const EMPTY_NOTE = /\.? *Resolution note: $/;
const TIME = / \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/g;
/** What it says when the peer closed the connection before the first HTTP/2 frame. */
const CLOSED_EARLY = /Last error: (?:Failed to connect|(?:read|write) E(?:PIPE|CONNRESET))$/;
const PERHAPS_REFUSED = ': the peer closed the connection during the handshake, as a shard does ' +
  'that does not accept our certificate';

interface StreamState {
  readonly connected: boolean;
  readonly secured: boolean;
}

const endingOf = (code: number, details: string, how: StreamState): SessionEnding => {
  const text = details.replace(EMPTY_NOTE, '').replaceAll(TIME, '');
  const hint = how.secured && CLOSED_EARLY.test(text) ? PERHAPS_REFUSED : '';
  const cause = (): EndingCause => {
    if (REFUSALS.has(code)) return 'RefusedByShard';
    return how.connected ? 'EndedByShard' : 'Unreachable';
  };
  return { why: cause(), detail: `${Status[code] ?? code}: ${text}${hint}` };
};

interface Connection {
  readonly client: Client;
  readonly call: ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly connected: Deferred.Deferred<void, SessionEnding>;
  readonly ended: Deferred.Deferred<SessionEnding>;
  /** False: no more connections are to be made. */
  wanted: boolean;
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const watchForConnection = ({ client, connected }: Connection): void => {
  const channel = client.getChannel();
  const look = (): void => {
    // Only looks: the call connects by itself, and asking for a connection here would make another
    // attempt when the first has failed, without the session's backoff.
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
  call.on('data', dial.receive);
  // What it says is in the status as well; unheard, it would end the process.
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
          detail: `Cannot dial "${dial.address}": ${
            problem instanceof Error ? problem.message : String(problem)
          }`,
        }),
      }),
      (made) => Effect.sync(() => disconnect(made)),
    );
    yield* Deferred.await(connection.connected);
    return streamOf(connection);
  });

/** Dials over gRPC. */
export const shardCallsLayer: Layer.Layer<ShardCalls> = Layer.succeed(ShardCalls, { open });
