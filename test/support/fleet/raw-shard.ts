/** A gRPC server of `Shard.Session` that passes bytes on, for peers that send anything. */
import {
  type handleBidiStreamingCall,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import type { Pair } from '../processes/certificates.ts';

/** A stream as the shard has it. */
export type RawStream = ServerDuplexStream<Buffer, Buffer>;

/** PEM texts of a server that asks its clients for a certificate of `authority`. */
export interface ShardKeys extends Pair {
  readonly authority: string;
}

interface RawShardOptions {
  readonly session: handleBidiStreamingCall<Buffer, Buffer>;
  /** Without keys, without TLS. */
  readonly tls?: ShardKeys | undefined;
  /** Any free port without it. */
  readonly port?: number;
}

/** As large as a frame of the protocol may be. */
const FRAME_BYTES_MAX = 256 * 1024 * 1024;

const sameBytes = (bytes: Buffer): Buffer => bytes;

const credentialsOf = (tls: ShardKeys | undefined): ServerCredentials =>
  tls === undefined ? ServerCredentials.createInsecure() : ServerCredentials.createSsl(
    Buffer.from(tls.authority),
    [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) }],
    true,
  );

/** Starts it on 127.0.0.1; rejects when the port is taken. */
export const rawShard = async (
  { session, tls, port = 0 }: RawShardOptions,
): Promise<{ readonly server: Server; readonly port: number }> => {
  const server = new Server({
    'grpc.max_receive_message_length': FRAME_BYTES_MAX,
    'grpc.max_send_message_length': FRAME_BYTES_MAX,
  });
  server.addService({
    session: {
      path: '/bigfleet.v1alpha1.Shard/Session',
      requestStream: true,
      responseStream: true,
      requestSerialize: sameBytes,
      requestDeserialize: sameBytes,
      responseSerialize: sameBytes,
      responseDeserialize: sameBytes,
    },
  }, { session });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentialsOf(tls), (problem, at) => {
      if (problem === null) resolve(at);
      else reject(problem);
    });
  });
  return { server, port: bound };
};
