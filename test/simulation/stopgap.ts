/** Kinds that the embedded cluster does not serve yet. */
import { specAlone } from '../../src/embedded/cluster/generations.ts';
import { type Kind, kindNames } from '../../src/embedded/cluster/kind.ts';
import type { Cluster } from '../../src/embedded/cluster/cluster.ts';

const bare = (
  group: string,
  kind: string,
  rest: { plural: string; namespaced: boolean; version: string; status: boolean },
): Kind => ({
  ...kindNames(group, kind, {
    namespaced: rest.namespaced,
    plural: rest.plural,
    version: rest.version,
  }),
  resource: `${rest.plural}.${group}`,
  custom: true,
  status: rest.status ? 'spec' : undefined,
  unconditionalUpdate: true,
  generationOf: specAlone,
});

/** Adds them. */
export const addMissing = ({ kinds }: Cluster): void => {
  const fleet = { version: 'v1alpha1', status: true };
  const plain = { version: 'v1', status: false };
  for (
    const kind of [
      bare('bigfleet.lucy.sh', 'CapacityRequest', {
        ...fleet,
        plural: 'capacityrequests',
        namespaced: true,
      }),
      bare('bigfleet.lucy.sh', 'UpcomingNode', {
        ...fleet,
        plural: 'upcomingnodes',
        namespaced: false,
      }),
      bare('bigfleet.lucy.sh', 'AvailableCapacity', {
        ...fleet,
        plural: 'availablecapacities',
        namespaced: false,
      }),
      bare('coordination.k8s.io', 'Lease', { ...plain, plural: 'leases', namespaced: true }),
      bare('scheduling.k8s.io', 'PriorityClass', {
        ...plain,
        plural: 'priorityclasses',
        namespaced: false,
      }),
      bare('storage.k8s.io', 'VolumeAttachment', {
        ...plain,
        plural: 'volumeattachments',
        namespaced: false,
      }),
    ]
  ) if (kinds.find(kind.group, kind.version, kind.plural) === undefined) kinds.add(kind);
};

/** Answers `/version` while the cluster does not. */
export const withVersion = (answer: Cluster['answer']): Cluster['answer'] => (request) => {
  const response = answer(request);
  if (request.path !== '/version' || response._tag !== 'Answer' || response.status < 300) {
    return response;
  }
  const body = { major: '1', minor: '36', gitVersion: 'v1.36.3' };
  return { _tag: 'Answer', status: 200, headers: {}, body };
};
