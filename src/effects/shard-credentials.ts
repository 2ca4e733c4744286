/**
 * The transport credentials of one dial to the shard: plaintext or mutual TLS.
 *
 * Promises: TLS 1.3 or newer; the shard's certificate is verified against the dialled host, also
 * when that is an IP address; no connection is made after the end of its dial.
 */
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import { ChannelCredentials } from '@grpc/grpc-js';
import type { KeyPair } from '../domain/credentials.ts';

/** The address and the identity. */
export interface ShardPeer {
  /** `host:port` or a gRPC target (`dns:///host:port`, `ipv4:…`, `ipv6:…`, `unix:…`). */
  readonly address: string;
  /** Mutual TLS with this pair; plaintext without one. */
  readonly pair?: KeyPair;
}

const SCHEME = /^(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?/;

/** The name that gRPC verifies: the host of the first address; `localhost` for a socket file. */
const hostOf = (target: string): string => {
  if (target.startsWith('unix:')) return 'localhost';
  const [first = ''] = target.replace(SCHEME, '').split(',');
  const host = isIP(first) === 0 ? first.replace(/:\d+$/, '') : first;
  return host.startsWith('[') ? host.slice(1, -1) : host;
};

/**
 * An IP address is not a valid server name: Node only warns, Deno refuses. So the handshake names a
 * placeholder, and the certificate is verified against the address itself.
 */
const NAME_OF_ADDRESSES = 'shard.bigfleet.invalid';

/** Options of a channel to `address`. */
export const nameOptions = (
  address: string,
): { readonly 'grpc.ssl_target_name_override'?: string } =>
  isIP(hostOf(address)) === 0 ? {} : { 'grpc.ssl_target_name_override': NAME_OF_ADDRESSES };

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>;

/**
 * Credentials that connect only while `isWanted`. A channel closed after a failure still makes one
 * more attempt after its own backoff; this one is rejected, so that every connection belongs to a
 * dial of the session.
 */
class DialCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #isWanted: () => boolean;

  constructor(inner: ChannelCredentials, isWanted: () => boolean) {
    super();
    this.#inner = inner;
    this.#isWanted = isWanted;
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    ...given: Parameters<ChannelCredentials['_createSecureConnector']>
  ): SecureConnector {
    const connector = this.#inner._createSecureConnector(...given);
    return {
      connect: (socket) => connector.connect(socket),
      waitForReady: () =>
        this.#isWanted()
          ? connector.waitForReady()
          : Promise.reject(new Error('The dial has ended')),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  }
}

const lastingCredentials = ({ address, pair }: ShardPeer): ChannelCredentials => {
  if (pair === undefined) return ChannelCredentials.createInsecure();
  const host = hostOf(address);
  return ChannelCredentials.createFromSecureContext(
    createSecureContext({
      cert: pair.certificate,
      key: pair.key,
      ca: pair.authority,
      minVersion: 'TLSv1.3',
    }),
    { checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate) },
  );
};

/** Credentials for one dial; throws when the pair is invalid. */
export const dialCredentials = (peer: ShardPeer, isWanted: () => boolean): ChannelCredentials =>
  new DialCredentials(lastingCredentials(peer), isWanted);
