/**
 * The bootstrap data of a new machine: from a template that is valid, invalid, changed, or fails
 * for one machine.
 */
import { expect, it } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import { COLLECTIONS, phaseOf, untilAll } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { pullsAt, type PullSeen } from '../support/fleet/fleet-script.ts';
import { type FleetProcess, startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { replaceFile } from '../support/processes/replaced-file.ts';
import { templateFile } from '../support/templates/template-file.ts';

const FAILURE = 1;

/** Requests a blob and waits for the response. */
const pulled = async (fleet: FleetProcess): Promise<PullSeen> => {
  const requestId = textAt(
    await fleet.script('POST', '/bootstrap', { cluster: 'test' }),
    'requestId',
  );
  return await eventually(
    async () => (await pullsAt(fleet)).find((one) => one.requestId === requestId),
    {
      what: 'the answer to a pull',
    },
  );
};

const untilPulled = (fleet: FleetProcess, userData: string): Promise<unknown> =>
  eventually(async () => (await pulled(fleet)).userData === userData, {
    what: `the answer ${JSON.stringify(userData)}`,
    everyMs: 500,
  });

describeWithTestbed('bootstrap template', {}, (bed) => {
  it('is refused at start-up with line and column when it is invalid', async () => {
    await freshCluster(bed());
    const operator = await startOperator({
      bed: bed(),
      shardAddress: 'localhost:1',
      flags: { 'bootstrap-template-file': await templateFile('#cloud-config\n  {{if}}\n') },
    });
    expect(await operator.exited).toBe(FAILURE);
    const logged = operator.logs().map(({ msg }) => msg).join('\n');
    expect(logged).toMatch(/Cannot use the bootstrap template ".+": line 2, column \d+: .*if/);
  });

  it('is read again when it changes, and an invalid change keeps the last valid one', async () => {
    await freshCluster(bed());
    const path = await templateFile('first {{.ClusterID}}');
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { 'bootstrap-template-file': path },
    });
    await operator.untilLog(({ message }) => message === 'Session resynced', { what: 'a session' });
    await untilPulled(fleet, 'first test');

    await replaceFile(path, 'second {{.ClusterID}}');
    await untilPulled(fleet, 'second test');
    await replaceFile(path, 'third {{.ClusterID');
    await eventually(
      async () => await operator.metric('tidegate_bootstrap_template_refused_total') === 1,
      { what: 'the refusal' },
    );
    await untilPulled(fleet, 'second test');
    await replaceFile(path, 'fourth {{.ClusterID}}');
    await untilPulled(fleet, 'fourth test');
  });

  it('that fails for a machine is answered with the error, and the machine shows it', async () => {
    const cluster = await freshCluster(bed());
    // Its need gets no other machine meanwhile.
    const fleet = await startFleet({ flags: { 'bootstrap-pause': '1h' } });
    await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: {
        'bootstrap-template-file': await templateFile('a\n{{index .Requirements 7}}'),
      },
    });
    await cluster.create(COLLECTIONS.requests, wantedMachines(1, 'wanted'));
    const [failed] = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'a machine to be Failed',
      count: 1,
      each: (one) => phaseOf(one) === 'Failed',
    });
    const [pull] = await pullsAt(fleet);
    expect(pull?.error).toMatch(/line 2, column \d+: index out of range/);
    expect(textAt(failed, 'status', 'lastError')).toBe(pull?.error);
  });
});
