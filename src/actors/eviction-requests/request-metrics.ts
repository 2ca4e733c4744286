/**
 * The metrics of EvictionRequests and of the interceptors that pods register, by the names of
 * KEP-4563 (ER-82).
 *
 * Promises: a series leaves with its object; at most `OBJECTS_WITH_SERIES_MAX` requests, and as
 * many pods, have series, and the rest is counted; only the leader has any.
 */
import type { Telemetry } from '../../api/telemetry.ts';
import type { ObservedRequest } from '../../domain/eviction-requests/observed-request.ts';
import {
  type RequestSeries,
  requestSeries,
} from '../../domain/eviction-requests/request-series.ts';
import type { InterceptedPod } from '../../domain/eviction-requests/target-pod.ts';
import type { ObjectKey } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import { LimitedSeries } from '../limited-series.ts';

type Gauges = Pick<Telemetry, 'gauge' | 'forget'>;

/** The metrics with one series for each request. */
const VALUES = [
  {
    metric: 'tidegate_eviction_request_created_timestamp_seconds',
    value: ({ createdSeconds }: RequestSeries) => createdSeconds,
  },
  {
    metric: 'evictionrequest_controller_imperative_evictions',
    value: ({ refusals }: RequestSeries) => refusals,
  },
  {
    metric: 'evictionrequest_controller_processed_interceptor',
    value: ({ processed }: RequestSeries) => processed,
  },
  {
    metric: 'evictionrequest_controller_active_requester',
    value: ({ requesters }: RequestSeries) => requesters,
  },
] as const;

const setActive = (
  { gauge, forget }: Gauges,
  before: RequestSeries | undefined,
  after: RequestSeries | undefined,
): void => {
  const metric = 'evictionrequest_controller_active_interceptor';
  if (before?.active === after?.active) return;
  const labelsOf = ({ labels, active }: RequestSeries) => ({
    ...labels,
    interceptor: active ?? '',
  });
  if (before !== undefined && before.active !== null) forget(metric, labelsOf(before));
  if (after !== undefined && after.active !== null) gauge(metric, 1, labelsOf(after));
};

/** The series of all open requests and of pods with interceptors. */
export class RequestMetrics {
  readonly #telemetry: Gauges;
  readonly #requests: LimitedSeries<string, RequestSeries>;
  readonly #pods: LimitedSeries<ObjectKey, number>;

  constructor(telemetry: Gauges) {
    const limited = <Key extends string, Value>(object: 'evictionrequest' | 'pod') =>
      new LimitedSeries<Key, Value>((count) =>
        telemetry.gauge('tidegate_eviction_series_left_out', count, { object })
      );
    this.#telemetry = telemetry;
    this.#requests = limited('evictionrequest');
    this.#pods = limited('pod');
  }

  /** A request, and how many of its evictions were refused. */
  readonly observe = (request: ObservedRequest, refusals: number): void => {
    const after = requestSeries(request, refusals);
    if (after === null) return this.forget(request.uid);
    const before = this.#requests.get(request.uid);
    if (sameJson(before, after) || !this.#requests.set(request.uid, after)) return;
    for (const { metric, value } of VALUES) {
      this.#telemetry.gauge(metric, value(after), after.labels);
    }
    setActive(this.#telemetry, before, after);
  };

  /** The request is final or gone. */
  readonly forget = (uid: string): void => {
    const before = this.#requests.get(uid);
    this.#requests.delete(uid);
    if (before === undefined) return;
    for (const { metric } of VALUES) this.#telemetry.forget(metric, before.labels);
    setActive(this.#telemetry, before, undefined);
  };

  /** A pod, or that it is gone. */
  readonly observePod = (key: ObjectKey, pod: InterceptedPod | undefined): void => {
    const metric = 'evictionrequest_controller_pod_interceptors';
    const [namespace = '', name = ''] = key.split('/');
    const labels = { namespace, pod: name };
    const count = pod?.interceptors.names.length ?? 0;
    const before = this.#pods.get(key);
    if (count === 0) {
      this.#pods.delete(key);
      if (before !== undefined) this.#telemetry.forget(metric, labels);
    } else if (before !== count && this.#pods.set(key, count)) {
      this.#telemetry.gauge(metric, count, labels);
    }
  };

  /** All pods of a complete list: those that are not in it are gone. */
  readonly observePods = (pods: Iterable<InterceptedPod>): void => {
    const gone = new Set(this.#pods.keys());
    for (const pod of pods) {
      gone.delete(pod.key);
      this.observePod(pod.key, pod);
    }
    for (const key of gone) this.observePod(key, undefined);
  };

  /** Another process leads: it has the series from now on. */
  readonly clear = (): void => {
    for (const uid of this.#requests.keys()) this.forget(uid);
    this.observePods([]);
  };
}
