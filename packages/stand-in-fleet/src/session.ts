/**
 * One stream of one cluster, independent of the transport.
 *
 * Promises: reads nothing before a valid `Hello`; live frames may precede its ack, and the
 * cluster's frames wait until the replay is sent; a muted session still reads but sends nothing; an
 * ended one does nothing.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { type OperatorMessage, OperatorMessageSchema } from './gen/bigfleet/v1alpha1/shard_pb.ts';

/** The gRPC statuses that the shard uses. */
export const STATUS = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;
export type Status = (typeof STATUS)[keyof typeof STATUS];

/** The shard's end of a stream. */
export interface Link {
  /** Sends a frame synchronously. */
  readonly send: (frame: Uint8Array) => void;
  readonly end: (status: Status, message: string) => void;
  /** Resets the connection without a status. */
  readonly cut: () => void;
  /** The reader has stalled, and outgoing frames queue up. */
  readonly congested: () => boolean;
}

/** The other end. */
export interface Peer {
  readonly address: string;
  /** `bigfleet://…` identities of the client certificate; undefined without TLS. */
  readonly certified: readonly string[] | undefined;
}

/** Events of a stream. */
export interface Inbound {
  readonly receive: (frame: Uint8Array) => void;
  /** The cluster has half-closed the stream or disconnected. */
  readonly closed: () => void;
}

/** Statistics of a session. */
export interface SessionReport {
  readonly number: number;
  readonly clusterId: string;
  readonly address: string;
  readonly protocolVersion: string;
  readonly state: 'awaitingHello' | 'greeting' | 'reading' | 'ended';
  readonly muted: boolean;
  readonly openedAt: number;
  readonly framesSent: number;
  readonly bytesSent: number;
  readonly framesReceived: number;
  readonly rollupAcks: number;
  readonly endedBecause: string;
}

/** A session as the shard holds it. */
export interface Session extends Inbound {
  readonly report: () => SessionReport;
  readonly send: (frame: Uint8Array) => void;
  readonly mute: () => void;
  /** The ack and the replay are sent: reads the waiting frames, then every new one at once. */
  readonly readOn: () => void;
  readonly end: (status: Status, message: string) => void;
  readonly cut: () => void;
  readonly congested: () => boolean;
  readonly countAck: () => void;
}

/** The shard's handlers of a session. */
export interface SessionHooks {
  /** A valid Hello arrived; the shard acks, replays and then calls `readOn`. */
  readonly onHello: (session: Session) => void;
  readonly onMessage: (session: Session, message: OperatorMessage) => void;
  readonly onEnded: (session: Session, why: string) => void;
}

const CLUSTER_URI = 'bigfleet://cluster/';

/** Why a peer may not act for a cluster; undefined when it may. */
const identityProblem = ({ certified }: Peer, clusterId: string): string | undefined => {
  if (certified === undefined) return undefined;
  if (certified.length !== 1) {
    return `the client certificate has ${certified.length} bigfleet:// URI SANs, not one`;
  }
  return certified[0] === CLUSTER_URI + clusterId
    ? undefined
    : `the client certificate is for "${certified[0]}", not for cluster "${clusterId}"`;
};

const decoded = (frame: Uint8Array): OperatorMessage | undefined => {
  try {
    return fromBinary(OperatorMessageSchema, frame);
  } catch {
    return undefined;
  }
};

/** The dependencies of a session. */
export interface SessionOptions {
  readonly number: number;
  readonly link: Link;
  readonly peer: Peer;
  readonly openedAt: number;
  readonly hooks: SessionHooks;
}

class LiveSession implements Session {
  readonly #options: SessionOptions;
  readonly #waiting: OperatorMessage[] = [];
  #report: SessionReport;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#report = {
      number: options.number,
      clusterId: '',
      address: options.peer.address,
      protocolVersion: '',
      state: 'awaitingHello',
      muted: false,
      openedAt: options.openedAt,
      framesSent: 0,
      bytesSent: 0,
      framesReceived: 0,
      rollupAcks: 0,
      endedBecause: '',
    };
  }

  report(): SessionReport {
    return this.#report;
  }

  receive(frame: Uint8Array): void {
    if (this.#report.state === 'ended') return;
    this.#update({ framesReceived: this.#report.framesReceived + 1 });
    const message = decoded(frame);
    if (message === undefined) return this.end(STATUS.INTERNAL, 'The frame is no OperatorMessage');
    if (this.#report.state === 'awaitingHello') this.#greet(message);
    else if (this.#report.state === 'greeting') this.#waiting.push(message);
    else this.#options.hooks.onMessage(this, message);
  }

  readOn(): void {
    if (this.#report.state !== 'greeting') return;
    this.#update({ state: 'reading' });
    for (const message of this.#waiting.splice(0)) this.#options.hooks.onMessage(this, message);
  }

  send(frame: Uint8Array): void {
    if (this.#report.state === 'ended' || this.#report.muted) return;
    const { framesSent, bytesSent } = this.#report;
    this.#update({ framesSent: framesSent + 1, bytesSent: bytesSent + frame.length });
    this.#options.link.send(frame);
  }

  mute(): void {
    this.#update({ muted: true });
  }

  countAck(): void {
    this.#update({ rollupAcks: this.#report.rollupAcks + 1 });
  }

  congested(): boolean {
    return this.#report.state !== 'ended' && this.#options.link.congested();
  }

  end(status: Status, message: string): void {
    if (this.#report.state === 'ended') return;
    this.#options.link.end(status, message);
    this.#over(message);
  }

  cut(): void {
    this.#options.link.cut();
    this.#over('The connection was cut');
  }

  closed(): void {
    if (this.#report.state === 'ended') return;
    this.#options.link.end(STATUS.OK, '');
    this.#over('The cluster closed the stream');
  }

  #greet(message: OperatorMessage): void {
    const { payload } = message;
    if (payload.case !== 'hello' || payload.value.clusterId === '') {
      return this.end(STATUS.INVALID_ARGUMENT, 'The first frame must be a Hello with a cluster_id');
    }
    const { clusterId, protocolVersion } = payload.value;
    const why = identityProblem(this.#options.peer, clusterId);
    if (why !== undefined) {
      return this.end(STATUS.PERMISSION_DENIED, `Cannot serve cluster "${clusterId}": ${why}`);
    }
    this.#update({ state: 'greeting', clusterId, protocolVersion });
    this.#options.hooks.onHello(this);
  }

  #over(why: string): void {
    if (this.#report.state === 'ended') return;
    this.#update({ state: 'ended', endedBecause: why });
    this.#waiting.length = 0;
    this.#options.hooks.onEnded(this, why);
  }

  #update(change: Partial<SessionReport>): void {
    this.#report = { ...this.#report, ...change };
  }
}

/** A session that waits for its Hello. */
export const openSession = (options: SessionOptions): Session => new LiveSession(options);
