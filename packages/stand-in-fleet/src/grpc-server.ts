/**
 * Serves `Shard.Session` and `ShardRead.InspectNeeds` over gRPC.
 *
 * Promises: plaintext without a key pair; with one, TLS 1.3 and a client certificate from the given
 * CA, whose cluster identities the session checks; frames up to 256 MiB in both directions;
 * keepalive enforcement as strict as Go's. Runs on Node: Deno's TLS server does not request client
 * certificates.
 */
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
} from 'node:http2';
import { TLSSocket } from 'node:tls';
import { Shard as ShardService, ShardRead } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import type { FleetTime } from './fleet-time.ts';
import {
  type CallEvents,
  FRAME_BYTES_MAX,
  type GrpcStream,
  NO_EVENTS,
  serveCall,
} from './grpc-stream.ts';
import { inspectNeedsFrames } from './needs-view.ts';
import { enforceKeepalive, type KeepaliveEnforcement } from './keepalive-enforcement.ts';
import type { Script } from './script.ts';
import { type Peer, STATUS } from './session.ts';
import { type BoundAddress, listenOn } from './sockets.ts';

/** PEM key pair and CA of a server with mTLS. */
export interface FleetTls {
  readonly cert: string;
  readonly key: string;
  /** The CA of client certificates. */
  readonly ca: string;
}

/** A listening server. */
export interface GrpcServer {
  readonly address: BoundAddress;
  readonly stop: () => Promise<void>;
}

const SESSION_PATH = `/${ShardService.typeName}/Session`;
const INSPECT_PATH = `/${ShardRead.typeName}/InspectNeeds`;
/** Flow control must not limit a large roll-up. */
const WINDOW_BYTES = 16 * 1024 * 1024;
const FLEET_SAN = 'URI:bigfleet://';

/**
 * The entries of a `subjectAltName` as Node prints it; entries with special characters are quoted.
 */
const subjectAltNames = (text: string): readonly string[] =>
  (text.match(/(?:[^,"]|"(?:\\.|[^"\\])*")+/g) ?? []).map((entry) => {
    const [kind = '', ...rest] = entry.trim().split(':');
    const value = rest.join(':');
    return `${kind}:${value.startsWith('"') ? JSON.parse(value) : value}`;
  });

/** The `bigfleet://…` URIs of a certificate, whatever they name: the shard takes exactly one. */
export const fleetIdentities = (subjectAltName: string): readonly string[] =>
  subjectAltNames(subjectAltName)
    .filter((name) => name.startsWith(FLEET_SAN))
    .map((name) => name.slice('URI:'.length));

const peerOf = ({ socket }: ServerHttp2Session): Peer => {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return {
    address: `${socket.remoteAddress}:${socket.remotePort}`,
    certified: socket instanceof TLSSocket
      ? fleetIdentities(certificate?.subjectAltName ?? '')
      : undefined,
  };
};

/** A connection and its identities. */
interface Connection {
  readonly session: ServerHttp2Session;
  readonly keepalive: KeepaliveEnforcement;
}

const serveSession = (script: Script, { session }: Connection) => (call: GrpcStream) => {
  if (script.admission.refuse) {
    call.end(STATUS.UNAVAILABLE, 'The shard takes no sessions now');
    return NO_EVENTS;
  }
  const inbound = script.shard.connect({
    send: call.send,
    end: call.end,
    cut: () => session.destroy(),
    congested: call.backlogged,
  }, peerOf(session));
  const closed = (): void => inbound.closed();
  return {
    frame: (frame: Uint8Array) => inbound.receive(frame),
    halfClosed: closed,
    closed,
  };
};

const serveInspection = ({ shard }: Script) => (call: GrpcStream): CallEvents => {
  let request: Uint8Array = new Uint8Array();
  return {
    ...NO_EVENTS,
    frame: (frame) => {
      request = frame;
    },
    halfClosed: () => {
      const frames = inspectNeedsFrames(shard, request);
      for (const frame of frames ?? []) call.send(frame);
      if (frames === undefined) call.end(STATUS.INTERNAL, 'The request is no message');
      else call.end(STATUS.OK, '');
    },
  };
};

const refuse = (path: string) => (call: GrpcStream): CallEvents => {
  call.end(STATUS.UNIMPLEMENTED, `Unknown method "${path}"`);
  return NO_EVENTS;
};

const serverOf = (script: Script, path: string, from: Connection) => {
  if (path === SESSION_PATH) return serveSession(script, from);
  return path === INSPECT_PATH ? serveInspection(script) : refuse(path);
};

const makeServer = (tls: FleetTls | undefined): Http2Server | Http2SecureServer => {
  const settings = { initialWindowSize: WINDOW_BYTES };
  const maxSessionMemory = (2 * FRAME_BYTES_MAX) / (1000 * 1000);
  return tls === undefined ? createServer({ settings, maxSessionMemory }) : createSecureServer({
    ...tls,
    settings,
    maxSessionMemory,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
  });
};

/** Listening options. */
export interface GrpcServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: FleetTls | undefined;
  readonly time: FleetTime;
}

/** Serves a fleet; resolves when it listens. */
export const serveGrpc = async (
  script: Script,
  { host, port, tls, time }: GrpcServerOptions,
): Promise<GrpcServer> => {
  const server = makeServer(tls);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.setLocalWindowSize(WINDOW_BYTES);
    const from = { session, keepalive: enforceKeepalive(session, time) };
    session.on('stream', (stream, headers) => {
      from.keepalive.streamOpened();
      stream.once('close', from.keepalive.streamClosed);
      serveCall(stream, from.keepalive.sent, serverOf(script, headers[':path'] ?? '', from));
    });
    session.on('close', () => sessions.delete(session));
    // A broken connection also closes, and its streams report that.
    session.on('error', () => {});
  });
  const { address, close } = await listenOn(server, { host, port });
  return {
    address,
    stop: () => {
      const closed = close();
      for (const session of sessions) session.destroy();
      return closed;
    },
  };
};
