/** The rules of EvictionRequests (KEP-4563 under our own API group). */
import type { Rule, RuleChapter } from './rule.ts';

/**
 * A rule tested by every test whose title begins with its number; why none of them sees it at a
 * real API server.
 */
const rule = (id: string, text: string, elsewhere?: string): Rule => ({
  id,
  text,
  testedBy: [`${id}:`],
  ...(elsewhere === undefined ? {} : { elsewhere }),
});

const objects: RuleChapter = {
  title: 'EvictionRequests: objects',
  intro: 'What the API server accepts.',
  rules: [
    rule('ER-01', 'A generated name is refused.'),
    rule('ER-02', 'The name is the UID of the pod.'),
    rule('ER-03', 'A request names a pod.'),
    rule('ER-04', 'The name and the UID of the pod are not empty.'),
    rule('ER-05', 'A new request has a requester.'),
    rule('ER-06', 'There are at most 100 requesters.'),
    rule('ER-07', 'Two requesters have two names.'),
    rule('ER-08', 'A name has three lower-case labels or more and no dot at its end.'),
    rule(
      'ER-09',
      'Names in the domains `k8s.io` and `kubernetes.io` are refused; only the controller ' +
        'appends `imperative-eviction.k8s.io`.',
    ),
    rule('ER-10', 'A status in the body of a creation is dropped.'),
    rule('ER-11', 'Requesting an eviction needs the permission to delete the pod.'),
    rule('ER-12', 'A second request for a pod exists already.'),
    rule(
      'ER-13',
      'A request for a pod that does not exist is accepted; the controller cancels it.',
    ),
    rule('ER-14', 'The target is immutable.'),
    rule('ER-15', 'Requesters may be added, renamed and removed.'),
    rule('ER-16', 'A request that has no requesters any more gets none again.'),
    rule(
      'ER-17',
      'Adding or removing a requester, changing the metadata of an open request, its field ' +
        'managers included, and deleting it needs the permission to delete the pod. The ' +
        'controller copies labels without it.',
    ),
    rule('ER-18', 'Spec and status are written apart.'),
    rule('ER-19', 'The generation rises with the spec, and not with labels.'),
  ],
};

const statuses: RuleChapter = {
  title: 'EvictionRequests: who writes the status',
  intro: 'Enforced by the policies in `charts/tidegate/files/policies`. The controller has the ' +
    'verb `act` on `controllers/evictionrequest`, an interceptor the verb `report` on ' +
    '`interceptors/NAME`, in the group `lifecycle.tidegate.dev`.',
  rules: [
    rule('ER-22', 'Interceptors have qualified names, which may be those of Kubernetes.'),
    rule('ER-23', 'The list of interceptors is set once, by the controller.'),
    rule('ER-24', 'Nothing is active before that list is set.'),
    rule('ER-26', 'Interceptors become active in line.'),
    rule('ER-27', 'An interceptor that reports in time is not replaced.'),
    rule('ER-28', 'Only what was active is processed, one at a time and for good.'),
    rule('ER-29', 'What was active does not just disappear.'),
    rule('ER-30', 'Nothing is active in a final request.'),
    rule(
      'ER-32',
      'Canceled and Evicted are final. These and `InterceptorSilent` are written by the ' +
        'controller alone; other conditions are free.',
    ),
    rule('ER-33', 'The observed generation never decreases.'),
    rule('ER-35', 'A heartbeat is never taken back.'),
    rule('ER-37', 'A heartbeat needs a start, which the controller writes.'),
    rule('ER-38', 'Start and completion are set once, in this order.'),
  ],
};

const lifecycle: RuleChapter = {
  title: 'EvictionRequests: lifecycle',
  intro: 'What the controller decides from a request, its pod and the time.',
  rules: [
    rule('ER-20', 'A request may be deleted at any time; nothing is written to it after that.'),
    rule(
      'ER-21',
      'A final request is deleted only with `--eviction-request-ttl`, that long after its final ' +
        'condition.',
    ),
    rule('ER-25', 'From the first sync on, every interceptor has an entry in the status.'),
    rule(
      'ER-31',
      'An interceptor’s own fields are written by nobody else: the controller applies its name ' +
        'and its start. Nobody else comes to own the lists of the controller, whose items would ' +
        'stay as long as anybody owns them.',
    ),
    rule(
      'ER-34',
      'A heartbeat beyond now and the clock skew, or before the start and the skew, never ' +
        'extends a deadline.',
    ),
    rule('ER-36', 'Two heartbeats are 60 seconds apart; a message may change between them.'),
    rule('ER-39', 'An expected finish changes no deadline.'),
    rule(
      'ER-40',
      'The deadline is 20 minutes after the last heartbeat, else after the start, else after the ' +
        'creation. An interceptor that never reported is warned of after one minute, one that ' +
        'did four minutes after its last heartbeat: condition `InterceptorSilent` and an Event.',
    ),
    rule('ER-41', 'A message is accepted up to 64 KiB; readers keep 4,000 characters.'),
    rule('ER-42', 'An interceptor that reports every three minutes is never warned of.'),
    rule(
      'ER-43',
      'A request whose pod is absent at the first sync is Canceled with `ValidationFailed`.',
    ),
    rule('ER-44', 'A pod of that name with another UID is another pod.'),
    rule('ER-45', 'A pod of a Workload or PodGroup is refused with `ValidationFailed`.'),
    rule('ER-46', 'A request that failed validation is not processed any more.'),
    rule('ER-47', 'Without requesters the request is Canceled and nothing is active.'),
    rule('ER-48', 'A pod that Succeeded or Failed counts as Evicted.'),
    rule('ER-49', 'A pod that is gone, or was replaced, counts as Evicted.'),
    rule('ER-50', 'The end of the pod wins over a cancellation.'),
    rule('ER-51', 'At the end the active interceptor is processed, without a completion.'),
    rule(
      'ER-52',
      'After the pod was observed gone or finished, the active interceptor has five seconds for ' +
        'its last report.',
    ),
    rule('ER-53', 'A final request is left alone.'),
    rule('ER-54', '`observedGeneration` follows the generation.'),
    rule(
      'ER-55',
      'The first sync freezes the interceptors: those of the pod in order, defaults of its owner, ' +
        'the imperative eviction. Broken names are dropped, with one Event. Where the surge runs, it ' +
        'is the default of pods whose Deployment would lose availability: of the only pod, and under ' +
        'a budget that never allows a disruption. Drains ask by request for these pods too.',
    ),
    rule('ER-56', 'Without interceptors the imperative eviction is active at once.'),
    rule('ER-57', 'The first interceptor is active first.'),
    rule(
      'ER-58',
      'When the active interceptor completes, or at its deadline, one update makes it processed ' +
        'and the next one active. While the pod leaves, nobody follows one that completed.',
    ),
    rule('ER-59', 'After the last interceptor the request stays open.'),
    rule('ER-60', 'A later registration has no effect.'),
    rule('ER-61', 'Time is looked at again at the warning and at the deadline.'),
    rule(
      'ER-62',
      'An interceptor of `@tidegate/interceptor` acts only while it is the active one, for the ' +
        'pod with the UID of the request, and stops when it is not.',
    ),
    rule(
      'ER-63',
      'The labels of the pod are copied to the request and win; its further labels stay.',
    ),
    rule('ER-64', 'A copied label that leaves the pod leaves the request.'),
    rule('ER-74', 'Each requester applies its own entry and removes no other.'),
    rule(
      'ER-75',
      'A drain adds its entry again when somebody else removed it, and makes a canceled request ' +
        'anew, at most five times for a pod.',
    ),
    rule(
      'ER-76',
      'The request is canceled only when the last requester leaves; a drain leaves when it is ' +
        'cancelled, and its deadline waits for no interceptor.',
    ),
    rule('ER-77', 'An entry that two field managers own stays until both leave.'),
    rule(
      'ER-78',
      'A requester replaces a request that has ended, by a deletion that names its UID; the ' +
        'last interested drain deletes it.',
    ),
    rule(
      'ER-85',
      'The request resumes from its status alone; an outage of the operator passes the ' +
        'imperative eviction over for nobody.',
    ),
  ],
};

const eviction: RuleChapter = {
  title: 'EvictionRequests: the imperative eviction',
  intro: 'The last interceptor of every request is the operator’s own eviction.',
  rules: [
    rule('ER-65', 'It evicts only while it is active and all others are processed.'),
    rule(
      'ER-66',
      'Pods of DaemonSets and static pods are never evicted; its message says so, and the ' +
        'request stays open.',
    ),
    rule('ER-67', 'A terminating pod is not evicted again.'),
    rule(
      'ER-68',
      'A refused call is counted in its message, also over restarts; messages are five seconds ' +
        'apart.',
    ),
    rule('ER-69', 'Pods with an emptyDir and pods without an owner are evicted.'),
    rule('ER-70', 'A new pod of the same name is not evicted.'),
    rule('ER-71', 'It reports at once and then every three minutes, also while it backs off.'),
    rule('ER-72', 'When the budget that keeps a pod goes away, the pod is evicted.'),
    rule('ER-73', 'Nothing is evicted once the last requester has left.'),
  ],
};

const observability: RuleChapter = {
  title: 'EvictionRequests: observability',
  intro: 'See [Metrics](reference/metrics.md) and [Monitor](tasks/monitor.md).',
  rules: [
    rule(
      'ER-82',
      'Metrics have the names of KEP-4563. Their series leave with the request or pod; the first ' +
        '1,000 of each have series, the rest is counted. `workqueue_*` with ' +
        '`name="evictionrequests"` measures the requests that are written at once.',
      'the API server has no part in the metrics of the operator.',
    ),
    rule(
      'ER-83',
      'Events are about the EvictionRequest; equal ones form a series, and it gets at most 25 in ' +
        'five minutes.',
      'the minutes pass on a simulated clock.',
    ),
    rule(
      'ER-84',
      'An alert joins the age of a request and its active interceptor.',
      'alerts are evaluated by Prometheus.',
    ),
  ],
};

const examples: RuleChapter = {
  title: 'EvictionRequests: worked examples',
  intro: 'The examples of KEP-4563 as transcripts on a simulated clock (in ' +
    '`test/unit/interceptor/golden`), and the first two on a real API server. The third differs ' +
    'from the KEP in one point: no other interceptor deletes the requested pods. Those that are ' +
    'more than replicas were added are deleted by the surge; each of the others gets the lowest ' +
    'deletion cost and leaves by lowering the replicas by one.',
  rules: [
    rule('ER-79', 'Of two requesters one leaves, and the interceptors go on in turn.'),
    rule(
      'ER-80',
      'The only requester leaves, and the request is canceled.',
      'ER-47 is the same case there.',
    ),
    rule(
      'ER-81',
      'The surge replaces the requested pods of a Deployment in waves of at most `maxSurge`; as ' +
        'many pods as before stay available, as many pods are made as leave, and the replicas ' +
        'are restored.',
      'it takes kubelets and controllers, which a simulated cluster has.',
    ),
  ],
};

const native: RuleChapter = {
  title: 'EvictionRequests: the API of Kubernetes',
  intro: 'The same with `EvictionRequest` and `Eviction` of `lifecycle.k8s.io`, on a real API ' +
    'server and on an embedded cluster.',
  rules: [
    rule('NE-01', 'Responders act in turn, a silent one is passed over, and the pod is evicted.'),
    rule('NE-02', 'One of two requesters withdraws and nothing changes; the last one cancels.'),
    rule('NE-03', 'A request for a pod that does not exist fails without an Eviction.'),
    rule('NE-04', 'A new process goes on where the one before it stopped.'),
    rule('NE-05', 'An Eviction that another controller serves is left to it.'),
    rule('NE-06', 'A drain asks, and deletes its EvictionRequest when the pod has gone.'),
    rule('NE-07', 'Commands request, show, explain and withdraw an eviction.'),
    rule('NE-10', 'After its time to live everything about a request is deleted.'),
    rule('NE-11', 'A request changes with each of its objects, and its version never goes back.'),
    rule('NE-08', 'A status is the same after it was written and read, and written once.'),
    rule('NE-09', 'Without a choice, the API of Kubernetes is taken only where ours is missing.'),
  ],
};

export const evictionRequestChapters: readonly RuleChapter[] = [
  objects,
  statuses,
  lifecycle,
  eviction,
  observability,
  examples,
  native,
];
