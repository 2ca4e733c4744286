/** Types of a shard session besides frames: what is sent, and how it ends. */
import type { Need } from './demand/need.ts';
import type { CapacityRequestProjection } from './demand/request.ts';
import type { InstructionId } from './ids.ts';

/** How a stream, or the attempt to open one, ended. */
export const ENDING_CAUSES = [
  /** The connection failed. */
  'Unreachable',
  /** The shard (or a proxy) ended an open stream. */
  'EndedByShard',
  /** The shard refused: identity, protocol or permission. Needs a person. */
  'RefusedByShard',
  /** The local key pair is invalid. Needs a person. */
  'CredentialsRefused',
  'DialOverdue',
  'HelloOverdue',
  'RollupOverdue',
  /** A defect of this program; the session restarts. */
  'Defect',
] as const;
export type EndingCause = (typeof ENDING_CAUSES)[number];

/** The cause of the end, with a message. */
export interface SessionEnding {
  readonly why: EndingCause;
  readonly detail: string;
}

/** The cluster's complete demand at one moment. */
export interface Rollup {
  /** Incremented with each roll-up; identifies it in logs and in its ack. */
  readonly number: number;
  /** Wall clock, milliseconds since the epoch. */
  readonly builtAtMs: number;
  readonly needs: readonly Need[];
  /** The requests that its ack acknowledges. */
  readonly unacknowledged: readonly CapacityRequestProjection[];
}

/** The result of a bootstrap pull: the user data, or the problem. */
export type BootstrapAnswer =
  | { readonly _tag: 'Rendered'; readonly userData: string }
  | { readonly _tag: 'Failed'; readonly problem: string };

/** An answer to the shard, sent once from the bounded outbox (WIRE-03). */
export type Reply =
  | {
    readonly _tag: 'BootstrapAnswered';
    readonly requestId: string;
    readonly answer: BootstrapAnswer;
  }
  | {
    readonly _tag: 'ReclaimAcknowledged';
    readonly instructionId: InstructionId;
    readonly nodesStarted: number;
  };
