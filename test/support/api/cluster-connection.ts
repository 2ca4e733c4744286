/**
 * The API server of a test bed for tests and benches: plain requests, and the history of a
 * collection.
 *
 * Promises: shares no code with the operator's own client; a history misses no change after it was
 * opened, because it watches from the revision of its own list, also after the API server ends the
 * watch.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  parseJson,
  textAt,
  valueAt,
} from '../../../src/domain/json.ts';
import { inBatches } from '../../../tools/testbed/batches.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { eventually, pause } from '../eventually.ts';

const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';

/** Paths of the collections that tests read. */
export const COLLECTIONS = {
  requests: `${GROUP}/namespaces/default/capacityrequests`,
  upcomingNodes: `${GROUP}/upcomingnodes`,
  capacities: `${GROUP}/availablecapacities`,
  nodes: '/api/v1/nodes',
  events: '/apis/events.k8s.io/v1/events',
  pods: '/api/v1/pods',
  budgets: '/apis/policy/v1/poddisruptionbudgets',
} as const;

/** One change of an object. */
export interface Change {
  readonly type: string;
  readonly object: JsonRecord;
}

/** Everything that happened to a collection since it was opened. */
export interface History {
  /** Oldest first; the objects that were there at first are not among them. */
  readonly changes: () => readonly Change[];
  /** The versions of one object, oldest first; the last may be the one that was deleted. */
  readonly of: (name: string) => readonly JsonRecord[];
  readonly deleted: () => readonly string[];
  /** Waits until it has come as far as these objects, which a list gave: a watch may be later. */
  readonly upTo: (objects: readonly JsonRecord[]) => Promise<void>;
}

/** A response of any status. */
export interface Answer {
  readonly status: number;
  readonly body: JsonRecord;
}

/** Requests of the administrator. */
export interface ClusterClient {
  readonly call: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<Answer>;
  /** All objects of a collection. */
  readonly list: (collection: string) => Promise<readonly JsonRecord[]>;
  /** Creates them all, some at once; rejects when one is refused. */
  readonly create: (collection: string, objects: readonly unknown[]) => Promise<void>;
  /** Deletes the whole collection. */
  readonly clear: (collection: string) => Promise<void>;
  /** Merge-patches one object. */
  readonly patch: (path: string, change: unknown) => Promise<void>;
  readonly history: (collection: string) => Promise<History>;
}

const AT_ONCE = 16;
const REFUSED = 300;
const GONE = 410;
/** Delay before an ended watch is reopened. */
const AGAIN_MS = 100;
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 };
const CONNECT_MS = 120_000;

/** The name of an object. */
export const nameOf = (object: unknown): string => textAt(object, 'metadata', 'name') ?? '';

/** The UID of an object. */
export const uidOf = (object: unknown): string => textAt(object, 'metadata', 'uid') ?? '';

/** `status.phase`; empty before there is one. */
export const phaseOf = (object: unknown): string => textAt(object, 'status', 'phase') ?? '';

/** True for an UpcomingNode that is Ready, with its Node. */
export const isJoined = (upcoming: unknown): boolean =>
  phaseOf(upcoming) === 'Ready' && textAt(upcoming, 'status', 'nodeRef', 'uid') !== undefined;

/** The phases of an object, consecutive duplicates removed. */
export const phasesIn = (versions: readonly JsonRecord[]): readonly string[] =>
  versions.map(phaseOf).filter((phase, at, all) => phase !== '' && phase !== all[at - 1]);

const linesOf = async function* (chunks: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines =
      (rest + (chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : ''))
        .split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
};

/** A kubeconfig of the bed, which is JSON. */
const accessIn = (kubeconfig: string) => {
  const config = parseJson(kubeconfig);
  const cluster = listOrEmptyAt(config, 'clusters')[0];
  const user = listOrEmptyAt(config, 'users')[0];
  const authority = textAt(cluster, 'cluster', 'certificate-authority-data') ?? '';
  return {
    server: textAt(cluster, 'cluster', 'server') ?? '',
    authority: Buffer.from(authority, 'base64').toString(),
    token: textAt(user, 'user', 'token') ?? '',
  };
};

/** How the administrator of a bed gets in. */
export const adminAccess = async (
  bed: Pick<Testbed, 'kubeconfig'>,
): Promise<ReturnType<typeof accessIn>> => accessIn(await readFile(bed.kubeconfig, 'utf8'));

const resourceVersionOf = (object: unknown): string =>
  textAt(object, 'metadata', 'resourceVersion') ?? '';

const historyOf = (changes: readonly Change[]): History => ({
  changes: () => changes,
  of: (name) => changes.map(({ object }) => object).filter((one) => nameOf(one) === name),
  deleted: () =>
    changes.filter(({ type }) => type === 'DELETED').map(({ object }) => nameOf(object)),
  upTo: async (objects) => {
    await eventually(() => {
      const seen = new Set(changes.map(({ object }) => resourceVersionOf(object)));
      return objects.every((object) => seen.has(resourceVersionOf(object)));
    }, { what: 'the watch to be as far as the list' });
  },
});

/** An administrator's connection, which the caller must close. */
export interface ClusterConnection {
  readonly client: ClusterClient;
  readonly close: () => Promise<void>;
}

type Must = (...asked: Parameters<ClusterClient['call']>) => Promise<JsonRecord>;

/** Where watches start. */
interface WatchSource {
  readonly server: string;
  readonly authorization: string;
  readonly dispatcher: Agent;
  readonly signal: AbortSignal;
}

/** Runs one watch to its end; returns the last revision, or nothing when it expired. */
const watchOnce = async (
  { server, authorization, dispatcher, signal }: WatchSource,
  path: string,
  emit: (change: Change) => void,
): Promise<'ended' | 'tooOld'> => {
  const { body, statusCode } = await request(`${server}${path}`, {
    dispatcher,
    headers: { authorization },
    signal,
  });
  if (statusCode === GONE) return 'tooOld';
  if (statusCode >= REFUSED) throw new Error(`HTTP ${statusCode}`);
  for await (const line of linesOf(body)) {
    const change = parseJson(line);
    const object = asRecord(valueAt(change, 'object'));
    const type = textAt(change, 'type') ?? '';
    if (type === 'ERROR') return 'tooOld';
    if (object !== undefined) emit({ type, object });
  }
  return 'ended';
};

/** Watches until stopped; ends when the revision has expired. */
const follow = async (
  source: WatchSource,
  { collection, from }: { readonly collection: string; readonly from: string },
  changes: Change[],
): Promise<void> => {
  let resourceVersion = from;
  const emit = (change: Change): void => {
    resourceVersion = resourceVersionOf(change.object);
    if (change.type !== 'BOOKMARK') changes.push(change);
  };
  while (!source.signal.aborted) {
    const query = `?watch=true&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
    const ended = await watchOnce(source, `${collection}${query}`, emit).catch(() => 'failed');
    if (ended === 'tooOld' || source.signal.aborted) return;
    await pause(AGAIN_MS);
  }
};

const clientOf = (
  call: ClusterClient['call'],
  must: Must,
  followFromNow: (collection: string, changes: Change[]) => Promise<void>,
): ClusterClient => ({
  call,
  list: async (collection) =>
    listOrEmptyAt(await must('GET', collection), 'items').map(asRecord)
      .filter((item) => item !== undefined),
  create: async (collection, objects) => {
    await inBatches(objects, AT_ONCE, (object) => must('POST', collection, object));
  },
  clear: async (collection) => {
    await must('DELETE', collection);
  },
  patch: async (path, change) => {
    await must('PATCH', path, change);
  },
  history: async (collection) => {
    const changes: Change[] = [];
    await followFromNow(collection, changes);
    return historyOf(changes);
  },
});

/** Connects as the administrator. */
export const connectCluster = async (
  bed: Pick<Testbed, 'kubeconfig'>,
): Promise<ClusterConnection> => {
  const { server, authority, token } = await adminAccess(bed);
  const dispatcher = new Agent({ connect: { ca: authority, timeout: CONNECT_MS }, ...PATIENT });
  const leaving = new AbortController();
  const authorization = `Bearer ${token}`;
  const source = { server, authorization, dispatcher, signal: leaving.signal };

  const call: ClusterClient['call'] = async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await request(`${server}${path}`, {
      method,
      dispatcher,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: asRecord(parseJson(text)) ?? { message: text } };
  };
  const must: Must = async (...asked) => {
    const { status, body } = await call(...asked);
    if (status >= REFUSED) {
      const why = textAt(body, 'message') ?? '';
      throw new Error(`Cannot ${asked[0]} ${asked[1]}: ${status} ${why}`);
    }
    return body;
  };
  return {
    client: clientOf(call, must, async (collection, changes) => {
      const from = resourceVersionOf(await must('GET', `${collection}?limit=1`));
      void follow(source, { collection, from }, changes);
    }),
    close: async () => {
      leaving.abort();
      await dispatcher.destroy();
    },
  };
};
