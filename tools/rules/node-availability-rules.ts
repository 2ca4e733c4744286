/** The rules of Nodes that fail (`drain-evict-reschedule`: *Node states*, *Node disabled*). */
import type { Rule, RuleChapter } from './rule.ts';

/** A rule tested by every test whose title begins with its number, or with one of `others`. */
const rule = (id: string, text: string, ...others: readonly string[]): Rule => ({
  id,
  text,
  testedBy: [`${id}:`, ...others],
});

const states: RuleChapter = {
  title: 'Nodes that fail: states',
  intro: 'The role `availability` derives one state for each node.',
  rules: [
    rule(
      'RS-01',
      'A node is `Active`, `Degraded`, `Draining`, `Disabled` or `Offline`. The state follows from ' +
        'facts and is shown as the reason of the condition `tidegate.dev/Availability`; a node that ' +
        'was always active has none. A node that only a person cordoned is active.',
    ),
    rule(
      'RS-02',
      'A node with a cordon of a reclaim or of a maintenance is `Draining`: it gets no new pods, ' +
        'and its pods leave.',
      'Compliance 1:',
    ),
    rule(
      'RS-03',
      'A node with a cordon of the owner `disabled` is `Disabled`; its pods leave as in a drain, in ' +
        'the class `emergency`. It is enabled without a trace.',
    ),
    rule(
      'RS-04',
      'A problem condition that lasts 30 s makes a node `Degraded`: it gets the taint ' +
        '`tidegate.dev/degraded:NoSchedule`, and its pods stay. The taint goes after 60 s without ' +
        'one; conditions that nobody reports end nothing.',
    ),
    rule(
      'RS-05',
      'A node is `Offline` when its Lease was not renewed for 60 s and its Ready condition is ' +
        '`Unknown`. The time is counted from when the operator saw the last renewal, so that the ' +
        'clock of the node does not count.',
    ),
    rule(
      'RS-06',
      'When more than 20 % of all nodes and more than three go offline within five minutes, no pod ' +
        'is deleted, and an Event `OfflineStorm` on the Lease of the operator names them. Nothing ' +
        'is deleted in the first 5 s, and no reason `Offline` is shown, so that the next leader ' +
        'counts the node, too. A node of a storm stays protected until it is ready or a person ' +
        'confirms that it is gone, also over a restart.',
    ),
  ],
};

const drains: RuleChapter = {
  title: 'Nodes that fail: drains',
  intro: 'How the drains of disabled nodes treat pods whose data is on the node only.',
  rules: [
    rule(
      'RS-11',
      'The drain of a disabled node keeps pods whose data is on that node only: a local or hostPath ' +
        'PersistentVolume, a hostPath, or an emptyDir that `tidegate.dev/keep-volumes` names. It ' +
        'never tries to evict them, and shows each as a blocker `StatefulLocalVolume`. A claim ' +
        'whose volume is not known counts as local. Drains of reclaims and maintenances do so with ' +
        '`--local-volumes=keep`.',
    ),
    rule(
      'RS-12',
      'A node is drained when all other pods are gone and a person has acknowledged those that ' +
        'stay. `tidegate drain acknowledge` names them by UID, and its drains by their start: a ' +
        'pod that comes later, or the next drain, needs another one.',
    ),
    rule(
      'RS-13',
      'A pod has its own `terminationGracePeriodSeconds` to stop. Ten seconds after it the pod ' +
        'is a blocker `TerminationOverdue`. No drain deletes it by force: once a person has ' +
        'confirmed that its machine is gone, Kubernetes does, within 30 s.',
      'Compliance 3: RS-13:',
    ),
    rule(
      'RS-14',
      'A pod with the readiness gate `tidegate.dev/serving` is set not-serving once it has its ' +
        'slot, and evicted when no EndpointSlice lists it as ready, or after 30 s. It serves ' +
        'again when its eviction is refused or not wanted any more. The role `availability` sets ' +
        'the condition `True` when the containers are ready, also two minutes after another ' +
        'process set it `False` and evicted nothing. EndpointSlices are read for such pods only.',
      'Compliance 5: RS-14:',
    ),
    rule(
      'RS-15',
      'A rollout goes on while a node drains. Of the pods of one node, those of an old revision ' +
        'leave first: a younger revision of their Deployment or StatefulSet has pods. Pods that ' +
        'are terminating or have failed never count as serving.',
    ),
    rule(
      'RS-31',
      '`drain status` counts the pods that remain by class, stateless and stateful, and names ' +
        'every blocker with its reason, who can act, and how.',
    ),
  ],
};

const pods: RuleChapter = {
  title: 'Nodes that fail: pods',
  intro: 'What becomes of the pods of a node that is offline.',
  rules: [
    rule(
      'RS-20',
      'Stateless pods of an offline node are deleted by UID, without the Eviction API. Pods of a ' +
        'StatefulSet, without a controller, with a hostPath, with an emptyDir that the annotation ' +
        '`tidegate.dev/keep-volumes` names, or with a volume that only one node may use, are ' +
        'stateful. DaemonSet pods and static pods are left.',
      'Compliance 2:',
    ),
    rule(
      'RS-21',
      'Stateful pods of an offline node stay. They have the condition ' +
        '`tidegate.dev/VolumeHomeNodeOffline` until the node is back, and an Event of that name, ' +
        'which their claims have, too.',
      'Compliance 2:',
    ),
    rule(
      'RS-22',
      'When a node comes back, its state goes within 5 s, and so does the taint of a node out of ' +
        'service that Tidegate set. `tidegate node confirm-gone` sets it only for a node that is ' +
        'not Ready, lists the pods that it removes, and needs `--accept-local-loss` when pods or ' +
        'data exist only there.',
    ),
    rule(
      'RS-23',
      'Pods are deleted in the order of name and UID, each once; failed deletions are repeated ' +
        'with backoff, five times at most.',
    ),
    rule(
      'RS-30',
      'Nodes are counted by state, evictions and replaced pods by node, and deletions of lost ' +
        'pods by outcome. The time until a drain has only pods that it keeps is measured apart; ' +
        'drains that wait for the acknowledgement of these are counted.',
    ),
  ],
};

const replacements: RuleChapter = {
  title: 'Drains: replacements come first',
  intro: 'What the interceptor `surge.tidegate.dev` does, beside ER-81.',
  rules: [
    rule(
      'RS-10',
      'A surge raises the count of the highest object that owns the replicas of a Deployment: ' +
        '`minReplicaCount` of a KEDA ScaledObject, else `minReplicas` of a ' +
        'HorizontalPodAutoscaler, else `replicas`. The count is restored byte-equal, if it still ' +
        'is what the surge wrote, also after a restart anywhere. Where the strategy, a volume or ' +
        'an autoscaler allows no surge, the status of the request begins with the reason within ' +
        'two seconds; the pod is evicted within its budgets, or waits with ' +
        '`--without-surge=wait` until the Deployment has the annotation ' +
        '`tidegate.dev/accept-downtime`.',
    ),
    rule(
      'RS-16',
      'Where the scheduler finds no room for a replacement, the reason is `NoCapacityMemory`, or ' +
        'that of the resource that most Nodes lack; where it cannot be created, such as by a ' +
        'quota, `ReplacementNotCreated`. The surge is withdrawn after 60 s and repeated; the pod ' +
        'stays, unless downtime is accepted for its Deployment or its disabled Node. Memory is ' +
        'never overcommitted.',
    ),
  ],
};

/** Chapters of the reference. */
export const nodeAvailabilityChapters: readonly RuleChapter[] = [
  states,
  drains,
  pods,
  replacements,
];
