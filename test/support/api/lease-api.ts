/**
 * One Lease in memory, as each of several candidates reaches it: with optimistic concurrency, a
 * watch, and for each candidate its own cuts.
 */
import { Effect } from 'effect';
import { asRecord, textAt, valueAt } from '../../../src/domain/json.ts';
import {
  AnswerLost,
  KubeApi,
  type KubeCall,
  NotSent,
  type WatchLine,
} from '../../../src/effects/kube-api.ts';

/** The fate of a candidate's requests. */
export type Weather =
  | 'fair'
  /** Requests work, but no watch can be opened. */
  | 'deaf'
  /** Nothing gets through. */
  | 'unreachable'
  /** Applies requests but loses the answers. */
  | 'answers lost'
  /** Answers take a second. */
  | 'slow'
  /** Requests hang until their time is over. */
  | 'hanging'
  /** Refuses requests with a long Retry-After. */
  | 'throttled'
  /** The client itself is wrong: requests are defects. */
  | 'broken';

/** A candidate's way to the server. */
export interface LeaseClient {
  readonly service: KubeApi['Service'];
  /** Changes what its requests meet; `watchToo` cuts its watch as well. */
  readonly meets: (weather: Weather, watchToo?: boolean) => void;
  readonly requests: string[];
}

/** The server. */
export interface LeaseApi {
  readonly client: () => LeaseClient;
  readonly holder: () => string;
  readonly spec: () => unknown;
  /** Writes the Lease as another client. */
  readonly overwrite: (spec: Readonly<Record<string, unknown>>) => void;
  readonly remove: () => void;
  /** Whether anybody may create the Lease; at first everybody may. */
  readonly permitCreation: (isPermitted: boolean) => void;
}

interface Watcher {
  readonly push: (line: WatchLine) => void;
  readonly cut: () => void;
}

const makeWatcher = () => {
  const lines: WatchLine[] = [];
  let cut = false;
  let resume = (): void => {};
  async function* read(): AsyncGenerator<readonly WatchLine[]> {
    while (true) {
      const batch = lines.splice(0);
      if (cut) throw new Error('cut');
      if (batch.length > 0) yield batch;
      else await new Promise<void>((resolve) => resume = resolve);
    }
  }
  const watcher: Watcher = {
    push: (line) => {
      lines.push(line);
      resume();
    },
    cut: () => {
      cut = true;
      resume();
    },
  };
  return { watcher, read };
};

/** A server without a Lease. */
export const leaseApi = (): LeaseApi => {
  let resourceVersion = 1;
  let mayCreate = true;
  let lease: Readonly<Record<string, unknown>> | undefined;
  const watchers = new Set<Watcher>();
  const store = (type: string, spec: unknown): Readonly<Record<string, unknown>> => {
    resourceVersion += 1;
    const metadata = {
      name: 'l',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: `${resourceVersion}`,
    };
    lease = { metadata, spec };
    for (const watcher of watchers) watcher.push({ type, object: lease });
    return lease;
  };
  const answer = ({ method, path, body }: KubeCall) => {
    if (method === 'GET' && path.endsWith('/leases')) {
      const items = lease === undefined ? [] : [lease];
      return { status: 200, body: { metadata: { resourceVersion: `${resourceVersion}` }, items } };
    }
    if (method === 'POST' && !mayCreate) {
      return { status: 403, body: { message: 'leases is forbidden' } };
    }
    if (method === 'POST') {
      return lease === undefined
        ? { status: 201, body: store('ADDED', valueAt(body, 'spec')) }
        : { status: 409, body: {} };
    }
    if (lease === undefined) return { status: 404, body: {} };
    if (method === 'GET') return { status: 200, body: lease };
    const wanted = textAt(body, 'metadata', 'resourceVersion');
    if (wanted !== textAt(lease, 'metadata', 'resourceVersion')) return { status: 409, body: {} };
    const spec = { ...asRecord(lease['spec']), ...asRecord(valueAt(body, 'spec')) };
    return { status: 200, body: store('MODIFIED', spec) };
  };

  const client = (): LeaseClient => {
    let weather: Weather = 'fair';
    const own = new Set<Watcher>();
    const requests: string[] = [];
    const call: KubeApi['Service']['call'] = (request) =>
      Effect.gen(function* () {
        requests.push(request.method);
        if (weather === 'unreachable') return yield* new NotSent({ why: 'unreachable' });
        if (weather === 'throttled') return { status: 429, body: {}, retryAfterSeconds: 3600 };
        if (weather === 'broken') return yield* Effect.die(new Error('planted'));
        if (weather === 'hanging') {
          yield* Effect.sleep(request.timeoutMs ?? 30_000);
          return yield* new AnswerLost({ why: 'no answer in time' });
        }
        if (weather === 'slow') yield* Effect.sleep(1000);
        const answered = answer(request);
        if (weather === 'answers lost') return yield* new AnswerLost({ why: 'lost' });
        return structuredClone(answered);
      });
    const watch: KubeApi['Service']['watch'] = () =>
      Effect.gen(function* () {
        if (weather !== 'fair') return yield* new NotSent({ why: 'unreachable' });
        const { watcher, read } = makeWatcher();
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            own.add(watcher);
            watchers.add(watcher);
          }),
          () =>
            Effect.sync(() => {
              own.delete(watcher);
              watchers.delete(watcher);
              watcher.cut();
            }),
        );
        return read();
      });
    return {
      service: { call, watch },
      requests,
      meets: (next, watchToo = true) => {
        weather = next;
        if (watchToo && next !== 'fair') { for (const watcher of own) watcher.cut(); }
      },
    };
  };

  return {
    client,
    holder: () => textAt(lease, 'spec', 'holderIdentity') ?? '',
    spec: () => lease?.['spec'],
    overwrite: (spec) => void store('MODIFIED', spec),
    permitCreation: (isPermitted) => {
      mayCreate = isPermitted;
    },
    remove: () => {
      if (lease === undefined) return;
      store('DELETED', lease['spec']);
      lease = undefined;
    },
  };
};
