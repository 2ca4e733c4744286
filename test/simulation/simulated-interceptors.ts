/**
 * Interceptors of simulated pods: right ones, and some that are silent, crash or lie.
 *
 * Promises: an interceptor acts once it sees its name active, and never before; what it wrote last
 * is kept, so that an invariant can compare it with what is stored.
 */
import { LIFECYCLE_GROUP_VERSION } from '../../src/domain/api-group.ts';
import { textAt } from '../../src/domain/json.ts';
import { rfc3339Seconds, type Time } from '../../src/domain/time.ts';
import type { Cluster } from '../../packages/embedded-kubernetes/src/cluster.ts';
import {
  activeIn,
  isOver,
  reportIn,
  requestPath,
  REQUESTS_RESOURCE,
} from './eviction-request-object.ts';
import { nameOf } from './invariant.ts';
import type { Apply, Ask } from './site-requests.ts';

/** What an interceptor does once it is active. */
export const BEHAVIOURS = [
  /** Reports every minute, and completes after a while. */
  'works',
  /** Deletes the pod, and completes when it is told to. */
  'deletes',
  /** Reports once, and no more. */
  'crashes',
  /** Says that it reported in the future. */
  'lies',
  'silent',
] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

/** The name of an interceptor, from which its behaviour follows. */
export const interceptorName = (behaviour: Behaviour, app: number, place: number): string =>
  `${behaviour}-${app}-${place}.example.com`;

const behaviourOf = (name: string): Behaviour =>
  BEHAVIOURS.find((behaviour) => name.startsWith(`${behaviour}-`)) ?? 'silent';

/** What an interceptor wrote of itself. */
export interface WrittenReport {
  readonly heartbeatTime?: string;
  readonly completionTime?: string;
  readonly message: string;
}

const REACTED_MS = 1500;
const HEARTBEAT_MS = 60_000;
const WORKED_MS = 150_000;
const DELETED_MS = 20_000;
const FUTURE_MS = 3_600_000;

/** The interceptors of a cluster. */
export const simulatedInterceptors = (
  { cluster, time, ask, apply }: {
    readonly cluster: Pick<Cluster, 'store'>;
    readonly time: Time;
    readonly ask: Ask;
    readonly apply: Apply;
  },
) => {
  /** By UID of the request and name. */
  const written = new Map<string, WrittenReport>();
  const begun = new Set<string>();

  const start = (namespace: string, pod: string, interceptor: string): void => {
    const requests = cluster.store.collection(REQUESTS_RESOURCE);
    const current = () => {
      const request = requests.get({ namespace, name: pod });
      const isMine = request !== undefined && !isOver(request) &&
        activeIn(request).includes(interceptor);
      return isMine ? request : undefined;
    };
    const report = (change: Partial<WrittenReport>): void => {
      const request = current();
      if (request === undefined) return;
      const key = `${textAt(request, 'metadata', 'uid') ?? ''} ${interceptor}`;
      const before = written.get(key);
      const next = { message: '', ...before, ...change };
      // Invariants look while it is stored.
      written.set(key, next);
      const { status } = apply(`${requestPath(namespace, pod)}/status`, interceptor, {
        apiVersion: LIFECYCLE_GROUP_VERSION,
        kind: 'EvictionRequest',
        metadata: { name: pod, namespace },
        status: { interceptors: [{ name: interceptor, ...next }] },
      });
      if (status === 200) return;
      if (before === undefined) written.delete(key);
      else written.set(key, before);
    };
    const now = (aheadMs = 0): string => rfc3339Seconds(time.now() + aheadMs);
    const beat = (aheadMs = 0): void => {
      if (current() === undefined) return;
      report({ heartbeatTime: now(aheadMs), message: `working since ${now()}` });
      time.schedule(HEARTBEAT_MS, () => beat(aheadMs));
    };
    const complete = (): void => report({ completionTime: now(), message: 'done' });
    const removePod = (): void => {
      const name = textAt(current(), 'spec', 'target', 'pod', 'name');
      if (name === undefined) return;
      ask('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: pod },
      });
    };
    switch (behaviourOf(interceptor)) {
      case 'works':
        beat();
        time.schedule(WORKED_MS, complete);
        return;
      case 'deletes':
        beat();
        time.schedule(DELETED_MS, removePod);
        time.schedule(DELETED_MS + REACTED_MS, complete);
        return;
      case 'crashes':
        return report({ heartbeatTime: now(), message: 'working' });
      case 'lies':
        return beat(FUTURE_MS);
      case 'silent':
        return;
    }
  };

  cluster.store.subscribe(({ resource, type, at, object }) => {
    if (resource !== REQUESTS_RESOURCE || type === 'DELETED' || isOver(object)) return;
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    for (const name of activeIn(object)) {
      const key = `${uid} ${name}`;
      if (begun.has(key) || reportIn(object, name) === undefined) continue;
      begun.add(key);
      time.schedule(REACTED_MS, () => start(at.namespace, nameOf(object), name));
    }
  });
  return {
    /** What the interceptor of a request wrote last; undefined before. */
    wrote: (uid: string, interceptor: string): WrittenReport | undefined =>
      written.get(`${uid} ${interceptor}`),
  };
};
