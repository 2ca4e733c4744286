/** Maintenances on the embedded cluster: those that wait for each other, and what is recorded. */
import { expect, test } from 'vitest';
import { maintainedCluster } from '../support/node-maintenance/maintained-cluster.ts';

type Cluster = Awaited<ReturnType<typeof maintainedCluster>>;

/** Completes each maintenance once it is drained, as whoever made it would; the order of that. */
const completed = async (
  cluster: Cluster,
  names: readonly string[],
): Promise<readonly string[]> => {
  const done: string[] = [];
  await cluster.until(() => {
    for (const name of names) {
      if (done.includes(name) || !cluster.drained(name).startsWith('True')) continue;
      cluster.setStage(name, 'Complete');
      done.push(name);
    }
    return done.length === names.length;
  }, 'all are drained');
  return done;
};

test('NM-52: budgets crossed on two nodes end without a person, and hold', async () => {
  const cluster = await maintainedCluster(2);
  const both = ['node-1', 'node-2'];
  await cluster.run([{ name: 'x', nodes: both }, { name: 'y', nodes: both }]);
  cluster.maintain('older', { node: 'node-1', first: 'x' });
  await cluster.time.advance(1000);
  cluster.maintain('younger', { node: 'node-2', first: 'y' });
  cluster.serve();
  await cluster.until(
    () => cluster.drained('older').includes('Crossed'),
    'they wait for each other',
  );
  await cluster.until(
    () => cluster.drained('younger').includes('Crossed'),
    'both show it',
  );
  expect(cluster.drained('older')).toMatch(
    /node-1" waits for budget "default\/y": .*"node-2" of NodeMaintenance "younger"/u,
  );
  expect(cluster.drained('younger')).toMatch(
    /node-2" waits for budget "default\/x": .*"node-1" of NodeMaintenance "older"/u,
  );
  await cluster.until(() => cluster.drained('younger').includes('Yielding'), 'the younger yields');
  expect(cluster.states('younger')).toEqual(['node-2 Yielding']);
  expect(cluster.drained('younger')).toContain(
    'Yielding to NodeMaintenance "older": its node "node-1" waits for budget "default/y"',
  );
  await cluster.until(() => !cluster.isCordoned('node-2'), 'its node is released');
  expect(await completed(cluster, ['older', 'younger'])).toEqual(['older', 'younger']);
  const reasons = cluster.notes.map(({ reason }) => reason);
  expect(reasons.filter((one) => one === 'MaintenanceYielding')).toHaveLength(1);
  expect(reasons.filter((one) => one === 'MaintenanceCrossed').length).toBeGreaterThanOrEqual(2);
});

test('NM-52: budgets crossed in a circle of three nodes end without a person', async () => {
  const cluster = await maintainedCluster(3);
  await cluster.run([
    { name: 'x', nodes: ['node-1', 'node-2'] },
    { name: 'y', nodes: ['node-2', 'node-3'] },
    { name: 'z', nodes: ['node-1', 'node-3'] },
  ]);
  const names = ['a', 'b', 'c'];
  for (const [index, first] of ['x', 'y', 'z'].entries()) {
    cluster.maintain(names[index] ?? '', { node: `node-${index + 1}`, first });
    await cluster.time.advance(1000);
  }
  cluster.serve();
  await cluster.until(() => cluster.drained('c').includes('Yielding'), 'the youngest yields');
  expect(cluster.states('a').concat(cluster.states('b'))).toEqual([
    'node-1 Admitted',
    'node-2 Admitted',
  ]);
  expect([...await completed(cluster, names)].toSorted()).toEqual(names);
});

test('a maintenance that only cordons records no drain', async () => {
  const cluster = await maintainedCluster(2);
  await cluster.run([{ name: 'x', nodes: ['node-1', 'node-2'] }]);
  cluster.maintain('kernel', { node: 'node-1', first: 'x', stage: 'Cordon' });
  cluster.serve();
  const reasons = () => cluster.notes.map(({ reason }) => reason);
  await cluster.until(() => cluster.isCordoned('node-1'), 'it is cordoned');
  await cluster.time.advance(60_000);
  expect(reasons()).not.toContain('DrainStarted');
  cluster.setStage('kernel', 'Drain');
  await cluster.until(() => cluster.drained('kernel').startsWith('True'), 'it is drained');
  expect(cluster.notes.filter(({ reason }) => reason === 'DrainStarted').map(({ note }) => note))
    .toEqual([expect.stringContaining(': 1 pod to evict')]);
  cluster.setStage('kernel', 'Complete');
  await cluster.until(() => !cluster.isCordoned('node-1'), 'it is released');
});
