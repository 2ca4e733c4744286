/** An EvictionRequest as one of its interceptors observes it. */
import { listAt, textAt, textsAt, valueAt } from './json.ts';
import { NO_REPORT, type Report, reportIn } from './report.ts';

/** The API group and version of EvictionRequests. */
export const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';

/** The pod that a request is about. */
export interface TargetPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Why an interceptor must not act any more. */
export type AbortReason =
  /** No requester is left. */
  | 'Canceled'
  /** The pod has left: evicted, deleted or finished. */
  | 'PodLeft'
  /** The controller has activated the next interceptor. */
  | 'HandedOver'
  /** The request was deleted. */
  | 'RequestDeleted'
  /** This process stops; the next one resumes. */
  | 'Stopped';

/** The fields of a request that an interceptor reads. */
export interface ObservedRequest {
  readonly name: string;
  readonly uid: string;
  readonly pod: TargetPod;
  readonly requesters: readonly string[];
  /** Whether the interceptor is the active one. */
  readonly isActive: boolean;
  /** Whether it is still to act, now or later. */
  readonly isPending: boolean;
  /** A condition that ends the request, or its deletion. */
  readonly ended: 'Canceled' | 'PodLeft' | 'RequestDeleted' | null;
  /** What the interceptor has reported. */
  readonly report: Report;
}

const holds = (raw: unknown, type: string): boolean =>
  listAt(raw, 'status', 'conditions').some((condition) =>
    textAt(condition, 'type') === type && textAt(condition, 'status') === 'True'
  );

const endOf = (raw: unknown): ObservedRequest['ended'] => {
  if (holds(raw, 'Evicted')) return 'PodLeft';
  if (holds(raw, 'Canceled')) return 'Canceled';
  return valueAt(raw, 'metadata', 'deletionTimestamp') === undefined ? null : 'RequestDeleted';
};

const named = (name: string) => (item: unknown): boolean => textAt(item, 'name') === name;

/** Reads a request for the interceptor of this name. */
export const observedRequest = (raw: unknown, interceptor: string): ObservedRequest => {
  const ended = endOf(raw);
  const isActive = ended === null &&
    textsAt(raw, 'status', 'activeInterceptors').includes(interceptor);
  const isTarget = listAt(raw, 'status', 'targetInterceptors').some(named(interceptor));
  const isProcessed = textsAt(raw, 'status', 'processedInterceptors').includes(interceptor);
  const entry = listAt(raw, 'status', 'interceptors').find(named(interceptor));
  return {
    name: textAt(raw, 'metadata', 'name') ?? '',
    uid: textAt(raw, 'metadata', 'uid') ?? '',
    pod: {
      namespace: textAt(raw, 'metadata', 'namespace') ?? '',
      name: textAt(raw, 'spec', 'target', 'pod', 'name') ?? '',
      uid: textAt(raw, 'spec', 'target', 'pod', 'uid') ?? '',
    },
    requesters: listAt(raw, 'spec', 'requesters').flatMap((item) => textAt(item, 'name') ?? []),
    isActive,
    isPending: ended === null && isTarget && !isProcessed,
    ended,
    report: entry === undefined ? NO_REPORT : reportIn(entry),
  };
};

/** The path of a request. */
export const requestPath = ({ name, pod }: Pick<ObservedRequest, 'name' | 'pod'>): string =>
  `/apis/${GROUP_VERSION}/namespaces/${pod.namespace}/evictionrequests/${name}`;

/** The path of the requests of a namespace, or of all. */
export const requestsPath = (namespace: string | undefined): string => {
  const where = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `/apis/${GROUP_VERSION}${where}/evictionrequests`;
};

/** The path of a pod. */
export const podPath = (pod: Pick<TargetPod, 'namespace' | 'name'>): string =>
  `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`;

/** Why the interceptor of an inactive request stops. */
export const abortReasonOf = (
  { ended, isActive }: Pick<ObservedRequest, 'ended' | 'isActive'>,
): AbortReason | null => ended ?? (isActive ? null : 'HandedOver');
