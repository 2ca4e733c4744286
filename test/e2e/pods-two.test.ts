/** Two `tidegate pods` of one cluster: the holder of the Lease writes, the other waits for it. */
import { expect, it } from 'vitest';
import type { JsonRecord } from '../../src/domain/json.ts';
import { targetOf, writesBy } from '../support/api/audited-writes.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { LASTING_LEASE } from '../support/processes/lasting-lease.ts';
import { PODS, startPodsRole, untilRequestsOf } from '../support/processes/pods-role.ts';

const PODS_AT_ONCE = 20;
const WRITES_PER_POD = 2;
const SIGKILLED = 137;

const podsNamed = (prefix: string): readonly JsonRecord[] =>
  Array.from({ length: PODS_AT_ONCE }, (_, index) => ({
    metadata: { name: `${prefix}-${index}` },
    spec: { containers: [{ name: 'main', image: 'image' }] },
  }));

const leads = ({ message }: { readonly message?: unknown }): boolean => message === 'Became leader';

describeWithTestbed('two processes of the pods role', {}, (bed) => {
  it('create one request per pod between them, and the second takes over when the first dies', async () => {
    const cluster = await freshCluster(bed());
    const first = await startPodsRole({ bed: bed(), flags: LASTING_LEASE });
    await first.untilLog(leads, { what: 'that it leads' });
    const second = await startPodsRole({ bed: bed(), flags: LASTING_LEASE });
    await second.untilReady();
    await cluster.create(PODS, podsNamed('before'));
    await untilRequestsOf(cluster, await cluster.list(PODS));
    expect(second.logs().filter(leads)).toEqual([]);

    first.signal('KILL');
    expect(await first.exited).toBe(SIGKILLED);
    await cluster.create(PODS, podsNamed('after'));
    await second.untilLog(leads, { what: 'that it leads', timeoutMs: 120_000 });
    await untilRequestsOf(cluster, await cluster.list(PODS));
    expect(await second.stop()).toBe(0);

    const writes = await writesBy(bed(), 'pods');
    expect(writes.filter(({ code }) => code >= 400)).toEqual([]);
    expect(new Set(writes.map(targetOf)).size).toBe(2 * PODS_AT_ONCE);
    expect(writes.length).toBe(2 * PODS_AT_ONCE * WRITES_PER_POD);
  });
});
