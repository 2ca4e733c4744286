/**
 * A scripted gRPC server for `Shard.Session`, in its own process because a gRPC server with client
 * certificates works on Node only.
 *
 * Reads one JSON command per line and writes one JSON event per line; see `shard-process.ts`.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import type { ShardCommand, ShardEvent, ShardSetup } from './shard-process.ts';

type Stream = ServerDuplexStream<Buffer, Buffer>;

const FRAME_BYTES_MAX = 256 * 1024 * 1024;
const streams = new Map<number, Stream>();
let opened = 0;

const sendEvent = (event: ShardEvent): void => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

const session = (stream: Stream): void => {
  opened += 1;
  const id = opened;
  streams.set(id, stream);
  const certificate = stream.getAuthContext()?.sslPeerCertificate?.subjectaltname ?? '';
  sendEvent({ event: 'opened', stream: id, certificate });
  stream.on('data', (bytes: Buffer) => {
    sendEvent({ event: 'received', stream: id, bytes: bytes.toString('base64') });
  });
  stream.on('end', () => sendEvent({ event: 'halfClosed', stream: id }));
  stream.on('cancelled', () => {
    streams.delete(id);
    sendEvent({ event: 'cancelled', stream: id });
  });
  stream.on('error', () => {});
};

const obey = (command: ShardCommand): void => {
  const stream = streams.get(command.stream);
  if (stream === undefined) return;
  if (command.command === 'send') {
    for (let count = command.times ?? 1; count > 0; count -= 1) {
      stream.write(Buffer.from(command.bytes, 'base64'));
    }
  } else if (command.command === 'pause') stream.pause();
  else if (command.command === 'resume') stream.resume();
  else if (command.code === 0) stream.end();
  else stream.emit('error', { code: command.code, details: command.details });
};

const listen = ({ tls, port }: ShardSetup): void => {
  const server = new Server({
    'grpc.max_receive_message_length': FRAME_BYTES_MAX,
    'grpc.max_send_message_length': FRAME_BYTES_MAX,
  });
  const same = (bytes: Buffer): Buffer => bytes;
  server.addService({
    session: {
      path: '/bigfleet.v1alpha1.Shard/Session',
      requestStream: true,
      responseStream: true,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  }, { session });
  const credentials = tls === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(
      Buffer.from(tls.authority),
      [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) }],
      true,
    );
  server.bindAsync(`127.0.0.1:${port}`, credentials, (problem, bound) => {
    if (problem !== null) throw problem;
    sendEvent({ event: 'listening', port: bound });
  });
};

let started = false;
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (started) obey(JSON.parse(line));
  else {
    started = true;
    listen(JSON.parse(line));
  }
});
// The test that started it has ended.
lines.on('close', () => process.exit(0));
