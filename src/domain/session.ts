/** The nouns of a session with the shard that are not frames: what is sent, and how it ends. */
import type { Need } from './demand/need.ts';
import type { CapacityRequestProjection } from './demand/request.ts';
import type { InstructionId } from './ids.ts';

/** How a stream, or the attempt to get one, came to its end. */
export const ENDING_CAUSES = [
  /** No connection could be made. */
  'Unreachable',
  /** The shard (or something on the way to it) ended a stream that was open. */
  'EndedByShard',
  /** The shard will not have us: identity, protocol or permission. Needs a person. */
  'RefusedByShard',
  /** Our own key pair is not fit to dial with. Needs a person. */
  'CredentialsRefused',
  'DialOverdue',
  'HelloOverdue',
  'RollupOverdue',
  /** A fault of this program; the session starts over. */
  'Defect',
] as const;
export type EndingCause = (typeof ENDING_CAUSES)[number];

/** Why it ended, and in which words. */
export interface SessionEnding {
  readonly why: EndingCause;
  readonly detail: string;
}

/** The cluster's complete demand at one moment. */
export interface Rollup {
  /** Grows by one with each roll-up that is built; names it in logs and in its ack. */
  readonly number: number;
  /** Wall clock, milliseconds since the epoch. */
  readonly builtAtMs: number;
  readonly needs: readonly Need[];
  /** The requests in it that its ack will acknowledge. */
  readonly unacknowledged: readonly CapacityRequestProjection[];
}

/** What the template made of a bootstrap pull: the blob, or why there is none. */
export type BootstrapAnswer =
  | { readonly _tag: 'Rendered'; readonly userData: string }
  | { readonly _tag: 'Failed'; readonly problem: string };

/** An answer to the shard that is owed once and waits in the bounded outbox (WIRE-03). */
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
