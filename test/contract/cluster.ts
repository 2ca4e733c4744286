/**
 * What the contract suite asks of a cluster, whether it is real or embedded.
 *
 * Promises: nothing here knows which one it is; an answer is what a client would read, status and
 * parsed body, and a watch is the list of what came before it ended or was let go.
 */
import type { JsonRecord } from '../../src/domain/json.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. `path` has its query; `body` is sent as it is when it is text. */
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
  /** What came so far, oldest first. */
  readonly lines: readonly WatchLine[];
  readonly isOver: () => boolean;
  readonly close: () => void;
}

/** A cluster to be held to the contract. */
export interface ContractCluster {
  readonly request: (question: Question) => Promise<Answer>;
  readonly watch: (path: string) => Promise<OpenWatch>;
  /** Lets a moment pass: its controllers get on, its watches deliver. */
  readonly moment: () => Promise<void>;
  /** Makes every older revision 410 Gone. */
  readonly compactHistory: () => Promise<void>;
}
