/** The rules of machines and custom resources. */
import type { RuleChapter } from './rule.ts';

const machines: RuleChapter = {
  title: 'Machines',
  intro: 'One UpcomingNode for each machine of the cluster, and one writer for each UpcomingNode.',
  rules: [
    {
      id: 'UPN-01',
      text:
        'Each state of a machine has its phase. Drained is shown before the object is deleted; ' +
        'an IDLE machine no longer belongs to the cluster, unless it was being created.',
      testedBy: ['wire phases:'],
    },
    {
      id: 'UPN-02',
      text: 'An UpcomingNode that was not replayed before the first acknowledged roll-up of a ' +
        'stream is stale and then deleted, whichever operator made it; never on silence, never ' +
        'before, and nothing that is not named `un-…`.',
      testedBy: ['wire resync:'],
    },
    {
      id: 'UPN-03',
      text: 'The Node of a machine is found by provider id, then by the machine’s name, then ' +
        'by label (a `node-restriction.kubernetes.io/` label outranks one that kubelets may ' +
        'write), then by the name in the entry. A provider id that is only the name of a Node ' +
        'matches nothing. `nodeRef` is set from the observed Node; one that is gone stays in it ' +
        'until the machine is to get its Node again.',
      testedBy: [
        'test/unit/domain/node-matching.test.ts',
        'upcomingNodes: is referred to once it is observed, before or after the frame',
        'upcomingNodes: is found for a reclaim by every rule',
      ],
    },
    {
      id: 'UPN-04',
      text: '`UpcomingNode` is named `un-<machine id>`, or by a hash where that is not a DNS ' +
        'name; the annotation `bigfleet.lucy.sh/machine-id` holds the id.',
      testedBy: [
        'names:',
        'upcomingNodes: a machine whose id is not a DNS label gets a hashed name',
      ],
    },
    {
      id: 'UPN-05',
      text: 'Nothing is written when nothing changed; a new machine costs two writes.',
      testedBy: [
        'upcomingNodes: a new machine costs two writes',
        'upcomingNodes: nothing is written when',
        'upcomingNodes: three transitions at once',
      ],
    },
    {
      id: 'UPN-06',
      text: 'A failed write is retried until it succeeds or a newer frame replaces it; ' +
        'every machine ends in the state of its last frame.',
      testedBy: [
        'upcomingNodes: every machine ends in the state of its last frame',
        'upcomingNodes: a lost answer does no harm',
      ],
    },
    {
      id: 'UPN-07',
      text: '`provisioningStartTime` is set once, at creation.',
      testedBy: [
        'upcomingNodes: keeps the start time until the next lifecycle of the machine',
        'upcomingNodes: first creates the object, then writes its status with the start time',
      ],
    },
    {
      id: 'UPN-08',
      text: 'One Event reports the Node’s own readiness; the phase stays the shard’s. Only the ' +
        'leader records it; the next one does so for Nodes that became Ready within two leases ' +
        'before it took over.',
      testedBy: [
        'upcomingNodes: is recorded by the leader only, and by the next one if Ready since shortly',
        'upcomingNodes: is recorded once, also after a term in which its machine was not written',
        'upcomingNodes: records its first readiness in one Event and leaves the phase to the shard',
      ],
    },
    {
      id: 'UPN-09',
      text: 'Unexpected transitions are counted and applied.',
      testedBy: ['upcomingNodes: an unexpected state change is counted and applied'],
    },
    {
      id: 'UPN-10',
      text: 'A malformed quantity or taint is left out, with one Event; it costs nothing else. A ' +
        'write that the API server refuses holds up no drain.',
      testedBy: [
        'upcomingNodes: malformed fields are left out',
        'DR-04: a refused write does not hold up',
      ],
    },
    {
      id: 'UPN-11',
      text: 'The condition `Ready` is in every status write: True in phase Ready and False in ' +
        'every other, with the phase as its reason and the last error as its message. It is no ' +
        'reason to write, except where another version left one behind that contradicts the ' +
        'phase.',
      testedBy: [
        'upcomingNodes: the condition Ready',
        'upcomingNodes: an upgrade writes no object',
        'upcomingNodes: kubectl waits for the condition Ready',
      ],
    },
    {
      id: 'AVC-01',
      text: '`AvailableCapacity` is named by the hash of its key, carries its cost, and is ' +
        'deleted when nothing is left and the confidence is none, or when no acknowledged ' +
        'roll-up has had its profile for an hour and the fleet did not report it either.',
      testedBy: ['availableCapacities:'],
    },
  ],
};

const resources: RuleChapter = {
  title: 'Custom resources',
  intro: 'Group `bigfleet.lucy.sh`, version `v1alpha1`.',
  rules: [
    {
      id: 'CRD-01',
      text: 'The manifests are generated from the schemas and accepted by the API server, with ' +
        'their scopes, short names, columns, category and status subresource.',
      testedBy: ['crd:', 'test/unit/api/resources.test.ts'],
    },
    {
      id: 'CRD-02',
      text: 'CapacityRequests can be selected by `status.phase`.',
      testedBy: ['crd selectable:'],
    },
    {
      id: 'CRD-03',
      text: 'The schemas are no stricter than the documented ones: the API server accepts what ' +
        'the shard would take, and the operator reports the rest.',
      testedBy: ['schema:', 'crd: accept what the shard takes'],
    },
  ],
};

/** Chapters of the reference page. */
export const machineChapters: readonly RuleChapter[] = [machines, resources];
