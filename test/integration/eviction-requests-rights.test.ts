/** The role evictions with its own rights and no others. */
import { beforeAll, expect, test } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import { nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { ACTOR_B, DRAIN, IMPERATIVE } from '../support/eviction-requests/request-fixture.ts';
import { activeIn } from '../support/eviction-requests/request-reading.ts';
import {
  conditionsIn,
  createPod,
  REQUESTS,
  serveRequests,
  untilRequest,
  writers,
} from '../support/eviction-requests/served-requests.ts';
import { roleKubeconfig } from '../support/rights/role-account.ts';

describeWithTestbed('the role evictions with its own rights', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  test('serves a request from its labels to the eviction, under the policies', {
    timeout: 300_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    await cluster.clear(REQUESTS);
    const kubeconfig = await roleKubeconfig(bed(), { user: 'tidegate', roles: ['evictions'] });
    const { role } = serveRequests(bed(), { kubeconfig, ttlMs: 0 });
    expect(await role.discover?.()).toEqual({ _tag: 'Started' });
    const { request, report } = writers(bed());
    const pod = await createPod(cluster, 'with-rights', [ACTOR_B]);
    await request(pod, DRAIN);
    const asked = await untilRequest(
      { cluster, pod },
      'the first turn',
      (one) => activeIn(one) === ACTOR_B && textAt(one, 'metadata', 'labels', 'app') !== undefined,
    );
    expect(conditionsIn(asked)).toEqual([]);
    await report(pod, ACTOR_B, { completionTime: new Date().toISOString() });
    await eventually(async () => {
      const { status } = await cluster.call(
        'GET',
        `/api/v1/namespaces/default/pods/${nameOf(pod)}`,
      );
      return status === 404;
    }, { what: 'the eviction' });
    await eventually(async () => {
      const { status, body } = await cluster.call('GET', `${REQUESTS}/${uidOf(pod)}`);
      if (status !== 404) throw new Error(JSON.stringify([activeIn(body), conditionsIn(body)]));
      return true;
    }, { what: `the end of the request, past ${IMPERATIVE}` });
  });
});
