/** The rules of reclaims, drains and evictions. */
import type { Rule, RuleChapter } from './rule.ts';

/** A rule that is shown by every test whose title begins with its number. */
const rule = (id: string, text: string): Rule => ({ id, text, testedBy: [`${id}:`] });

const cordons: RuleChapter = {
  title: 'Drains: cordons and their owners',
  intro: 'What stands on a Node, so that a drain survives the process that does it.',
  rules: [
    rule(
      'DR-01',
      'Each owner of a cordon has one annotation, `cordon.tidegate.dev/<owner>`: `person`, ' +
        '`reclaim`, `disabled` or `maintenance-<12 hex digits of its UID>`. Its value is compact ' +
        'JSON with instructions, deadline, grace, beginning and end. A value of another version ' +
        'is left alone and reported.',
    ),
    rule(
      'DR-02',
      'A cordon is one merge patch: `unschedulable`, the key of its owner, and the ' +
        '`resourceVersion` it was decided on. A conflict is decided again at once when the cache ' +
        'is newer already, else with the next event. The first owner that finds a node cordoned ' +
        'by nobody notes the person who did it.',
    ),
    rule(
      'DR-03',
      'A second instruction for a node joins the first, and the earlier deadline wins. A ' +
        'repeated instruction is acknowledged again and starts nothing.',
    ),
    rule(
      'DR-04',
      'A reclaim never makes a node schedulable: key and cordon stay, with how it ended, written ' +
        'after the UpcomingNode shows it. The key goes with the Node, or when the machine serves ' +
        'again on a schedulable node. Only the last `maintenance-*` or `disabled` key uncordons, ' +
        'and never past a person or a reclaim.',
    ),
    rule(
      'DR-05',
      'Making the node schedulable, or removing the key, cancels the drain: nothing is evicted ' +
        'after that was seen, and `Cancelled` is written so that a replay does not start it ' +
        'again. What the watch shows from before our own patch is no cancel.',
    ),
    rule('DR-06', 'A Node that is deleted in the middle of its drain is Drained.'),
  ],
};

const instructions: RuleChapter = {
  title: 'Drains: instruction, acknowledgement, recovery',
  intro: 'From the shard’s word to the nodes it means, across restarts.',
  rules: [
    rule(
      'DR-10',
      'A machine whose known Node is gone counts as started and is Drained. One whose Node was ' +
        'never seen is waited for until the deadline, loudly, and not counted. An entry that ' +
        'names a Node is shown on the machine that the Node belongs to.',
    ),
    rule(
      'DR-11',
      'Thirty-two cordons are written at once. Evictions and the acknowledgement wait until all ' +
        'cordons have landed or 2 s have passed; late cordons are tried until the deadline. The ' +
        'acknowledgement counts each node that had landed once. Nothing is evicted from a node ' +
        'before its own cordon.',
    ),
    rule(
      'DR-12',
      'An acknowledgement stays with its instruction until the stream has taken it. After a ' +
        'restart, resumed instructions are acknowledged once more.',
    ),
    rule(
      'DR-13',
      'At start, every cordoned node with an unfinished key drains on with its deadline, before ' +
        'new instructions are heard; one whose deadline has passed ends at once.',
    ),
    rule(
      'DR-14',
      'A machine that is DRAINING in a replay, and whose Node has no key 5 s after that stream’s ' +
        'first acknowledged roll-up, is drained as `recovered-<machine>` with 600 s.',
    ),
    {
      id: 'DR-15',
      text: 'Only the holder of the Lease writes; no request leaves after the renew deadline. On ' +
        'SIGTERM nothing new is sent, the answers of evictions under way are awaited for at most ' +
        '15 s, and then the lease is released. Losing the lease makes a candidate again.',
      testedBy: ['DR-15'],
    },
    rule(
      'DR-16',
      'A live deadline runs on monotonic time, in timers of at most a day. A grace that is absent ' +
        'or not positive is 30 s; one above seven days is cut, with a Warning.',
    ),
  ],
};

const pods: RuleChapter = {
  title: 'Drains: which pods, in which order',
  intro: 'The plan of a drain.',
  rules: [
    rule(
      'DR-20',
      'DaemonSet and mirror pods stay, finished ones need nothing, all others leave, also those ' +
        'that arrive later. The operator’s own pod leaves last. A pod that came back past the ' +
        'cordon stays.',
    ),
    rule(
      'DR-21',
      'One tier for each priority, lowest first. The next starts when the earlier ones are gone, ' +
        'or when nothing of them has moved for the tier wait; from the last quarter of the grace ' +
        'on, all are open.',
    ),
    rule(
      'DR-22',
      'A terminating pod is never evicted again, one call is in flight for a pod, and every call ' +
        'names the UID that it means; it is not sent when the cache shows another.',
    ),
    rule('DR-23', 'A drain never deletes by force and never shortens the grace of a pod.'),
    rule(
      'DR-24',
      'A drain is done when no pod that must leave is on the node, terminating ones included. ' +
        'Volumes that are still attached are named, and delay nothing.',
    ),
  ],
};

const budgets: RuleChapter = {
  title: 'Drains: budgets',
  intro: 'How evictions share the slots of PodDisruptionBudgets.',
  rules: [
    rule('DR-30', 'Each budget that covers a pod of a drain has one actor, which follows changes.'),
    rule(
      'DR-31',
      'What needs no slot does not queue: Pending pods, and unready ones where Kubernetes lets ' +
        'them pass. Pods under two budgets, and bare pods under a budget that counts controllers, ' +
        'are blocked and not asked for.',
    ),
    rule(
      'DR-32',
      'Free is what a status that is current allows, less what is reserved. A reservation begins ' +
        'when the slot is handed out and ends when the status certainly shows the eviction, or it ' +
        'was refused. After a refusal nothing is free until a newer status.',
    ),
    rule(
      'DR-33',
      'One call is in flight for each budget, and a call that was sent is never aborted.',
    ),
    rule(
      'DR-34',
      'A free slot goes to an eviction that was cut short, then by class, by a deadline within ' +
        'a minute, by the fewest pods left on the node, by age and by name.',
    ),
    rule(
      'DR-35',
      'A closed budget is asked again when its status changes; when its watch has been silent ' +
        'for 120 s, by one call.',
    ),
    rule('DR-36', 'All writes share one budget; cordons and phases go before evictions.'),
    rule(
      'DR-37',
      'A watch that ends is resumed without a list. When no connection can be made, writes wait ' +
        'until a watch is back.',
    ),
  ],
};

const reporting: RuleChapter = {
  title: 'Drains: what is shown, and what it costs',
  intro: 'For people who watch, and for the API server.',
  rules: [
    rule(
      'DR-40',
      'An UpcomingNode has one writer. While its Node has a key that was not cancelled, frames ' +
        'do not move the phase back from Draining, Drained or Failed.',
    ),
    rule(
      'DR-41',
      'A failed drain says in one sentence how many pods remain, and names five with what keeps ' +
        'each.',
    ),
    rule(
      'DR-42',
      'One Event at the start and one at the end of a drain, and one for each budget or reason ' +
        'that has blocked for 10 s; none for each pod or retry.',
    ),
    rule('DR-43', '`drain status`, `drain plan` and `explain` read the cluster and nothing else.'),
    rule(
      'DR-44',
      'A kubelet that does not answer is a reason of its own; after the first call for each pod ' +
        'nothing is repeated.',
    ),
    rule(
      'DR-45',
      'While drains are paused, by flag or by annotation, nothing new is evicted, clocks run on, ' +
        'and status says so.',
    ),
    rule(
      'DR-50',
      'A drain of N pods that nothing blocks costs N + 4 requests: the evictions, two patches of ' +
        'the Node and two writes of the UpcomingNode.',
    ),
    rule(
      'DR-51',
      'While budgets change only by our doing, at most 0.3 % of evictions are refused.',
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
