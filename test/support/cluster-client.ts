/**
 * The API server of a test bed as a test sees it: plain requests, and what happened to a
 * collection.
 *
 * Promises: shares no code with the operator's own client; a history misses nothing that happened
 * after it was opened, because it watches on from the revision of its own list.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  parseJson,
  textAt,
  valueAt,
} from '../../src/domain/json.ts';
import { eventually } from './eventually.ts';
import type { Testbed } from './testbed.ts';

const GROUP = '/apis/bigfleet.lucy.sh/v1alpha1';

/** Paths of the collections that tests look at. */
export const COLLECTIONS = {
  requests: `${GROUP}/namespaces/default/capacityrequests`,
  upcomingNodes: `${GROUP}/upcomingnodes`,
  capacities: `${GROUP}/availablecapacities`,
  nodes: '/api/v1/nodes',
  events: '/apis/events.k8s.io/v1/events',
} as const;

/** One thing that happened to an object. */
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

/** An answer, whatever its status. */
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
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 };

/** The name of an object. */
export const nameOf = (object: unknown): string => textAt(object, 'metadata', 'name') ?? '';

/** The UID of an object. */
export const uidOf = (object: unknown): string => textAt(object, 'metadata', 'uid') ?? '';

/** `status.phase`; empty before there is one. */
export const phaseOf = (object: unknown): string => textAt(object, 'status', 'phase') ?? '';

/** The phases that an object went through, each once as long as it lasted. */
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

/** What a kubeconfig of the bed says, which is JSON. */
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
export const adminAccess = async (bed: Testbed): Promise<ReturnType<typeof accessIn>> =>
  accessIn(await readFile(bed.kubeconfig, 'utf8'));

const revisionOf = (shown: unknown): string => textAt(shown, 'metadata', 'resourceVersion') ?? '';

const historyOf = (changes: readonly Change[]): History => ({
  changes: () => changes,
  of: (name) => changes.map(({ object }) => object).filter((one) => nameOf(one) === name),
  deleted: () =>
    changes.filter(({ type }) => type === 'DELETED').map(({ object }) => nameOf(object)),
  upTo: async (objects) => {
    await eventually(() => {
      const seen = new Set(changes.map(({ object }) => revisionOf(object)));
      return objects.every((object) => seen.has(revisionOf(object)));
    }, { what: 'the watch to be as far as the list' });
  },
});

/** Connects. Must be called inside a test, with which it ends. */
export const clusterClient = async (bed: Testbed): Promise<ClusterClient> => {
  const { server, authority, token } = await adminAccess(bed);
  const dispatcher = new Agent({ connect: { ca: authority }, ...PATIENT });
  const leaving = new AbortController();
  onTestFinished(async () => {
    leaving.abort();
    await dispatcher.destroy();
  });
  const authorization = `Bearer ${token}`;

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
  const must = async (...asked: Parameters<typeof call>): Promise<JsonRecord> => {
    const { status, body } = await call(...asked);
    if (status >= REFUSED) {
      const why = textAt(body, 'message') ?? '';
      throw new Error(`Cannot ${asked[0]} ${asked[1]}: ${status} ${why}`);
    }
    return body;
  };
  const follow = async (collection: string, revision: string, changes: Change[]): Promise<void> => {
    const query = `?watch=true&resourceVersion=${revision}`;
    const { body } = await request(`${server}${collection}${query}`, {
      dispatcher,
      headers: { authorization },
      signal: leaving.signal,
    });
    for await (const line of linesOf(body)) {
      const change = parseJson(line);
      const object = asRecord(valueAt(change, 'object'));
      if (object !== undefined) changes.push({ type: textAt(change, 'type') ?? '', object });
    }
  };

  return {
    call,
    list: async (collection) =>
      listOrEmptyAt(await must('GET', collection), 'items').map(asRecord)
        .filter((item) => item !== undefined),
    create: async (collection, objects) => {
      for (let from = 0; from < objects.length; from += AT_ONCE) {
        const some = objects.slice(from, from + AT_ONCE);
        await Promise.all(some.map((object) => must('POST', collection, object)));
      }
    },
    clear: async (collection) => {
      await must('DELETE', collection);
    },
    patch: async (path, change) => {
      await must('PATCH', path, change);
    },
    history: async (collection) => {
      const changes: Change[] = [];
      const revision = revisionOf(await must('GET', `${collection}?limit=1`));
      // It breaks off when the test ends, and when the API server does.
      void follow(collection, revision, changes).catch(() => {});
      return historyOf(changes);
    },
  };
};

/** Waits until all objects of a collection are as wanted, `count` of them, and gives them. */
export const untilAll = async (
  client: ClusterClient,
  collection: string,
  wanted: {
    readonly what: string;
    readonly count: number;
    readonly each: (object: JsonRecord) => boolean;
    readonly timeoutMs?: number;
  },
): Promise<readonly JsonRecord[]> => {
  const { what, count, each, timeoutMs } = wanted;
  return await eventually(async () => {
    const objects = await client.list(collection);
    const good = objects.filter(each).length;
    if (objects.length === count && good === count) return objects;
    throw new Error(`there are ${objects.length}, of which ${good} are so`);
  }, { what, everyMs: 250, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
};
