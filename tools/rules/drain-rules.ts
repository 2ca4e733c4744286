/** The rules of reclaims, drains and evictions. */
import type { Rule, RuleChapter } from './rule.ts';

/** A rule tested by every test whose title begins with its number. */
const rule = (id: string, text: string): Rule => ({ id, text, testedBy: [`${id}:`] });

const cordons: RuleChapter = {
  title: 'Drains: cordons and their owners',
  intro: 'The annotations on a Node by which a drain survives its process.',
  rules: [
    rule(
      'DR-01',
      'Each owner of a cordon has one annotation, `cordon.tidegate.dev/<owner>`: `person`, ' +
        '`reclaim`, `disabled` or `maintenance-<12 hex digits of its UID>`. Its value is compact ' +
        'JSON with instructions, deadline, grace, start and end. A value of another version ' +
        'is left unchanged and reported.',
    ),
    rule(
      'DR-02',
      'A cordon is one merge patch: `unschedulable`, the key of its owner, and the ' +
        '`resourceVersion` of the decision. After a conflict the decision is repeated at once when ' +
        'the cache is newer already, else with the next event. The first owner that finds a node ' +
        'cordoned without an owner records `person`.',
    ),
    rule(
      'DR-03',
      'A second instruction for a node joins the first, and the earlier deadline wins. A ' +
        'repeated instruction is acknowledged again and has no other effect; machines that it ' +
        'names for the first time get a Warning.',
    ),
    rule(
      'DR-04',
      'A reclaim never makes a node schedulable: key and cordon stay, with the outcome, which is ' +
        'written after the UpcomingNode shows it. The key is removed with the Node, or when the ' +
        'machine is in service again on a schedulable node. Only removing the last ' +
        '`maintenance-*` or `disabled` key uncordons, and never against a person or a reclaim.',
    ),
    rule(
      'DR-05',
      'Making the node schedulable, or removing the key, cancels the drain: nothing is evicted ' +
        'after that was observed, and `Cancelled` is written so that a replay does not restart ' +
        'it. A watch event older than our own patch does not cancel.',
    ),
    rule('DR-06', 'A Node that is deleted during its drain is Drained.'),
    rule(
      'DR-07',
      'The annotations are input of whoever may write Nodes. An annotation beyond 32,768 ' +
        'characters or 64 instructions of 320 characters, and owners beyond 16, are left alone ' +
        'like another version: they start no drain and end none. A ' +
        'term resumes 1,000 instructions from Nodes, and a process acknowledges as many of them; ' +
        'beyond that, drains go on unacknowledged. A refusal is recorded once, on the Node.',
    ),
    rule(
      'DR-08',
      'An Event counts as a reason only when its `reportingController` is Tidegate’s. Others are ' +
        'shown with their reporter.',
    ),
  ],
};

const instructions: RuleChapter = {
  title: 'Drains: instruction, acknowledgement, recovery',
  intro: 'From the shard’s instruction to its nodes, across restarts.',
  rules: [
    rule(
      'DR-10',
      'A machine whose known Node is gone counts as started and is Drained. One whose Node was ' +
        'never observed is waited for until the deadline, with a Warning, and not counted. The ' +
        'wait ends when the machine is IDLE, DELETING or absent from a complete replay: its next ' +
        'life is not drained for its last one. An entry that names a Node is shown on the machine ' +
        'that the Node belongs to.',
    ),
    rule(
      'DR-11',
      'At most 32 cordons are written concurrently. Evictions and the acknowledgement wait until ' +
        'all cordons are written or 2 s have passed; late cordons are retried until the deadline. ' +
        'The acknowledgement counts each cordoned node once; Draining is requested before it, and ' +
        'its write is not awaited. Nothing is evicted from a node ' +
        'before its own cordon.',
    ),
    rule(
      'DR-12',
      'An acknowledgement stays pending until the outbox has taken it, across reconnects. After a ' +
        'restart, resumed instructions are acknowledged again.',
    ),
    rule(
      'DR-13',
      'At start, every cordoned node with an unfinished key resumes its drain and deadline ' +
        'before new instructions are processed. One whose deadline has passed ends at once: as ' +
        'Drained when no pod that must leave is there, else as Failed with the pods that are.',
    ),
    rule(
      'DR-14',
      'A machine that is DRAINING in a replay, and whose Node has no key 5 s after that stream’s ' +
        'first acknowledged roll-up, is drained as `recovered-<machine>` with 600 s; without a ' +
        'Node so far, when its Node joins.',
    ),
    {
      id: 'DR-15',
      text: 'Only the holder of the Lease writes; no request leaves after the renew deadline. On ' +
        'SIGTERM nothing new is sent, the answers to evictions in flight are awaited for at most ' +
        '15 s, and then the lease is released. A process that loses the lease becomes a ' +
        'candidate again.',
      testedBy: ['DR-15'],
    },
    rule(
      'DR-16',
      'A live deadline runs on monotonic time, in timers of at most a day. A grace that is absent ' +
        'or not positive is 30 s; one above seven days is capped, with a Warning.',
    ),
    rule(
      'DR-17',
      'A Node is reclaimed only for a machine that the shard showed CONFIGURED and that has not ' +
        'left since, or that has an UpcomingNode. Any other Node that an instruction or a replay ' +
        'names is refused with a Warning and not counted; it is cordoned if its machine is shown ' +
        'CONFIGURED before the deadline.',
    ),
    rule(
      'DR-18',
      'A Node that `--reclaimable-node-selector` does not select (by default one of the control ' +
        'plane) is never drained for the shard: the reclaim is refused with a Warning and not ' +
        'counted.',
    ),
    rule(
      'DR-19',
      'No drain begins for the shard while as many Nodes drain as `--max-draining` allows. ' +
        'Further machines wait in the order of their deadlines, with one Event for each ' +
        'instruction; they are not counted, and Failed when the deadline passes. A Node that ' +
        'drains already needs no room.',
    ),
  ],
};

const pods: RuleChapter = {
  title: 'Drains: which pods, in which order',
  intro: 'The plan of a drain.',
  rules: [
    rule(
      'DR-20',
      'DaemonSet and mirror pods stay, finished ones need no eviction, all others leave, also ' +
        'pods that arrive later. The operator’s own pod leaves last. A pod that was recreated ' +
        'despite the cordon stays, also after a restart, and is shown with its reason.',
    ),
    rule(
      'DR-21',
      'One tier for each priority, lowest first. The next starts when the earlier ones are gone, ' +
        'or when they made no progress for the tier wait; from the last quarter of the grace ' +
        'on, all are open.',
    ),
    rule(
      'DR-22',
      'A terminating pod is never evicted again, one call is in flight for a pod, and every call ' +
        'names the pod’s UID; it is not sent when the cache shows another.',
    ),
    rule(
      'DR-23',
      'A drain never deletes by force and never shortens the grace of a pod, unless the spec of ' +
        'its NodeMaintenance names a grace.',
    ),
    rule(
      'DR-24',
      'A drain is done when no pod that must leave is on the node, terminating ones included, two ' +
        'seconds after the cordon at the earliest. Volumes that are still attached are reported, ' +
        'and delay nothing.',
    ),
  ],
};

const budgets: RuleChapter = {
  title: 'Drains: budgets',
  intro: 'How evictions share the slots of PodDisruptionBudgets.',
  rules: [
    rule(
      'DR-30',
      'Each budget that selects a pod of a drain has one actor, which follows changes.',
    ),
    rule(
      'DR-31',
      'Pods that need no slot do not queue: Pending ones, and unready ones that Kubernetes evicts ' +
        'without a slot. Pods under two budgets, and pods without a controller under a budget ' +
        'that counts controllers, are blocked, without an eviction request.',
    ),
    rule(
      'DR-32',
      'The free slots are those of a current status, minus reservations. A reservation starts ' +
        'when the slot is assigned and ends when the status certainly includes the eviction, or ' +
        'when it was refused. After a refusal no slot is free until a newer status.',
    ),
    rule(
      'DR-33',
      'One call is in flight for each budget, and a call that was sent is never aborted.',
    ),
    rule(
      'DR-34',
      'A free slot goes to an interrupted eviction first, then by class, by a deadline within ' +
        'a minute (an instruction that joins may bring it forward), by the fewest pods left on ' +
        'the node, by age and by name.',
    ),
    rule(
      'DR-35',
      'Evictions under an exhausted budget resume when its status changes; when its watch has ' +
        'been silent for 120 s, one call probes. An unready pod that needs no slot by the cache is ' +
        'retried when it changes, else after 1 to 10 s.',
    ),
    rule(
      'DR-36',
      'All writes share one budget; cordons and phases go before evictions, which keep a floor.',
    ),
    rule(
      'DR-37',
      'A watch that ends is resumed without a list; after a 410 the collection is listed at once, ' +
        'whatever backoff an outage had led to. While connections fail, writes wait until a ' +
        'watch is open again.',
    ),
  ],
};

const reporting: RuleChapter = {
  title: 'Drains: reports and cost',
  intro: 'What users see, and the load on the API server.',
  rules: [
    rule(
      'DR-40',
      'An UpcomingNode has one writer. While its Node has a key that was not cancelled, frames ' +
        'do not move the phase back from Draining, Drained or Failed.',
    ),
    rule(
      'DR-41',
      'A failed drain reports in one sentence how many pods remain, and names five with the ' +
        'blocker of each.',
    ),
    rule(
      'DR-42',
      'One Event at the start and one at the end of a drain, which no limit drops, and one for ' +
        'each reason that has blocked for 10 s; no Events per pod or retry. Budgets share one, ' +
        'about those that have given no slot to any drain for 30 s. A budget that can never open ' +
        'is a reason of its own, and one Event forecasts that the node will not be empty by the ' +
        'deadline. What blocks is in `lastError` of the UpcomingNode as long as it blocks.',
    ),
    rule('DR-43', '`drain status`, `drain plan` and `explain` read the cluster and nothing else.'),
    rule(
      'DR-44',
      'An unresponsive kubelet is a reason of its own; after the first call for each pod nothing ' +
        'is retried.',
    ),
    rule(
      'DR-45',
      'While drains are paused, by flag or by annotation, nothing new is evicted, deadlines ' +
        'continue, and the status shows the pause.',
    ),
    rule(
      'DR-50',
      'A drain of N pods that nothing blocks costs N + 4 requests: the evictions, two patches of ' +
        'the Node and two writes of the UpcomingNode. The second patch has the condition of the ' +
        'Node as well.',
    ),
    rule(
      'DR-51',
      'While only our evictions change budgets, at most 0.3 % of them are refused.',
    ),
  ],
};

/** Chapters of the reference page. */
export const drainChapters: readonly RuleChapter[] = [
  cordons,
  instructions,
  pods,
  budgets,
  reporting,
];
