/** The metrics of EvictionRequests, a part of the catalogue in `metrics.ts`. */
import { catalogue } from './metric.ts';

/** Those of one object have its name as labels, and leave with it. */
export const EVICTION_REQUEST_METRICS = catalogue({
  tidegate_eviction_requests: {
    type: 'gauge',
    help: 'Open EvictionRequests, by statechart state.',
    labels: ['state'],
  },
  tidegate_eviction_request_created_timestamp_seconds: {
    type: 'gauge',
    help: 'When an open EvictionRequest was created, in seconds since 1970.',
    labels: ['namespace', 'evictionrequest', 'target'],
  },
  tidegate_eviction_series_left_out: {
    type: 'gauge',
    help: 'EvictionRequests and pods beyond the limit of objects that have series of their own.',
    labels: ['object'],
  },
  evictionrequest_controller_imperative_evictions: {
    type: 'gauge',
    help: 'Refused evictions of the pod of an open EvictionRequest, also over restarts.',
    labels: ['namespace', 'evictionrequest', 'target'],
  },
  evictionrequest_controller_active_interceptor: {
    type: 'gauge',
    help: '1 for the active interceptor of an open EvictionRequest.',
    labels: ['namespace', 'evictionrequest', 'target', 'interceptor'],
  },
  evictionrequest_controller_processed_interceptor: {
    type: 'gauge',
    help: 'Interceptors of an open EvictionRequest that have acted or were passed over.',
    labels: ['namespace', 'evictionrequest', 'target'],
  },
  evictionrequest_controller_active_requester: {
    type: 'gauge',
    help: 'Requesters of an open EvictionRequest.',
    labels: ['namespace', 'evictionrequest', 'target'],
  },
  evictionrequest_controller_pod_interceptors: {
    type: 'gauge',
    help: 'Interceptors that a pod registers, for pods with at least one.',
    labels: ['namespace', 'pod'],
  },
  tidegate_drain_pods_unasked_total: {
    type: 'counter',
    help: 'Pods that a drain evicts without asking their interceptors, by cause.',
    labels: ['cause'],
    fromStart: ['Canceled', 'Unanswered', 'Refused', 'Processed'],
  },
  workqueue_depth: {
    type: 'gauge',
    help: 'Objects that wait for a slot to be written.',
    labels: ['name'],
  },
  workqueue_adds_total: {
    type: 'counter',
    help: 'Requests for a slot to write an object.',
    labels: ['name'],
  },
  workqueue_queue_duration_seconds: {
    type: 'histogram',
    help: 'Time that an object waited for its slot.',
    labels: ['name'],
  },
  workqueue_work_duration_seconds: {
    type: 'histogram',
    help: 'Time that an object held its slot: its write, and retries with the same slot.',
    labels: ['name'],
  },
  workqueue_retries_total: {
    type: 'counter',
    help: 'Failed writes that are retried.',
    labels: ['name'],
  },
});
