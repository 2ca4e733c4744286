/**
 * A scripted gRPC server for `Shard.Session`, in its own process because a gRPC server with client
 * certificates works on Node only.
 *
 * Reads one JSON command per line and writes one JSON event per line; see `shard-process.ts`.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { rawShard, type RawStream } from './raw-shard.ts';
import type { ShardCommand, ShardEvent, ShardSetup } from './shard-process.ts';

const streams = new Map<number, RawStream>();
let opened = 0;

const sendEvent = (event: ShardEvent): void => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

const session = (stream: RawStream): void => {
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

const listen = async (setup: ShardSetup): Promise<void> => {
  const { port } = await rawShard({ ...setup, session });
  sendEvent({ event: 'listening', port });
};

let started = false;
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (started) obey(JSON.parse(line));
  else {
    started = true;
    void listen(JSON.parse(line));
  }
});
// The test that started it has ended.
lines.on('close', () => process.exit(0));
