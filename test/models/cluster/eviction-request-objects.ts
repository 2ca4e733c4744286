/** EvictionRequests of the drawing as objects of a cluster. */
import {
  CONTROLLER_MANAGER,
  type InterceptorReport,
  type ObservedRequest,
  projectEvictionRequest,
} from '../../../src/domain/eviction-requests/observed-request.ts';
import { statusBody } from '../../../src/domain/eviction-requests/request-writes.ts';
import {
  requesterManager,
  wantedBody,
  withdrawnBody,
} from '../../../src/domain/eviction-requests/requester.ts';
import { type JsonRecord, recordAt, textAt } from '../../../src/domain/json.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import { rfc3339Seconds } from '../../../src/domain/time.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import type { Moment, SessionEnvironment } from './cluster-harness.ts';
import { objectFixture } from './object-fixture.ts';
import { observeCollection, type ObservedCollection } from './observed-collection.ts';
import type { Hand } from './site.ts';

const GROUP = 'lifecycle.tidegate.dev';
const FOUND = 200;
const TYPE = { apiVersion: `${GROUP}/v1alpha1`, kind: 'EvictionRequest' };

const timeOf = (field: string, ms: number | null) =>
  ms === null ? {} : { [field]: rfc3339Seconds(ms) };

const isReported = ({ heartbeatMs, completionMs, message }: InterceptorReport): boolean =>
  heartbeatMs !== null || completionMs !== null || message !== '';

const reportBody = ({ name, heartbeatMs, completionMs, message }: InterceptorReport) => ({
  name,
  message,
  ...timeOf('heartbeatTime', heartbeatMs),
  ...timeOf('completionTime', completionMs),
});

/** All that a step or an act depends on, besides identities and what a cluster counts. */
export const contentOf = (
  { requesters, labels, status, reports }: Pick<
    ObservedRequest,
    'requesters' | 'labels' | 'status' | 'reports'
  >,
): string =>
  JSON.stringify([
    requesters.toSorted(),
    Object.entries(labels).toSorted(),
    [status.targets, status.active, status.processed],
    status.conditions,
    reports,
  ]);

/** What a server answers to a write of a request. */
export type Outcome = WriteOutcome<ObservedRequest>;

const ANSWER = /^xstate\.done\.actor\.\w+$/;

/** The outcome that a step brings. */
export const outcomeIn = ({ event }: Moment): Outcome | undefined =>
  ANSWER.test(event.type) ? event['output'] as Outcome : undefined;

/** The request that a step shows. */
export const observing = ({ event }: Moment): ObservedRequest | undefined =>
  event.type === 'request.observed' ? event['request'] as ObservedRequest : undefined;

/** Why no cluster shows the request so, after it was `current`. */
export const hindranceOfVersion = (
  current: ObservedRequest,
  seen: ObservedRequest,
): string | undefined => {
  if (isOlder(seen.resourceVersion, current.resourceVersion)) {
    return 'a cluster does not send stale objects';
  }
  return current.requesters.length === 0 && seen.requesters.length > 0
    ? 'a request without requesters gets none any more'
    : undefined;
};

type Collection = ObservedCollection<ObservedRequest>;

/** Who asked first and left again, of a request that is made without requesters. */
const FORMER_REQUESTER = 'former.requesters.example.com';

/** Who is in a request that may not exist. */
const requestersIn = (raw: unknown): readonly string[] =>
  projectEvictionRequest(raw)?.requesters ?? [];

/** Gives the request its requesters, each of which applies its own entry. */
const applyEntries = async (
  hand: Hand,
  at: string,
  { namespace, pod, requesters }: ObservedRequest,
): Promise<void> => {
  const target = { namespace, ...pod };
  const { status, body } = await hand.call('GET', at);
  const isThere = status === FOUND;
  const before = isThere ? requestersIn(body) : [];
  let made: JsonRecord = body;
  const entering = isThere || requesters.length > 0 ? requesters : [FORMER_REQUESTER];
  for (const name of entering.filter((one) => !before.includes(one))) {
    made = await hand.apply(at, wantedBody(target, name), requesterManager(name));
  }
  const uid = textAt(made, 'metadata', 'uid') ?? '';
  for (const name of requestersIn(made).filter((one) => !requesters.includes(one))) {
    await hand.apply(at, withdrawnBody(target, uid), requesterManager(name));
  }
};

/** The status as the controller would have written it at the generation of the cluster. */
const statusAt = (
  { status, generation }: ObservedRequest,
  live: ObservedRequest,
): ObservedRequest['status'] => ({
  ...status,
  observedGeneration: status.observedGeneration < generation
    ? status.observedGeneration
    : live.generation,
});

/** Gives the request its status, each part as the field manager that owns it. */
const applyStatus = async (
  hand: Hand,
  at: string,
  { request, live }: { readonly request: ObservedRequest; readonly live: ObservedRequest },
): Promise<void> => {
  const { name, namespace, status, reports } = request;
  if (status.targets.length === 0) return;
  const identified = { ...TYPE, metadata: { name, namespace } };
  const body = statusBody(request, statusAt(request, live));
  const controlled = recordAt({ body }, 'body', 'status');
  await hand.apply(`${at}/status`, { ...identified, status: controlled }, CONTROLLER_MANAGER);
  for (const report of reports.filter(isReported)) {
    const interceptors = [reportBody(report)];
    await hand.apply(`${at}/status`, { ...identified, status: { interceptors } }, report.name);
  }
};

/** Begins the deletion of the request, which a finalizer holds up. */
const beginDeletion = async (hand: Hand, at: string): Promise<void> => {
  await hand.must('PATCH', at, { metadata: { finalizers: ['requests.example.com/held'] } });
  await hand.must('DELETE', at);
};

/** The request as the watch shows it when it has reached the version of the API server. */
const watched = async (
  hand: Hand,
  at: string,
  collection: Collection,
): Promise<ObservedRequest> => {
  const made = projectEvictionRequest(await hand.must('GET', at));
  return await collection.until(() => {
    const seen = made === undefined ? undefined : collection.get(made.key);
    return seen?.resourceVersion === made?.resourceVersion ? seen : undefined;
  });
};

/** The EvictionRequests of the namespace of the drawing, which it makes. */
export const openRequests = async (
  { hand, source }: SessionEnvironment,
  namespace: string,
) => {
  await hand.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const path = `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/evictionrequests`;
  const { environment, dispose } = liveEnvironment(source);
  const collection = await observeCollection(environment, path, projectEvictionRequest);
  const fixtureOf = (name: string) => objectFixture(hand, collection, { ...TYPE, path, name });
  return {
    /** Writes the request, each part as the field manager that owns it; `anew` even if it is so. */
    put: async (request: ObservedRequest, how: { readonly anew: boolean }) => {
      const { name, labels, deleting } = request;
      const at = `${path}/${name}`;
      await applyEntries(hand, at, request);
      const live = await fixtureOf(name).put({ metadata: { labels } }, how);
      await applyStatus(hand, at, { request, live });
      if (deleting && !live.deleting) await beginDeletion(hand, at);
      return await watched(hand, at, collection);
    },
    /** The request, once the watch shows it as it is. */
    watched: (name: string) => watched(hand, `${path}/${name}`, collection),
    remove: (name: string) => fixtureOf(name).remove(),
    close: async (): Promise<void> => {
      collection.stop();
      await dispose();
    },
  };
};

/** What harnesses of statecharts of requests share. */
export type OpenRequests = Awaited<ReturnType<typeof openRequests>>;
