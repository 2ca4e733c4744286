/**
 * A `KubernetesClient` from a kubeconfig of `@kubernetes/client-node`.
 *
 * Promises: every HTTP status is an answer; requests share connections until the certificates
 * change; a watch ends when its connection does, and when it is aborted. The watch of
 * `@kubernetes/client-node` itself has a fixed timeout and, on Deno, does not notice a lost
 * connection.
 */
import type { RequestOptions } from 'node:https';
import { HttpMethod, type KubeConfig, RequestContext } from '@kubernetes/client-node';
import { type Dispatcher, request as send } from 'undici';
import { parseJson, textAt } from './json.ts';
import {
  errorTagOf,
  type KubernetesAnswer,
  type KubernetesClient,
  KubernetesError,
  type KubernetesRequest,
  type WatchLine,
} from './kubernetes-client.ts';

/** What is used of a `KubeConfig`. */
export type ClusterConfig = Pick<
  KubeConfig,
  'applySecurityAuthentication' | 'applyToHTTPSOptions' | 'clusters' | 'getCurrentCluster'
>;

/** A request is answered within this time. */
const ANSWER_MS_MAX = 30_000;

interface Connection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher | undefined;
}

/** How a path of the API server is reached now. */
type Connect = (path: string) => Promise<Connection>;

const headersOf = ({ auth, headers = {} }: RequestOptions): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), `${value}`.trim()]),
  ),
  ...(typeof auth === 'string'
    ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }
    : {}),
});

/** Plain HTTP has no certificate to verify, and client-node requires this flag. */
const permitHttp = (config: ClusterConfig): void => {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster
  );
};

const newDispatcher = async (
  config: ClusterConfig,
  server: string,
): Promise<Dispatcher | undefined> => {
  const context = new RequestContext(server, HttpMethod.GET);
  await config.applySecurityAuthentication(context);
  return context.getDispatcher();
};

/** Client-node makes a dispatcher for each request, and each one connects anew: one is kept. */
const connecting = (config: ClusterConfig): Connect => {
  let kept: { readonly fingerprint: string; readonly dispatcher: Dispatcher | undefined } | null =
    null;
  const dispatcherOf = async (server: string, fingerprint: string) => {
    if (kept?.fingerprint === fingerprint) return kept.dispatcher;
    const dispatcher = await newDispatcher(config, server);
    // Another request may have made it meanwhile.
    if (kept?.fingerprint === fingerprint) return kept.dispatcher;
    // Ends when the requests and watches that use it have ended.
    kept?.dispatcher?.close().catch(() => {});
    kept = { fingerprint, dispatcher };
    return dispatcher;
  };
  return async (path) => {
    permitHttp(config);
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error('The kubeconfig has no current cluster');
    const { server, proxyUrl } = cluster;
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    const identity = [server, proxyUrl, ca, cert, key, servername, rejectUnauthorized];
    const dispatcher = await dispatcherOf(server, JSON.stringify(identity.map(String)));
    return { url: `${server}${path}`, headers: headersOf(options), dispatcher };
  };
};

/** `Retry-After` in whole seconds. */
const retryAfterOf = (header: string | readonly string[] | undefined) => {
  const seconds = Number(typeof header === 'string' ? header : Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {};
};

const requested = async (
  connect: Connect,
  { method, path, body, contentType = 'application/json', signal, mayLeave }: KubernetesRequest,
): Promise<KubernetesAnswer> => {
  const { url, headers, dispatcher } = await connect(path);
  if (mayLeave?.() === false) {
    throw new KubernetesError(
      'Unavailable',
      `Cannot ${method} ${path}: it may not be sent any more`,
    );
  }
  const response = await send(url, {
    method,
    headers: { ...headers, accept: 'application/json', 'content-type': contentType },
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  return {
    status: response.statusCode,
    body: parseJson(await response.body.text()),
    ...retryAfterOf(response.headers['retry-after']),
  };
};

const lineOf = (text: string): WatchLine => {
  const parsed = parseJson(text);
  const type = textAt(parsed, 'type');
  if (type === undefined || typeof parsed !== 'object' || parsed === null) {
    throw new KubernetesError('Unavailable', 'The watch sent a line that is not an event');
  }
  return { type, object: 'object' in parsed ? parsed.object : undefined };
};

async function* watched(
  connect: Connect,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<WatchLine> {
  const { url, headers, dispatcher } = await connect(path);
  const response = await send(url, {
    method: 'GET',
    headers: { ...headers, accept: 'application/json' },
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: 0,
    signal,
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  const { statusCode: status } = response;
  if (status !== 200) {
    const why = textAt(parseJson(await response.body.text()), 'message') ?? `status ${status}`;
    throw new KubernetesError(errorTagOf(status), `Cannot watch ${path.split('?')[0]}: ${why}`, {
      status,
    });
  }
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body) {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield lineOf(line);
  }
}

/** The client for the current context of a kubeconfig. */
export const clientOf = (config: ClusterConfig): KubernetesClient => {
  const connect = connecting(config);
  return {
    request: (request) => requested(connect, request),
    watch: (path, signal) => watched(connect, path, signal),
  };
};
