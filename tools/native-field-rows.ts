/**
 * Which field of our EvictionRequest is which of EvictionRequest and Eviction in
 * `lifecycle.k8s.io`. A test compares the rows with the schemas of both and with what is written.
 */

/** One field in both APIs. */
export interface FieldRow {
  /** The fields of ours; empty where we have none. */
  readonly here: readonly string[];
  /** Those of Kubernetes: `EvictionRequest`, `Eviction` or `Pod`, and the path. */
  readonly there: readonly string[];
  readonly how: string;
}

const report = (field: string, there = field): FieldRow => ({
  here: [`status.interceptors[].${field}`],
  there: [`Eviction status.responders[].${there}`],
  how: 'the same; the interceptor writes it',
});

/** All fields, in the order of ours. */
export const FIELD_ROWS: readonly FieldRow[] = [
  {
    here: ['metadata.name'],
    there: ['Eviction metadata.name', 'EvictionRequest metadata.name'],
    how: 'Ours is the UID of the pod. The Eviction is `pod-<n>-<pod>`, counted upward; the ' +
      'object of a requester is `<uid>.<requester>`. Both are found by `spec.target`, not by name.',
  },
  {
    here: ['metadata.labels'],
    there: [],
    how: 'Labels of the pod are not copied there, so that `tidegate evictions` takes no selector.',
  },
  {
    here: [],
    there: ['Eviction metadata.labels'],
    how: 'The name of each participant, with `requester`, `responder` or `requester-responder`.',
  },
  {
    here: [],
    there: ['Eviction metadata.ownerReferences'],
    how: 'The objects of all requesters: the garbage collector deletes the Eviction with the last.',
  },
  {
    here: ['spec.target.pod.name', 'spec.target.pod.uid'],
    there: [
      'EvictionRequest spec.target.pod.name',
      'EvictionRequest spec.target.pod.uid',
      'Eviction spec.target.pod.name',
      'Eviction spec.target.pod.uid',
    ],
    how: 'the same',
  },
  {
    here: ['spec.requesters[].name'],
    there: [
      'EvictionRequest spec.requester',
      'EvictionRequest spec.intent',
      'Eviction status.requesters[].name',
      'Eviction status.requesters[].intent',
    ],
    how: 'An entry of ours is an object there, with the intent `Eviction`. One with the intent ' +
      '`Withdrawn`, or a deleted one, is no requester; it stays in `status.requesters` as ' +
      '`Withdrawn`. Our requesters delete their object when they leave.',
  },
  {
    here: ['status.observedGeneration'],
    there: ['Eviction status.observedGeneration', 'EvictionRequest status.observedGeneration'],
    how: 'A request counts as observed when its Eviction and the objects of all requesters agree.',
  },
  {
    here: ['status.conditions[]'],
    there: ['Eviction status.conditions[]', 'EvictionRequest status.conditions[]'],
    how: '`Evicted` is `TargetEvicted`, `Canceled` is `Failed`; see the reasons below. ' +
      '`InterceptorSilent` is `lifecycle.tidegate.dev/InterceptorSilent`, in the Eviction only.',
  },
  {
    here: ['status.targetInterceptors[].name'],
    there: [
      'Eviction status.targetResponders[].name',
      'Pod spec.evictionResponders[].name',
      'Pod spec.evictionResponders[].priority',
    ],
    how: 'In the order of the priorities of the pod, or of our annotation where the pod has no ' +
      'responders. At most 10 and the imperative eviction there, 15 and it here.',
  },
  {
    here: [],
    there: ['Eviction status.targetResponders[].priority'],
    how:
      'Follows from the order: 10000, 9999 and so on, and 100 for the imperative eviction. The ' +
      'numbers of the pod are not kept.',
  },
  {
    here: ['status.activeInterceptors[]', 'status.processedInterceptors[]'],
    there: ['Eviction status.targetResponders[].state'],
    how: 'Active is `Active`. Processed is `Completed` with a `completionTime`, `Canceled` when ' +
      'the last requester left meanwhile, `Interrupted` else. Others are `Inactive`.',
  },
  {
    here: ['status.interceptors[].name'],
    there: ['Eviction status.responders[].name'],
    how: 'the same',
  },
  {
    here: ['status.interceptors[].startTime'],
    there: ['Eviction status.responders[].startTime'],
    how: 'the same; the controller writes it',
  },
  report('heartbeatTime'),
  report('expectedFinishTime', 'expectedCompletionTime'),
  report('completionTime'),
  {
    here: ['status.interceptors[].message'],
    there: ['Eviction status.responders[].message'],
    how: 'Cut at 4000 characters there, which the API server enforces; 64 KiB here.',
  },
];

/** The reasons of conditions: ours, the condition there, and its reason. */
export const REASON_ROWS: readonly (readonly [string, string, string])[] = [
  ['none yet', '`Failed=False`, `TargetEvicted=False`', '`AwaitingEviction`'],
  ['`Evicted`, `PodDeleted`', '`TargetEvicted=True`', '`PodDeleted`'],
  ['`Evicted`, `PodTerminal`', '`TargetEvicted=True`', '`PodTerminal`'],
  ['`Evicted`', '`Failed=False`', '`Succeeded`'],
  ['`Canceled`, `NoRequesters`', '`Failed=True`', '`CanceledDueToNoRequesters`'],
  ['`Canceled`, `ValidationFailed`', '`Failed=True`', '`EvictionInvalid`'],
  ['`Canceled`', '`TargetEvicted=False`', '`EvictionFailed`'],
  ['none: the request stays open', '`Failed=True`', '`NoFurtherResponder`, which is only read'],
];
