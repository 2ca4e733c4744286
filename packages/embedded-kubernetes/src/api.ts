/**
 * Transport-independent requests and responses of the embedded API server.
 *
 * Promises: a request is a parsed HTTP request; every HTTP status is a response, never a rejection.
 * A transport rejects only with `ConnectionCut`, when the connection fails.
 */
import type { JsonRecord } from './values/json.ts';

/** The user name and the groups that a client certificate is for. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** The other end of a connection. */
export interface Peer {
  /** The subject of its certificate, if an authority that the server trusts has issued it. */
  readonly certificate?: CertificateSubject | 'untrusted';
}

/** One request. */
export interface ClusterRequest {
  readonly method: string;
  /** The request target with its query: `/api/v1/namespaces/a/pods?limit=5`. */
  readonly path: string;
  /**
   * Names in lower case. `content-type` selects the body decoder; default JSON. Several values of
   * `impersonate-group`, or of an extra, are lines of one.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Who is connected; absent for calls within the process. */
  readonly peer?: Peer;
  /** Parsed JSON; the bytes of a protobuf body. */
  readonly body?: unknown;
}

/** A complete response. `body` is JSON, or text when it is a string. */
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

/** Receives the lines of a watch; nothing follows `ended` or `cut`. */
export interface WatchReader {
  /** One batch of lines, in order; the initial batch arrives while `open` runs. */
  readonly lines: (lines: readonly ClusterWatchLine[]) => void;
  /** The server closed the stream cleanly. */
  readonly ended: () => void;
  /** The connection broke. */
  readonly cut: () => void;
}

/** An open stream with status 200; it starts when `open` is called. */
export interface ClusterWatch {
  readonly _tag: 'Watch';
  /** Delivers the lines to one reader; returns a function that closes the stream. */
  readonly open: (reader: WatchReader) => () => void;
}

export type ClusterResponse = ClusterAnswer | ClusterWatch;

/** The connection broke before the response arrived, or was never established. */
export class ConnectionCut extends Error {
  /** False when the request certainly did not reach the server, as far as a client can tell. */
  readonly sent: boolean;

  constructor(sent: boolean) {
    super(sent ? 'The connection was cut before the answer came' : 'The connection was refused');
    this.name = 'ConnectionCut';
    this.sent = sent;
  }
}
