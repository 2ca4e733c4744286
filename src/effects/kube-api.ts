/**
 * The API server as two calls: one request with its answer, and one watch.
 *
 * Promises: an HTTP status is an answer, not a failure; only transport problems fail, and they tell
 * whether the request may have reached the server. Nothing is retried here.
 */
import { Context, Data, type Effect, type Scope } from 'effect';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. `path` starts with `/`; `body` is sent as JSON. */
export interface KubeCall {
  readonly method: Method;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default `application/json`; patches set theirs. */
  readonly contentType?: string;
  /** From sending to the last byte of the answer. */
  readonly timeoutMs?: number;
  /** A longer answer is cut off: `AnswerLost` with `isTooLarge`. */
  readonly answerBytesMax?: number;
  /** Called in the step that sends the first byte; on false the call ends as `NotSent`. */
  readonly mayLeave?: () => boolean;
  /** Has connections of its own, so that it never waits for other requests to be answered. */
  readonly isUrgent?: boolean;
}

/** An answer with any status. `body` is parsed JSON, or text when it is not JSON. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
  /** The length of the text of `body`. */
  readonly characters?: number;
}

/** The request was not sent, or no connection was made: nothing happened. */
export class NotSent extends Data.TaggedError('NotSent')<{
  readonly why: string;
  readonly cause?: unknown;
}> {}

/** The request was sent and no answer came: it may or may not have been processed. */
export class AnswerLost extends Data.TaggedError('AnswerLost')<{
  readonly why: string;
  readonly cause?: unknown;
  /** The answer exceeds `answerBytesMax`. */
  readonly isTooLarge?: boolean;
}> {}

/** A watch or list stream was refused with an HTTP status. */
export class WatchRefused extends Data.TaggedError('WatchRefused')<{
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}> {}

export type KubeFault = NotSent | AnswerLost;

/** One line of a watch, parsed. */
export interface WatchLine {
  readonly type: string;
  readonly object: unknown;
}

/** The API server. Its live layer is created from a kubeconfig in `kube-connection.ts`. */
export class KubeApi extends Context.Service<KubeApi, {
  readonly call: (call: KubeCall) => Effect.Effect<KubeAnswer, KubeFault>;
  /**
   * Opens a watch. The iterable yields the lines of each network chunk together, ends at EOF and
   * throws when the connection breaks; leaving the scope closes it. Does not check idleness.
   */
  readonly watch: (
    call: Pick<KubeCall, 'path' | 'query'>,
  ) => Effect.Effect<AsyncIterable<readonly WatchLine[]>, KubeFault | WatchRefused, Scope.Scope>;
}>()('tidegate/KubeApi') {}
