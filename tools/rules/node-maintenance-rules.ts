/** The rules of NodeMaintenances (KEP-4212 under our own API group). */
import type { Rule, RuleChapter } from './rule.ts';

/** A rule tested by every test whose title begins with its number. */
const rule = (id: string, text: string): Rule => ({ id, text, testedBy: [`${id}:`] });

/** A rule of the KEP that is not kept, and why. */
const unsupported = (id: string, text: string, why: string): Rule => ({
  id,
  text,
  testedBy: [],
  unsupported: why,
});

const objects: RuleChapter = {
  title: 'NodeMaintenances: objects and stages',
  intro: 'What the API server accepts, and how far a maintenance is.',
  rules: [
    rule('NM-01', 'The default stage is `Idle`.'),
    rule('NM-02', 'A maintenance may be created in any stage.'),
    rule(
      'NM-03',
      'Stages go forward only: `Idle`, `Cordon`, `Drain`, `Complete`; some may be skipped.',
    ),
    rule('NM-04', '`Drain` does the work of `Cordon`, too.'),
    rule('NM-05', 'An idle maintenance has no work, and none at its deletion.'),
    rule('NM-06', 'From `Idle` to `Complete` nothing but the end is done.'),
    rule('NM-07', 'Each stage whose work has started is recorded once, with its time, and stays.'),
    rule('NM-08', 'A maintenance that is not idle has a finalizer of Tidegate.'),
    rule('NM-09', 'A maintenance that is deleted is completed first.'),
    rule(
      'NM-10',
      'Creating, changing and deleting a maintenance needs the permission to delete nodes: every ' +
        'node, or each node that all terms of the selector name with `matchFields`. The ' +
        'controller has the verb `act` on `controllers/nodemaintenance` instead.',
    ),
    rule(
      'NM-11',
      'A selector that may match every node is accepted with a warning. The policy looks for a ' +
        'term that requires no value of a label which tells nodes apart; it cannot count nodes.',
    ),
    rule(
      'NM-12',
      'A maintenance has a selector with a term; a term without conditions selects no node. The ' +
        'selector is immutable once the stage is not `Idle`.',
    ),
    rule('NM-13', 'Nodes are unschedulable in `Cordon` and `Drain`.'),
  ],
};

const cordons: RuleChapter = {
  title: 'NodeMaintenances: cordons',
  intro: 'Each maintenance is one owner of the cordon of its nodes, beside reclaims and people.',
  rules: [
    rule(
      'NM-14',
      'A node that others make schedulable three times within five minutes is recorded as an ' +
        'Event, once in that time.',
    ),
    rule('NM-15', 'A node that no longer matches the selector is given back.'),
    rule(
      'NM-16',
      'A node is schedulable exactly when no maintenance, no reclaim and no person holds it.',
    ),
    rule('NM-17', 'The last of several maintenances makes the node schedulable.'),
    rule('NM-18', 'What a person cordoned before a maintenance stays cordoned after it.'),
    rule(
      'NM-19',
      'With a maintenance its entry leaves the EvictionRequests of its pods; those of others, and ' +
        'of other maintenances of the node, stay.',
    ),
    unsupported(
      'NM-20',
      'An interceptor that cannot cancel goes on when its maintenance is complete.',
      'An EvictionRequest does not say which interceptors can cancel: each decides for itself.',
    ),
  ],
};

const plans: RuleChapter = {
  title: 'NodeMaintenances: plans',
  intro: 'Which pods leave before which.',
  rules: [
    rule(
      'NM-21',
      'A plan is ordered by the type of pods (`Default`, `DaemonSet`, `Static`), then by ' +
        'priority, then entries with a selector first. Other plans are refused.',
    ),
    rule(
      'NM-22',
      'A plan has no entry twice. Entries whose selectors are equal and written differently ' +
        'count once; an empty selector is refused.',
    ),
    rule('NM-23', 'The plan, the pods that leave and their grace are immutable.'),
    rule(
      'NM-24',
      'The effective plan has entries for 1000000000, 2000000000, 2000001000 and 2147483647 of ' +
        'each type; the stored plan stays as it was written.',
    ),
    rule('NM-25', 'The plan of a maintenance without one is these twelve entries.'),
    rule(
      'NM-26',
      'An entry selects pods of its type, with at most its priority and with its labels. A pod ' +
        'without a priority has 0.',
    ),
    rule(
      'NM-27',
      'Pods of DaemonSets are `DaemonSet`, mirror pods `Static`, all others `Default`.',
    ),
    rule('NM-28', 'Bare pods, pods with local data and terminating pods leave like others.'),
    rule('NM-29', 'A new pod that the current entry or an earlier one selects leaves, too.'),
    unsupported(
      'NM-30',
      'Pods of DaemonSets of users leave before `Default` pods of the system.',
      'The KEP leaves it open; here the type comes before the priority (NM-21).',
    ),
  ],
};

const targets: RuleChapter = {
  title: 'NodeMaintenances: drain targets',
  intro:
    'How the plans of several maintenances are resolved on the nodes that they share. Entries ' +
    'of all plans have one order, their rank: type, priority, and those with a selector first.',
  rules: [
    rule(
      'NM-31',
      'A maintenance goes on to its next entry when each of its nodes has reached its entry and ' +
        'no pod of it is left there.',
    ),
    rule(
      'NM-32',
      'The targets of a node are the lowest of its maintenances, and all of them show the same.',
    ),
    rule('NM-33', 'A node that is not shared may be further than one that is.'),
    rule(
      'NM-34',
      'Targets never go down: a younger maintenance is fast-forwarded on a shared node, and ' +
        'starts with its own first entry on the others.',
    ),
    rule(
      'NM-35',
      'An entry also waits until no targeted pod is left on any node of a maintenance that ' +
        'shares a node. Without this (`minimal`), too, every maintenance ends.',
    ),
    rule(
      'NM-36',
      'The targets of a node are all entries of its maintenances up to their cursors whose rank ' +
        'is not above the lowest cursor, and those of before; so no set of maintenances waits ' +
        'for itself.',
    ),
    rule(
      'NM-37',
      'Targets have one item for each selector of a type that has begun, at its highest priority.',
    ),
    rule('NM-38', 'Entries without pods are passed at once.'),
    rule(
      'NM-39',
      'Targets and cursors are in the status, for the next process. Those of a maintenance that ' +
        'is over, or has given the node back, do not count once its key has left the node.',
    ),
  ],
};

const statuses: RuleChapter = {
  title: 'NodeMaintenances: status',
  intro: 'What a maintenance shows.',
  rules: [
    rule(
      'NM-40',
      'The status counts the pods of each node that must leave: of every priority, and neither ' +
        'static nor finished ones. It has at most 1,000 nodes, of which those under way or done ' +
        'are never left out. The others of a larger selection wait until some leave it, as a ' +
        'condition and an Event say. Only the controller writes it, at most once in 5 ms for each ' +
        'node.',
    ),
    rule(
      'NM-41',
      'A node is drained when no pod of the types and labels of the spec is left, and its drain ' +
        'has ended; static pods do not count.',
    ),
    rule(
      'NM-42',
      'A node has the lifecycle conditions of KEP-5683 for the union of its maintenances, by one ' +
        'request for each change, after the key of the cordon came or left. Those of other ' +
        'writers stay as they are, and no condition is left when the last maintenance ends.',
    ),
    rule(
      'NM-43',
      'While the stage is `Idle`, the preview counts the pods that would leave and names the ' +
        'budgets that hold them back. It is renewed at most once in half a minute, and removed ' +
        'with the first other stage.',
    ),
    rule(
      'NM-44',
      'A pod of a DaemonSet leaves only for a maintenance whose drain has reached it. Without an ' +
        'interceptor of its own it has no EvictionRequest, because no request would evict it. Until ' +
        'then the interceptor `daemonset.tidegate.dev` does nothing and does not complete.',
    ),
    rule(
      'NM-45',
      'Once a maintenance in Drain has reached its pod, the active interceptor ' +
        '`daemonset.tidegate.dev` deletes it, with a heartbeat, a message that names the ' +
        'maintenance and its reason, and now and the grace of the pod as the expected finish.',
    ),
    rule(
      'NM-46',
      'From when the drain has reached them until the maintenance is complete, pods of DaemonSets ' +
        'are not created again on a node. Those that it has not reached, or leaves alone, are.',
    ),
    rule('NM-47', 'Static pods stay, because only the kubelet stops them, and hold no drain.'),
    unsupported(
      'NM-48',
      'A kubelet whose machine shuts down creates a NodeMaintenance and waits for its drain.',
      'It is an option of the kubelet.',
    ),
    unsupported(
      'NM-49',
      '`kubectl drain`, `cordon` and `uncordon` warn of maintenances.',
      'It is a change of kubectl. An uncordon is reverted, and the third is recorded (NM-14).',
    ),
  ],
};

const windows: RuleChapter = {
  title: 'NodeMaintenances: windows',
  intro: 'When the nodes of a maintenance begin.',
  rules: [
    rule(
      'NM-50',
      'While `spec.window` is closed no node begins: none is admitted, and no drain begins on one ' +
        'that is only cordoned. Nodes under way are finished. The clock is compared with the ' +
        'schedule at the next change, and at least every five minutes.',
    ),
    rule(
      'NM-51',
      'The condition `Drained` and an Event name the next start of the window, or what is wrong ' +
        'with it: a window that cannot be read is closed.',
    ),
  ],
};

const crossings: RuleChapter = {
  title: 'NodeMaintenances: crossed drains',
  intro: 'Drains that wait for each other, and drains that fail.',
  rules: [
    rule(
      'NM-52',
      'Drains are crossed when each waits for a budget that misses a pod, and the pod could run on ' +
        'a node that the other keeps cordoned; also in a circle of more than two, and when one ' +
        'waits for the plan of another. Both show it. After half a minute one node yields: of ' +
        'the drain of the lowest class (a node that is disabled, a reclaim, a maintenance), then ' +
        'of the youngest maintenance, then of the last by UID. Its cordon and its requests are ' +
        'removed, and it queues again when the drain to which it yields is over.',
    ),
    rule('NM-53', 'A drain of a maintenance that failed begins again after a minute.'),
    rule(
      'NM-54',
      'A metric shows how many pods must still leave while the stage is `Drain`; its series leaves ' +
        'with the stage and the object. An alert says that the number stays.',
    ),
    rule(
      'NM-55',
      'Without the policy, a pod of a DaemonSet is evicted once for a drain. One that came back past ' +
        'the cordon stays and holds nothing, also when the drain has ended.',
    ),
  ],
};

/** The chapters of maintenances. */
export const nodeMaintenanceChapters: readonly RuleChapter[] = [
  objects,
  cordons,
  plans,
  targets,
  statuses,
  windows,
  crossings,
];
