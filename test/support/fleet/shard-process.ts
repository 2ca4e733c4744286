/** Starts and controls a scripted shard in a Node process. */
import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  type OperatorMessage,
  OperatorMessageSchema,
  ShardMessageSchema,
} from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import type { ShardKeys } from './raw-shard.ts';

export interface ShardSetup {
  readonly port: number;
  readonly tls?: ShardKeys;
}

export type ShardCommand =
  | {
    readonly command: 'send';
    readonly stream: number;
    readonly bytes: string;
    readonly times?: number;
  }
  | { readonly command: 'pause'; readonly stream: number }
  | { readonly command: 'resume'; readonly stream: number }
  | {
    readonly command: 'end';
    readonly stream: number;
    readonly code: number;
    readonly details: string;
  };

export type ShardEvent =
  | { readonly event: 'listening'; readonly port: number }
  | { readonly event: 'opened'; readonly stream: number; readonly certificate: string }
  | { readonly event: 'received'; readonly stream: number; readonly bytes: string }
  | { readonly event: 'halfClosed' | 'cancelled'; readonly stream: number };

export type ShardPayload = NonNullable<MessageInitShape<typeof ShardMessageSchema>['payload']>;

/** A message of the operator, with its stream. */
export interface ReceivedFrame {
  readonly stream: number;
  readonly payload: OperatorMessage['payload'];
}

/** A scripted shard. */
export interface ShardProcess {
  readonly port: number;
  readonly address: string;
  /** Everything that happened, in order. */
  readonly events: readonly ShardEvent[];
  /** The operator's messages, in order. */
  readonly received: () => readonly ReceivedFrame[];
  /** Resolves with the first event, present or to come, that `is` accepts. */
  readonly event: (is: (event: ShardEvent) => boolean) => Promise<ShardEvent>;
  /** Resolves with the first message from `stream` of the kind, counting from `skip`. */
  readonly message: (
    stream: number,
    kind: OperatorMessage['payload']['case'],
    skip?: number,
  ) => Promise<OperatorMessage['payload']>;
  readonly send: (stream: number, payload: ShardPayload, times?: number) => void;
  readonly sendBytes: (stream: number, bytes: Uint8Array) => void;
  readonly command: (command: ShardCommand) => void;
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
}

const NODE = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./scripted-shard.ts', import.meta.url));

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (isRunning(child)) child.once('exit', () => resolve());
    else resolve();
  });

/** Starts one; `port` 0 takes any. Kill it when done. */
export const startShard = async (setup: Partial<ShardSetup> = {}): Promise<ShardProcess> => {
  const child = spawn(NODE, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const events: ShardEvent[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line));
    for (const look of waiting) look();
  });
  const eventually = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const write = (line: unknown): void => {
    child.stdin.write(`${JSON.stringify(line)}\n`);
  };
  const received = (): readonly ReceivedFrame[] =>
    events.flatMap((one) => {
      if (one.event !== 'received') return [];
      const bytes = new Uint8Array(Buffer.from(one.bytes, 'base64'));
      return [{ stream: one.stream, payload: fromBinary(OperatorMessageSchema, bytes).payload }];
    });
  const event: ShardProcess['event'] = (is) => eventually(() => events.find(is));
  const send = (stream: number, bytes: Uint8Array, times = 1): void =>
    write({ command: 'send', stream, bytes: Buffer.from(bytes).toString('base64'), times });

  write({ port: 0, ...setup });
  const listening = await event((one) => one.event === 'listening');
  const port = listening.event === 'listening' ? listening.port : 0;
  return {
    port,
    address: `127.0.0.1:${port}`,
    events,
    received,
    event,
    message: (stream, kind, skip = 0) =>
      eventually(() =>
        received().filter((one) => one.stream === stream && one.payload.case === kind)[skip]
          ?.payload
      ),
    send: (stream, payload, times) =>
      send(stream, toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload })), times),
    sendBytes: send,
    command: write,
    kill: async (signal) => {
      if (child.pid !== undefined && isRunning(child)) process.kill(child.pid, signal);
      await ended(child);
    },
  };
};
