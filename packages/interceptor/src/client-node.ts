/**
 * A `KubernetesClient` from a kubeconfig of `@kubernetes/client-node`.
 *
 * Promises: every HTTP status is an answer; a watch ends when its connection does, and when it is
 * aborted. The watch of `@kubernetes/client-node` itself has a fixed timeout and, on Deno, does not
 * notice a lost connection.
 */
import { HttpMethod, RequestContext } from '@kubernetes/client-node';
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
export interface ClusterConfig {
  readonly getCurrentCluster: () => { readonly server: string } | null;
  readonly applySecurityAuthentication: (context: RequestContext) => Promise<void>;
}

/** A request is answered within this time. */
const ANSWER_MS_MAX = 30_000;

interface Connection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher | undefined;
}

const connected = async (config: ClusterConfig, path: string): Promise<Connection> => {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error('The kubeconfig has no current cluster');
  const url = `${cluster.server}${path}`;
  const context = new RequestContext(url, HttpMethod.GET);
  await config.applySecurityAuthentication(context);
  return { url, headers: context.getHeaders(), dispatcher: context.getDispatcher() };
};

/** `Retry-After` in whole seconds. */
const retryAfterOf = (header: string | readonly string[] | undefined) => {
  const seconds = Number(typeof header === 'string' ? header : Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {};
};

const requested = async (
  config: ClusterConfig,
  { method, path, body, contentType = 'application/json', signal, mayLeave }: KubernetesRequest,
): Promise<KubernetesAnswer> => {
  const { url, headers, dispatcher } = await connected(config, path);
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
  config: ClusterConfig,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<WatchLine> {
  const { url, headers, dispatcher } = await connected(config, path);
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
export const clientOf = (config: ClusterConfig): KubernetesClient => ({
  request: (request) => requested(config, request),
  watch: (path, signal) => watched(config, path, signal),
});
