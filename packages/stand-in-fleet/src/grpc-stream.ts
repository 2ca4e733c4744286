/**
 * One server-side gRPC call over an HTTP/2 stream: frames in, frames out, one status.
 *
 * Implemented on `node:http2` instead of the operator's client library, so that the operator meets
 * an independent implementation that enforces keepalive like Go's and can send any frame.
 */
import { constants, type ServerHttp2Stream } from 'node:http2';
import { STATUS, type Status } from './session.ts';

/** Maximum frame size in both directions (MSG-04). */
export const FRAME_BYTES_MAX = 256 * 1024 * 1024;

const PREFIX_BYTES = 5;
/** Unread bytes after which a reader counts as stalled. */
const BACKLOG_BYTES_MAX = 4 * 1024 * 1024;

/** Callbacks of a call. */
export interface CallEvents {
  readonly frame: (frame: Uint8Array) => void;
  /** The client has half-closed the stream. */
  readonly halfClosed: () => void;
  /** The call has ended, in whatever way. */
  readonly closed: () => void;
}

/** For calls that end before anything arrives. */
export const NO_EVENTS: CallEvents = { frame: () => {}, halfClosed: () => {}, closed: () => {} };

/** The server's end of a call. */
export interface GrpcStream {
  readonly send: (frame: Uint8Array) => void;
  readonly end: (status: Status, message: string) => void;
  readonly backlogged: () => boolean;
}

/** Splits incoming data into frames; returns a status for malformed data. */
const deframer = (frame: (bytes: Uint8Array) => void) => {
  let pending: Buffer[] = [];
  let length = 0;

  /** The first `count` bytes of what is pending, joined. */
  const joined = (count: number): Buffer => {
    const first = pending[0];
    if (first !== undefined && first.length >= count) return first;
    const all = Buffer.concat(pending);
    pending = [all];
    return all;
  };

  return (chunk: Buffer): Status | undefined => {
    pending.push(chunk);
    length += chunk.length;
    while (length >= PREFIX_BYTES) {
      const head = joined(PREFIX_BYTES);
      const size = head.readUInt32BE(1);
      if (head.readUInt8(0) !== 0) return STATUS.UNIMPLEMENTED;
      if (size > FRAME_BYTES_MAX) return STATUS.RESOURCE_EXHAUSTED;
      const whole = PREFIX_BYTES + size;
      if (length < whole) return undefined;
      const buffer = joined(whole);
      pending[0] = buffer.subarray(whole);
      length -= whole;
      frame(buffer.subarray(PREFIX_BYTES, whole));
    }
    return undefined;
  };
};

const trailersOf = (status: Status, message: string): Record<string, string> => ({
  'grpc-status': String(status),
  ...(message === '' ? {} : { 'grpc-message': encodeURIComponent(message) }),
});

const HEADERS = {
  [constants.HTTP2_HEADER_STATUS]: 200,
  [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc+proto',
};

/**
 * Serves a call: `serve` receives the server's end and returns the callbacks; `sent` is called with
 * every outgoing frame.
 */
export const serveCall = (
  stream: ServerHttp2Stream,
  sent: () => void,
  serve: (call: GrpcStream) => CallEvents,
): void => {
  let ended = false;

  const end = (status: Status, message: string): void => {
    if (ended || stream.destroyed) return;
    ended = true;
    sent();
    const trailers = trailersOf(status, message);
    if (!stream.headersSent) {
      stream.respond({ ...HEADERS, ...trailers }, { endStream: true });
      stream.close(constants.NGHTTP2_NO_ERROR);
      return;
    }
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end();
  };

  const events = serve({
    send: (frame) => {
      if (ended || stream.destroyed) return;
      sent();
      if (!stream.headersSent) stream.respond(HEADERS, { waitForTrailers: true });
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(frame.length, 1);
      stream.cork();
      stream.write(prefix);
      stream.write(frame);
      stream.uncork();
    },
    end,
    backlogged: () => !stream.destroyed && stream.writableLength > BACKLOG_BYTES_MAX,
  });

  const take = deframer((frame) => {
    if (!ended) events.frame(frame);
  });
  stream.on('data', (chunk: Buffer) => {
    const trouble = take(chunk);
    if (trouble !== undefined) end(trouble, 'The frame is compressed or too large');
  });
  stream.on('end', events.halfClosed);
  stream.on('close', events.closed);
  // A broken stream also closes, and the close is reported.
  stream.on('error', () => {});
};
