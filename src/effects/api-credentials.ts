/** Who this process is to the API server: an address, TLS and headers, wherever they come from. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { Data } from 'effect';

/** The source of the kubeconfig, and its context (default: the current one). */
export type KubeconfigSource =
  | { readonly _tag: 'File'; readonly path: string; readonly context?: string }
  | { readonly _tag: 'InCluster' }
  /** `KUBECONFIG`, then `~/.kube/config`, then the pod's service account. */
  | { readonly _tag: 'Default'; readonly context?: string };

/** No usable kubeconfig: a person must act. */
export class KubeconfigUnusable extends Data.TaggedError('KubeconfigUnusable')<{
  readonly why: string;
}> {
  override get message(): string {
    return `Cannot use the kubeconfig: ${this.why}`;
  }
}

/** The TLS inputs; buffers as read. */
export interface TlsMaterial {
  readonly ca?: RequestOptions['ca'];
  readonly cert?: RequestOptions['cert'];
  readonly key?: RequestOptions['key'];
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** A server address and the credentials for it. */
export interface ApiCredentials {
  readonly server: URL;
  readonly proxy: string | undefined;
  readonly tls: TlsMaterial;
  readonly headers: Readonly<Record<string, string>>;
}

/** An error in one line. */
export const sentenceOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause instanceof AggregateError ? cause.errors.map(sentenceOf).join('; ') : '';
  return cause.message !== '' ? cause.message : inner !== '' ? inner : cause.name;
};

/** Throws in the middle of a rotation: one file is new and the other is not yet. */
export const assertPair = ({ cert, key }: RequestOptions): void => {
  if (!Buffer.isBuffer(cert) || !Buffer.isBuffer(key)) return;
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new KubeconfigUnusable({ why: 'the client certificate does not match its key' });
  }
};

const printed = (material: unknown): string =>
  Buffer.isBuffer(material) ? material.toString('base64') : JSON.stringify(material ?? null);

/** Equal texts mean that open connections may be kept. */
export const tlsFingerprint = ({ server, proxy, tls }: ApiCredentials): string =>
  [
    server.origin,
    proxy ?? '',
    printed(tls.ca),
    printed(tls.cert),
    printed(tls.key),
    tls.servername ?? '',
    String(tls.rejectUnauthorized),
  ].join('\n');
