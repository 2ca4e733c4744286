/** A cluster that dials a fleet over a real socket, without operator code. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import type { OperatorFrame } from '../../../packages/stand-in-fleet/src/in-process.ts';
import {
  InspectNeedsRequestSchema,
  type InspectNeedsResponse,
  InspectNeedsResponseSchema,
  OperatorMessageSchema,
  type ShardMessage,
  ShardMessageSchema,
} from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { eventually } from '../eventually.ts';

const FRAME_BYTES_MAX = 256 * 1024 * 1024;
const LIMITS = {
  'grpc.max_send_message_length': FRAME_BYTES_MAX,
  'grpc.max_receive_message_length': FRAME_BYTES_MAX,
  'grpc.use_local_subchannel_pool': 1,
};

/** PEM texts of a client. */
export interface ClientPair {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const credentialsOf = (pair: ClientPair | undefined): ChannelCredentials =>
  pair === undefined ? ChannelCredentials.createInsecure() : ChannelCredentials.createSsl(
    Buffer.from(pair.ca),
    Buffer.from(pair.key),
    Buffer.from(pair.certificate),
  );

const sameBytes = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

/** How it dials. */
export interface GrpcDial {
  readonly pair?: ClientPair;
  readonly options?: Readonly<Record<string, number>>;
}

/** One stream over one connection. */
export class GrpcCluster {
  readonly received: ShardMessage[] = [];
  status: StatusObject | undefined;
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Uint8Array, Uint8Array>;

  constructor(address: string, { pair, options }: GrpcDial = {}) {
    this.#client = new Client(address, credentialsOf(pair), { ...LIMITS, ...options });
    this.#stream = this.#client.makeBidiStreamRequest(
      '/bigfleet.v1alpha1.Shard/Session',
      sameBytes,
      sameBytes,
    );
    this.#stream.on('data', (bytes: Uint8Array) => {
      this.received.push(fromBinary(ShardMessageSchema, bytes));
    });
    this.#stream.on('status', (status: StatusObject) => {
      this.status = status;
    });
    this.#stream.on('error', (_: ServiceError) => {});
  }

  send(payload: OperatorFrame): void {
    this.sendBytes(toBinary(OperatorMessageSchema, create(OperatorMessageSchema, { payload })));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#stream.write(bytes);
  }

  hello(clusterId: string): this {
    this.send({ case: 'hello', value: { clusterId, protocolVersion: 'v1alpha1' } });
    return this;
  }

  /** Waits until so many frames of a kind have arrived and returns them. */
  async frames(kind: ShardMessage['payload']['case'], count: number): Promise<ShardMessage[]> {
    const received = () => this.received.filter(({ payload }) => payload.case === kind);
    await eventually(() => Promise.resolve(received().length >= count), {
      what: `${count} frames of ${kind}`,
      hopeless: () => this.status && `the stream ended: ${this.status.details}`,
    });
    return received();
  }

  /** Waits for the end of the stream. */
  async end(): Promise<StatusObject> {
    await eventually(() => Promise.resolve(this.status !== undefined), {
      what: 'the end of the stream',
    });
    return this.status ?? Promise.reject(new Error('The stream has no status'));
  }

  halfClose(): void {
    this.#stream.end();
  }

  close(): void {
    this.#stream.cancel();
    this.#client.close();
  }
}

/** The complete response of `ShardRead.InspectNeeds`. */
export const inspectNeeds = (
  address: string,
  clusterId: string,
): Promise<readonly InspectNeedsResponse[]> =>
  new Promise((resolve, reject) => {
    const client = new Client(address, ChannelCredentials.createInsecure(), LIMITS);
    const frames: InspectNeedsResponse[] = [];
    const stream = client.makeServerStreamRequest(
      '/bigfleet.v1alpha1.ShardRead/InspectNeeds',
      sameBytes,
      sameBytes,
      toBinary(InspectNeedsRequestSchema, create(InspectNeedsRequestSchema, { clusterId })),
    );
    stream.on('data', (bytes: Uint8Array) => {
      frames.push(fromBinary(InspectNeedsResponseSchema, bytes));
    });
    stream.on('error', reject);
    stream.on('end', () => resolve(frames));
    stream.on('close', () => client.close());
  });
