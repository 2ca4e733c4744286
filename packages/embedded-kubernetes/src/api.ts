/**
 * What goes into the embedded API server and what comes out, whatever carries it.
 *
 * Promises: a request is what a socket would carry, parsed; an HTTP status is an answer and never a
 * failure. A carrier fails only as a connection does: `ConnectionCut`.
 */
import type { JsonRecord } from './values/json.ts';

/** One request. */
export interface ClusterRequest {
  readonly method: string;
  /** As on the wire, query included: `/api/v1/namespaces/a/pods?limit=5`. */
  readonly path: string;
  /** Names in lower case. A `content-type` decides how a body is read; default JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  readonly body?: unknown;
}

/** A whole answer. `body` is JSON, or text when it is a string. */
export interface ClusterAnswer {
  readonly _tag: 'Answer';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** One line of a watch. */
export interface ClusterWatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JsonRecord;
}

/** Where the lines of a watch go; after `ended` or `cut` nothing comes any more. */
export interface WatchReader {
  /** What came together, in order; what is there at the beginning comes while `open` runs. */
  readonly lines: (lines: readonly ClusterWatchLine[]) => void;
  /** The server closed the stream in good order. */
  readonly ended: () => void;
  /** The connection broke. */
  readonly cut: () => void;
}

/** An open stream with status 200; it begins when somebody reads it. */
export interface ClusterWatch {
  readonly _tag: 'Watch';
  /** Gives the lines to one reader; returns what closes the stream from the client's side. */
  readonly open: (reader: WatchReader) => () => void;
}

export type ClusterResponse = ClusterAnswer | ClusterWatch;

/** The connection broke before the answer came, or was never made. */
export class ConnectionCut extends Error {
  /** False when nothing reached the server for certain, as a client can tell. */
  readonly sent: boolean;

  constructor(sent: boolean) {
    super(sent ? 'The connection was cut before the answer came' : 'The connection was refused');
    this.name = 'ConnectionCut';
    this.sent = sent;
  }
}
