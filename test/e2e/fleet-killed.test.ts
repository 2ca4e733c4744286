/** The fleet is killed and restarts with its recorded bindings. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseJson, textAt } from '../../src/domain/json.ts';
import {
  COLLECTIONS,
  isJoined,
  nameOf,
  phaseOf,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { boundMachines, objectName, pullsAt, rollupsAt } from '../support/fleet/fleet-script.ts';
import { type FleetProcess, startFleet } from '../support/processes/fleet-process.ts';
import { type OperatorProcess, startOperator } from '../support/processes/operator-process.ts';

const MACHINES = 6;
const VANISHED = 2;
const SIGKILLED = 137;

const bindingsPath = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bindings-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'bindings');
};

const kill = async (fleet: FleetProcess): Promise<void> => {
  fleet.signal('KILL');
  expect(await fleet.exited).toBe(SIGKILLED);
};

/** Takes machines out of what the fleet has written down. */
const forget = async (path: string, ids: readonly string[]): Promise<void> => {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const kept = lines.filter((line) => !ids.includes(textAt(parseJson(line), 'id') ?? ''));
  await writeFile(path, kept.join('\n'));
};

/** The number of consecutive ends without a completed resync. */
const attempts = (operator: OperatorProcess, since: number): readonly unknown[] =>
  operator.logs().slice(since).filter(({ message }) => message === 'Session ended')
    .map(({ attempt }) => attempt);

describeWithTestbed('operator, when the fleet is killed', {}, (bed) => {
  it('wire 7: reconnects, duplicates nothing, and deletes missing machines after the replay', async () => {
    const cluster = await freshCluster(bed());
    const bindingsFile = await bindingsPath();
    const first = await startFleet({ bindingsFile, kubeconfig: bed().kubeconfigFor('fleet') });
    const operator = await startOperator({ bed: bed(), shardAddress: first.address });
    await cluster.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'wanted'));
    const before = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be Ready with its Node',
      count: MACHINES,
      each: isJoined,
    });
    const vanished = before.map(nameOf).sort().slice(0, VANISHED);
    const seen = await cluster.history(COLLECTIONS.upcomingNodes);
    const mark = operator.logs().length;

    await kill(first);
    await forget(bindingsFile, vanished.map((name) => name.slice('un-'.length)));
    await operator.untilLog((line) => line['message'] === 'Session ended', {
      what: 'that the session ended',
      since: mark,
    });
    // Nothing may change while the fleet is away.
    expect((await cluster.list(COLLECTIONS.upcomingNodes)).map(uidOf).sort())
      .toEqual(before.map(uidOf).sort());
    expect(await operator.probe('/readyz')).toBe(200);

    // Hold back acks before the operator reconnects.
    operator.signal('STOP');
    const second = await startFleet({
      bindingsFile,
      ports: first.ports,
      kubeconfig: bed().kubeconfigFor('fleet'),
      // No cycle: no machine is allocated.
      flags: { 'cycle-interval': '1h' },
    });
    await second.script('POST', '/faults', { ackRollups: false });
    operator.signal('CONT');
    // A second roll-up means that a whole stream with its replay has ended without an ack.
    await eventually(async () => (await rollupsAt(second)).length > 1, {
      what: 'two roll-ups at the fleet that came back',
    });
    expect(seen.deleted()).toEqual([]);
    const tried = attempts(operator, mark);
    expect(tried).toEqual(tried.map((_, index) => index + 1));

    await second.script('POST', '/faults', { ackRollups: true });
    const after = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'the machines that vanished to be collected',
      count: MACHINES - VANISHED,
      each: (one) => phaseOf(one) === 'Ready',
    });
    const kept = before.filter((one) => !vanished.includes(nameOf(one)));
    expect(after.map(uidOf).sort()).toEqual(kept.map(uidOf).sort());
    expect((await boundMachines(second, 'test')).map(({ id }) => objectName(id)).sort())
      .toEqual(kept.map(nameOf).sort());
    await eventually(() => seen.deleted().length === VANISHED, { what: 'the deletions' });
    expect([...seen.deleted()].sort()).toEqual(vanished);
    // Unchanged objects stayed untouched: the replay changed nothing.
    expect(kept.flatMap((one) => seen.of(nameOf(one)))).toEqual([]);

    // Every roll-up, before and after, contained the whole demand.
    const rollups = await rollupsAt(second);
    expect(new Set(rollups.map(({ rows }) => rows))).toEqual(new Set([1]));
    expect(await pullsAt(second)).toEqual([]);
    expect(await operator.metric('bigfleet_operator_session_reconnects_total'))
      .toBe(attempts(operator, mark).length);
    expect(await operator.metric('tidegate_stale_machines_total')).toBe(VANISHED);

    // The stream proved itself, so the next ending is the first of its kind again.
    const proven = operator.logs().length;
    await second.script('POST', '/sessions/end', { cluster: 'test' });
    await operator.untilLog(({ message }) => message === 'Session ended', {
      what: 'that the session ended again',
      since: proven,
    });
    expect(attempts(operator, proven)).toEqual([1]);
  });

  it('replaces missing machines, and keeps the others', async () => {
    const cluster = await freshCluster(bed());
    const bindingsFile = await bindingsPath();
    const first = await startFleet({ bindingsFile });
    await startOperator({ bed: bed(), shardAddress: first.address });
    await cluster.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'wanted'));
    const allReady = { count: MACHINES, each: (one: object) => phaseOf(one) === 'Ready' };
    const before = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be Ready',
      ...allReady,
    });
    const vanished = before.map(nameOf).sort().slice(0, VANISHED);

    await kill(first);
    await forget(bindingsFile, vanished.map((name) => name.slice('un-'.length)));
    const second = await startFleet({ bindingsFile, ports: first.ports });
    const after = await eventually(async () => {
      const bound = (await boundMachines(second, 'test')).map(({ id }) => objectName(id)).sort();
      const objects = await cluster.list(COLLECTIONS.upcomingNodes);
      const names = objects.filter(allReady.each).map(nameOf).sort();
      return bound.length === MACHINES && objects.length === MACHINES &&
        names.join() === bound.join() && objects;
    }, { what: 'as many machines as before' });
    const kept = before.filter((one) => !vanished.includes(nameOf(one))).map(uidOf);
    expect(after.map(uidOf)).toEqual(expect.arrayContaining(kept));
    expect((await pullsAt(second)).length).toBe(VANISHED);
  });
});
