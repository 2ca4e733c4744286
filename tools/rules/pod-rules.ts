/** The rules of pods as demand. */
import type { RuleChapter } from './rule.ts';

const pods: RuleChapter = {
  title: 'Pods as demand',
  intro: 'How `tidegate pods`, and the operator with `--with-pods`, convert pods to requests.',
  rules: [
    {
      id: 'POD-01',
      text:
        'Every pod that is demand ends with exactly one request, which has the pod’s resources; a ' +
        'pod that is no demand, or has finished, ends with none. This holds after any crash.',
      testedBy: [
        'test/unit/pods/pod-demands.test.ts',
        'pods: every sequence ends with exactly one request',
        'of which half finish',
      ],
    },
    {
      id: 'POD-02',
      text:
        'A request has the requirements of its pod: node selector, first term of required affinity, ' +
        'co-location, hard spread, priority and penalties; pods of DaemonSets and mirror pods are ' +
        'no demand; requirements that cannot be expressed are omitted with a Warning.',
      testedBy: [
        'test/unit/domain/pod-demand/pod-request.test.ts',
        'test/integration/pod-demand-cases.test.ts',
        'pods of DaemonSets, mirror pods and finished pods',
      ],
    },
    {
      id: 'POD-03',
      text: 'A pod asks for what kube-scheduler reserves for it: init containers, sidecars, ' +
        'overhead and pod-level resources included, and the allocated resources of an in-place resize.',
      testedBy: [
        'a node of exactly the computed size takes the pod',
        'a pod that is resized in place takes as much',
      ],
    },
    {
      id: 'POD-04',
      text: 'The requirements of a pod hold on the nodes that kube-scheduler finds feasible, and ' +
        'on no other.',
      testedBy: ['the nodes whose labels satisfy the requirements'],
    },
    {
      id: 'POD-05',
      text: 'A request follows its pod and the file of penalties; an invalid file keeps the last ' +
        'valid one.',
      testedBy: ['a request follows its pod', 'penalties by PriorityClass are read again'],
    },
    {
      id: 'POD-06',
      text: 'A request that another controller made for the pod is adopted when it is in the ' +
        'namespace of the pod and has label and owner reference with its UID; extras are deleted. ' +
        'What has neither our label nor our owner reference is never touched, whatever its name.',
      testedBy: [
        'a request of another namespace that names the pod is left alone',
        'a request with the label and no owner reference is not adopted',
        'requests of another controller are adopted',
        'a request without our label and owner reference is never touched',
      ],
    },
    {
      id: 'POD-07',
      text: 'Pods that selectors exclude, by their own labels or those of their namespace, are ' +
        'no demand.',
      testedBy: ['namespaces and pods that selectors exclude'],
    },
    {
      id: 'POD-08',
      text: 'A pod costs at most two writes, and a deletion when it finishes.',
      testedBy: ['of which half finish'],
    },
    {
      id: 'POD-09',
      text:
        'Only the holder of the Lease writes requests; another process takes over when it dies.',
      testedBy: ['create one request per pod between them'],
    },
    {
      id: 'POD-10',
      text:
        'Demand does not flicker while pods are recreated. A new leader sends no demand to the ' +
        'shard before all existing pods have their requests, or a minute has passed; so it is ' +
        'after an outage of the API server (WIRE-05).',
      testedBy: [
        'all of a ReplicaSet, one by one',
        'all of a ReplicaSet at once',
        'test/unit/pods/missing-requests.test.ts',
      ],
    },
    {
      id: 'POD-11',
      text:
        'Unschedulable pods get machines, and machines that no pod needs are returned, without ' +
        'manual steps.',
      testedBy: ['runs pods that fit nowhere'],
    },
  ],
};

/** Chapters of the reference page. */
export const podChapters: readonly RuleChapter[] = [pods];
