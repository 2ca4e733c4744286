/** The policies of EvictionRequests on a real API server. */
import { textAt } from '../../../src/domain/json.ts';
import { connectCluster } from '../api/cluster-connection.ts';
import { evictionRequestPolicies } from '../api/impersonated-client.ts';
import type { Testbed } from '../api/testbed.ts';
import { eventually } from '../eventually.ts';
import { DRAIN } from './request-fixture.ts';
import { REQUESTS } from './served-requests.ts';

const NAME = '00000000-0000-4000-8000-000000000001';

const requestBy = (requesters: readonly string[]) => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'EvictionRequest',
  metadata: { name: NAME },
  spec: {
    target: { pod: { name: 'nobody', uid: NAME } },
    requesters: requesters.map((name) => ({ name })),
  },
});

/**
 * Installs the policies, and returns when the API server enforces each of them: it begins some
 * seconds after they were created, and not with all at once.
 */
export const enforcePolicies = async (bed: Testbed): Promise<void> => {
  await bed.apply(await evictionRequestPolicies());
  const { client, close } = await connectCluster(bed);
  const untilRefused = (policy: string, ask: () => ReturnType<typeof client.call>) =>
    eventually(async () => {
      const { status, body } = await ask();
      return status >= 400 && (textAt(body, 'message') ?? '').includes(policy);
    }, { what: `${policy} to be enforced`, timeoutMs: 60_000, everyMs: 250 });
  try {
    await untilRefused(
      'evictionrequests-spec',
      () => client.call('POST', `${REQUESTS}?dryRun=All`, requestBy([])),
    );
    await client.call('POST', REQUESTS, requestBy([DRAIN]));
    const status = { activeInterceptors: [DRAIN] };
    await untilRefused(
      'evictionrequests-status',
      () => client.call('PATCH', `${REQUESTS}/${NAME}/status?dryRun=All`, { status }),
    );
    await client.call('DELETE', `${REQUESTS}/${NAME}`);
  } finally {
    await close();
  }
};
