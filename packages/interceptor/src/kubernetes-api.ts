/**
 * The requests that interceptors make, over a `KubernetesClient`.
 *
 * Promises: what is not done throws a `KubernetesError`; a deletion names the UID that it means.
 */
import { type JsonRecord, listAt, recordAt, textAt } from './json.ts';
import {
  errorTagOf,
  type KubernetesAnswer,
  type KubernetesClient,
  KubernetesError,
  kubernetesError,
  type KubernetesRequest,
} from './kubernetes-client.ts';

/** Objects a page of a list. */
const PAGE = 500;

/** A complete list. */
export interface ObjectList {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
}

const refused = (
  { method, path }: KubernetesRequest,
  { status, body, retryAfterMs = 0 }: KubernetesAnswer,
): KubernetesError => {
  const why = textAt(body, 'message') ?? `the API server answered ${status}`;
  return new KubernetesError(
    errorTagOf(status),
    `Cannot ${method} ${path.split('?')[0]}: ${why}`,
    { status, retryAfterMs },
  );
};

const send = async (client: KubernetesClient, request: KubernetesRequest): Promise<JsonRecord> => {
  let answer: KubernetesAnswer;
  try {
    answer = await client.request(request);
  } catch (cause) {
    throw kubernetesError(cause);
  }
  if (answer.status < 200 || answer.status >= 300) throw refused(request, answer);
  return recordAt({ body: answer.body }, 'body');
};

const withQuery = (path: string, query: Readonly<Record<string, string>>): string =>
  `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`;

const page = (path: string, after: string): string =>
  withQuery(path, { limit: `${PAGE}`, ...(after === '' ? {} : { continue: after }) });

const list = async (client: KubernetesClient, path: string): Promise<ObjectList> => {
  const items: unknown[] = [];
  for (let after = '';;) {
    const body = await send(client, { method: 'GET', path: page(path, after) });
    items.push(...listAt(body, 'items'));
    after = textAt(body, 'metadata', 'continue') ?? '';
    const resourceVersion = textAt(body, 'metadata', 'resourceVersion') ?? '';
    if (after === '') return { items, resourceVersion };
  }
};

/** The requests of interceptors. */
export interface KubernetesApi {
  readonly get: (path: string) => Promise<JsonRecord>;
  /** All pages. */
  readonly list: (path: string) => Promise<ObjectList>;
  readonly create: (path: string, object: object) => Promise<JsonRecord>;
  /** A merge patch; with `metadata.resourceVersion`, of that version alone. */
  readonly patch: (path: string, change: object, fieldManager: string) => Promise<JsonRecord>;
  /** Server-side apply with force, for fields that are the manager's by contract. */
  readonly apply: (path: string, object: object, fieldManager: string) => Promise<JsonRecord>;
  /** Deletes the object with this UID, and its dependents in the background. */
  readonly remove: (path: string, uid: string, options?: RemoveOptions) => Promise<void>;
}

/** How an object is deleted. */
export interface RemoveOptions {
  /** Default: the object's own. */
  readonly gracePeriodSeconds?: number;
  /** Asked right before the request is sent. */
  readonly mayLeave?: () => boolean;
}

/** The requests over a client. */
export const kubernetesApi = (client: KubernetesClient): KubernetesApi => ({
  get: (path) => send(client, { method: 'GET', path }),
  list: (path) => list(client, path),
  create: (path, body) => send(client, { method: 'POST', path, body }),
  patch: (path, body, fieldManager) =>
    send(client, {
      method: 'PATCH',
      path: withQuery(path, { fieldManager }),
      body,
      contentType: 'application/merge-patch+json',
    }),
  apply: (path, body, fieldManager) =>
    send(client, {
      method: 'PATCH',
      path: withQuery(path, { fieldManager, force: 'true' }),
      body,
      contentType: 'application/apply-patch+yaml',
    }),
  remove: async (path, uid, { gracePeriodSeconds, mayLeave } = {}) => {
    await send(client, {
      method: 'DELETE',
      path,
      body: {
        preconditions: { uid },
        propagationPolicy: 'Background',
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      },
      ...(mayLeave === undefined ? {} : { mayLeave }),
    });
  },
});
