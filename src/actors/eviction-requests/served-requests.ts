/** Whether a role that needs EvictionRequests may start. */
import { LIFECYCLE_GROUP } from '../../domain/api-group.ts';
import type { EvictionsApi } from '../../domain/native-evictions/evictions-api.ts';
import { NATIVE_GROUP } from '../../domain/native-evictions/objects.ts';
import type { RoleName } from '../../domain/operator-roles.ts';
import { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type RoleStart, STARTED } from '../role.ts';

/** Without the kind, the role would wait for its list forever. */
export const notServed = (role: RoleName, api: EvictionsApi = 'tidegate'): string => {
  const missing = `Cannot start the role ${role}: the API server does not serve `;
  if (api === 'native') {
    return `${missing}evictionrequests and evictions of ${NATIVE_GROUP}; enable them, or set ` +
      '--eviction-request-api=auto';
  }
  return `${missing}evictionrequests.${LIFECYCLE_GROUP}; install its CRD with "kubectl apply ` +
    '--server-side -f charts/tidegate/files/crds", or leave the role out of --roles';
};

/** Refuses where the API server does not serve our own. */
export const startWhereServed = async (
  { runtime }: Pick<ActorEnvironment<EvictionRequests>, 'runtime'>,
  role: RoleName,
): Promise<RoleStart> => {
  const areServed = await runtime.runPromise(EvictionRequests.use((service) => service.areServed));
  return areServed ? STARTED : { _tag: 'Refused', problem: notServed(role) };
};
