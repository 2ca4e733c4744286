/**
 * Keepalive enforcement with the defaults of Go's gRPC server: a client that pings an idle
 * connection more often than every five minutes gets GOAWAY with ENHANCE_YOUR_CALM.
 */
import { constants, type ServerHttp2Session } from 'node:http2';
import type { FleetTime } from './fleet-time.ts';

const MIN_INTERVAL_MS = 5 * 60_000;
/** Without a stream. */
const MIN_INTERVAL_IDLE_MS = 2 * 60 * 60_000;
const STRIKES_MAX = 2;

/** Counts the pings of one connection. */
export interface KeepaliveEnforcement {
  /** The server has sent headers or data, which resets the count. */
  readonly sent: () => void;
  readonly streamOpened: () => void;
  readonly streamClosed: () => void;
}

/** Enforces keepalive on a connection. */
export const enforceKeepalive = (
  session: ServerHttp2Session,
  time: FleetTime,
): KeepaliveEnforcement => {
  let strikes = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let forgiven = false;
  let streams = 0;

  session.on('ping', () => {
    const sinceMs = time.now() - lastAt;
    lastAt = time.now();
    if (forgiven) {
      forgiven = false;
      strikes = 0;
      return;
    }
    if (sinceMs < (streams > 0 ? MIN_INTERVAL_MS : MIN_INTERVAL_IDLE_MS)) strikes += 1;
    if (strikes <= STRIKES_MAX || session.destroyed) return;
    session.goaway(
      constants.NGHTTP2_ENHANCE_YOUR_CALM,
      undefined,
      new TextEncoder().encode('too_many_pings'),
    );
    session.close();
    session.destroy();
  });

  return {
    sent: () => {
      forgiven = true;
    },
    streamOpened: () => {
      streams += 1;
    },
    streamClosed: () => {
      streams -= 1;
    },
  };
};
