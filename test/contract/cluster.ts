/**
 * The contract suite's view of a cluster, real or embedded.
 *
 * Promises: independent of the implementation; a response is status and parsed body, as a client
 * reads it, and a watch is the list of lines until it ended or was closed.
 */
import type { JsonRecord } from '../../src/domain/json.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. `path` has its query; `body` is sent as it is when it is text or bytes. */
export interface Question {
  readonly method: Method;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One answer. A body that is no JSON object is `{ text }`. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonRecord;
}

/** One line of a watch. */
export interface WatchLine {
  readonly type: string;
  readonly object: JsonRecord;
}

/** An open watch. */
export interface OpenWatch {
  readonly status: number;
  /** The lines so far, oldest first. */
  readonly lines: readonly WatchLine[];
  readonly isOver: () => boolean;
  readonly close: () => void;
}

/** A cluster under test. */
export interface ContractCluster {
  readonly request: (question: Question) => Promise<Answer>;
  readonly watch: (path: string) => Promise<OpenWatch>;
  /** Lets a moment pass: its controllers get on, its watches deliver. */
  readonly moment: () => Promise<void>;
  /** Compacts all older revisions: they become 410 Gone. */
  readonly compactHistory: () => Promise<void>;
}
