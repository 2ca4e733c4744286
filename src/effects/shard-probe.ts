/**
 * Whether a shard can be reached with the operator's credentials.
 *
 * Promises: opens no session, which would end that of the running operator: it calls a method that
 * no server has. Any gRPC server answers `UNIMPLEMENTED`, after the whole TLS handshake.
 */
import { Client, type ServiceError, status as Status } from '@grpc/grpc-js';
import { Clock, Effect } from 'effect';
import { contentFreeProblem } from './content-free-errors.ts';
import { endingOf } from './shard-call.ts';
import { dialCredentials, nameOptions, type ShardPeer } from './shard-credentials.ts';

/** The result of a probe. */
export type ShardProbe =
  | { readonly _tag: 'Reached' }
  | { readonly _tag: 'Unreached'; readonly why: string };

const PROBE_PATH = '/tidegate.Doctor/Probe';
const TIMEOUT_MS = 20_000;
const NO_BYTES = Buffer.alloc(0);

const probed = (problem: ServiceError | null, peer: ShardPeer): ShardProbe => {
  if (problem === null || problem.code === Status.UNIMPLEMENTED) return { _tag: 'Reached' };
  const secured = peer.pair !== undefined;
  const { detail } = endingOf(problem.code, problem.details, { connected: false, secured });
  return { _tag: 'Unreached', why: detail };
};

const call = (peer: ShardPeer, deadline: number): Effect.Effect<ShardProbe> =>
  Effect.callback<ShardProbe>((resume) => {
    const client = new Client(peer.address, dialCredentials(peer, () => true), {
      'grpc.enable_http_proxy': 0,
      'grpc.service_config_disable_resolution': 1,
      'grpc.use_local_subchannel_pool': 1,
      ...nameOptions(peer.address),
    });
    const asIs = (bytes: Buffer): Buffer => bytes;
    client.makeUnaryRequest(PROBE_PATH, asIs, asIs, NO_BYTES, { deadline }, (problem) => {
      client.close();
      resume(Effect.succeed(probed(problem, peer)));
    });
    return Effect.sync(() => client.close());
  });

/** Calls the shard once. */
export const probeShard = (peer: ShardPeer): Effect.Effect<ShardProbe> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => call(peer, nowMs + TIMEOUT_MS)).pipe(
    Effect.catchDefect((problem) =>
      Effect.succeed<ShardProbe>({ _tag: 'Unreached', why: contentFreeProblem(problem) })
    ),
  );
