/**
 * Mutual TLS between two real processes: which identity may act for a cluster, and key pairs that
 * rotate during a session.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  clusterClient,
  COLLECTIONS,
  phaseOf,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { countDials } from '../support/fleet/dial-counter.ts';
import { sessionsAt, untilSession } from '../support/fleet/fleet-sessions.ts';
import { type Authority, newAuthority } from '../support/processes/certificates.ts';
import {
  type FleetOptions,
  type FleetProcess,
  startFleet,
} from '../support/processes/fleet-process.ts';
import {
  clusterPair,
  fleetPair,
  type KeyFiles,
  writeKeyFiles,
} from '../support/processes/key-files.ts';
import { type OperatorProcess, startOperator } from '../support/processes/operator-process.ts';
import type { LogLine } from '../support/processes/tidegate-process.ts';
import { atScale } from '../support/scale.ts';

const MACHINES = atScale({ commit: 300, release: 1000 });
/** Dials after which a loop without a pause would long have made hundreds. */
const ENDINGS = 3;

/** Ten seconds until the files are read again, ninety until the renewal, and slow machines. */
const RENEWAL_MS_MAX = 150_000;

const hasMessage = (message: string) => (line: LogLine): boolean => line.message === message;

const entries = (operator: OperatorProcess, message: string): readonly LogLine[] =>
  operator.logs().filter(hasMessage(message));

/** One authority signs fleets, another one signs operators. */
const authorities = () => ({
  fleets: newAuthority('fleets'),
  operators: newAuthority('operators'),
});

const securedFleet = async (
  fleets: Authority,
  operators: Authority | readonly Authority[],
  options: FleetOptions = {},
): Promise<FleetProcess> => {
  const { flags } = await writeKeyFiles(fleetPair(fleets), [operators].flat());
  return await startFleet({ seedMachines: 0, ...options, flags: { ...options.flags, ...flags } });
};

interface Secured {
  readonly bed: Testbed;
  readonly address: string;
  readonly keys: KeyFiles;
  /** Its lease has the same name. */
  readonly clusterId?: string;
}

const securedOperator = async (
  { bed, address, keys, clusterId = 'test' }: Secured,
): Promise<OperatorProcess> =>
  await startOperator({
    bed,
    clusterId,
    shardAddress: address,
    flags: { ...keys.flags, 'lease-name': clusterId, 'log-level': 'info' },
  });

const untilAccepted = (operator: OperatorProcess, times: number): Promise<unknown> =>
  eventually(
    () =>
      entries(operator, 'Key pair accepted; an open session is renewed with it').length === times,
    { what: `${times} key pairs to be accepted` },
  );

const untilResynced = (operator: OperatorProcess, sessions: number): Promise<unknown> =>
  eventually(() => entries(operator, 'Session resynced').length === sessions, {
    what: `${sessions} sessions to be resynced`,
  });

const refusalEvents = async (cluster: ClusterClient, lease: string): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events))
    .filter((event) =>
      textAt(event, 'reason') === 'SessionRefused' &&
      textAt(event, 'regarding', 'kind') === 'Lease' &&
      textAt(event, 'regarding', 'name') === lease
    )
    .map((event) => textAt(event, 'note') ?? '');

describeWithTestbed('operator with mTLS', { print: () => {} }, (bed) => {
  it(
    'wire 8: an operator whose certificate is not for its cluster alone dials nobody, says why, \
and goes on once it has a right one',
    async () => {
      await bed().installCrds();
      const cluster = await clusterClient(bed());
      const { fleets, operators } = authorities();
      const fleet = await securedFleet(fleets, operators);
      const counter = await countDials(fleet.ports.shard);
      const cases = [
        {
          clusterId: 'wrong',
          pair: clusterPair(operators, 'other'),
          why: 'the certificate is for "bigfleet://cluster/other", not for ' +
            '"bigfleet://cluster/wrong"',
        },
        {
          clusterId: 'two',
          pair: clusterPair(operators, 'two', 'other'),
          why: 'the certificate has 2 bigfleet URI SANs ("bigfleet://cluster/two", ' +
            '"bigfleet://cluster/other") where exactly one is allowed, "bigfleet://cluster/two"',
        },
        {
          clusterId: 'none',
          pair: clusterPair(operators),
          why: 'the certificate has no URI SAN "bigfleet://cluster/none"',
        },
      ];
      const running = await Promise.all(cases.map(async ({ clusterId, pair, why }) => {
        const keys = await writeKeyFiles(pair, [fleets]);
        const { address } = counter;
        const operator = await securedOperator({ bed: bed(), address, keys, clusterId });
        return { clusterId, why, keys, operator };
      }));
      await Promise.all(running.map(async ({ clusterId, why, keys, operator }) => {
        const { detail } = await operator.untilLog(hasMessage('Session refused'), {
          what: 'a refusal',
        });
        const sentence = `Cannot use the key pair "${keys.certificate}": ${why}`;
        expect(detail).toBe(sentence);
        expect(
          await eventually(async () => {
            const notes = await refusalEvents(cluster, clusterId);
            return notes.length > 0 ? notes : undefined;
          }, { what: 'an Event on the Lease' }),
        ).toEqual([sentence]);
        await operator.untilReady();
      }));
      expect(counter.dials()).toBe(0);

      await Promise.all(running.map(async ({ clusterId, keys, operator }) => {
        await keys.rotate(clusterPair(operators, clusterId));
        await operator.untilLog(hasMessage('Session resynced'), { what: 'that it is synced' });
        expect(entries(operator, 'Session refused')).toHaveLength(1);
      }));
      expect(counter.dials()).toBe(cases.length);
      expect((await sessionsAt(fleet)).map(({ clusterId }) => clusterId).sort())
        .toEqual(['none', 'two', 'wrong']);
    },
  );

  it(
    'wire 7: an operator dials once for each ending when one side does not know who signed the \
certificate of the other',
    async () => {
      await bed().installCrds();
      const { fleets, operators } = authorities();
      const stranger = newAuthority('a stranger');
      const fleet = await securedFleet(fleets, operators);
      const cases = [
        { clusterId: 'unknown', signer: stranger, trusted: fleets },
        { clusterId: 'distrustful', signer: operators, trusted: stranger },
      ];
      await Promise.all(cases.map(async ({ clusterId, signer, trusted }) => {
        const counter = await countDials(fleet.ports.shard);
        const keys = await writeKeyFiles(clusterPair(signer, clusterId), [trusted]);
        const { address } = counter;
        const operator = await securedOperator({ bed: bed(), address, keys, clusterId });
        await eventually(() => entries(operator, 'Session ended').length >= ENDINGS, {
          what: `${ENDINGS} endings`,
        });
        const dials = counter.dials();
        const endings = entries(operator, 'Session ended');
        expect(dials - endings.length).toBeOneOf([0, 1]);
        expect(endings.slice(0, ENDINGS).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
        for (const { detail } of endings) expect(detail).toContain('certificate');
      }));
      expect(await sessionsAt(fleet)).toEqual([]);
    },
  );

  it(
    'wire 8: an operator that the shard refuses says so once, and dials again when its key pair \
has changed',
    async () => {
      await bed().installCrds();
      const cluster = await clusterClient(bed());
      const { fleets, operators } = authorities();
      const fleet = await securedFleet(fleets, operators);
      const counter = await countDials(fleet.ports.shard);
      const keys = await writeKeyFiles(clusterPair(operators, 'refused'), [fleets]);
      const { address } = counter;
      const operator = await securedOperator({ bed: bed(), address, keys, clusterId: 'refused' });
      const { number } = await untilSession(fleet);
      await fleet.script('POST', '/sessions/end', {
        cluster: 'refused',
        status: 'PERMISSION_DENIED',
        message: 'not on the list',
      });
      const { detail } = await operator.untilLog(hasMessage('Session refused'), {
        what: 'a refusal',
      });
      expect(detail).toBe('PERMISSION_DENIED: not on the list');
      await eventually(async () => (await refusalEvents(cluster, 'refused')).length === 1, {
        what: 'an Event on the Lease',
      });
      expect(counter.dials()).toBe(1);
      await keys.rotate(clusterPair(operators, 'refused'));
      await untilSession(fleet, { after: number });
      expect(counter.dials()).toBe(2);
      expect(entries(operator, 'Session refused')).toHaveLength(1);
    },
  );

  it(
    'wire 8: an operator whose key pair is rotated under load renews its session with the new one, \
and loses nothing',
    async () => {
      await bed().installCrds();
      const cluster = await clusterClient(bed());
      const { fleets, operators } = authorities();
      const successors = newAuthority('operators, from now on');
      const folder = await mkdtemp(join(tmpdir(), 'tidegate-fleet-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const bindingsFile = join(folder, 'bindings.json');
      const before = await securedFleet(fleets, [operators, successors], { bindingsFile });
      const keys = await writeKeyFiles(clusterPair(operators, 'test'), [fleets]);
      const operator = await securedOperator({ bed: bed(), address: before.address, keys });
      await cluster.create(COLLECTIONS.requests, wantedMachines(20, 'rotating'));
      const session = await untilSession(before);
      const mass = (state: string) =>
        before.script('POST', '/mass', { cluster: 'test', count: MACHINES, states: [state] });

      await mass('CONFIGURING');
      await keys.rotate(clusterPair(successors, 'test'));
      await mass('CONFIGURED');
      await untilAccepted(operator, 2);
      const { rollupAcks } = await untilSession(before);
      await untilSession(before, { rollups: rollupAcks + 2 });
      const draining = await mass('DRAINING').then(() =>
        untilAll(cluster, COLLECTIONS.upcomingNodes, {
          what: 'every machine to be Draining',
          count: MACHINES,
          each: (one) => phaseOf(one) === 'Draining',
        })
      );
      await operator.untilLog(hasMessage('Session closed to dial with the new key pair'), {
        what: 'a renewed session',
        timeoutMs: RENEWAL_MS_MAX,
      });
      await untilSession(before, { after: session.number });
      await untilResynced(operator, 2);
      expect(await sessionsAt(before)).toHaveLength(1);
      expect(entries(operator, 'Session ended')).toEqual([]);

      await before.stop();
      // A certificate of the old authority would be refused here.
      const after = await securedFleet(fleets, successors, { bindingsFile, ports: before.ports });
      await untilSession(after);
      await untilResynced(operator, 3);
      expect((await cluster.list(COLLECTIONS.upcomingNodes)).map(uidOf).sort())
        .toEqual(draining.map(uidOf).sort());
    },
  );

  it(
    'wire 8: an operator goes on with the pair before while a rotation is half-written, and says \
so once',
    async () => {
      await bed().installCrds();
      const { fleets, operators } = authorities();
      const fleet = await securedFleet(fleets, operators);
      const keys = await writeKeyFiles(clusterPair(operators, 'test'), [fleets]);
      const operator = await securedOperator({ bed: bed(), address: fleet.address, keys });
      const kept = 'Key files rejected; the previous pair stays in use';
      const untilKept = (times: number) =>
        eventually(() => entries(operator, kept).length === times, {
          what: `${times} bad rotations`,
        });
      const first = await untilSession(fleet);

      const next = clusterPair(operators, 'test');
      await writeFile(keys.key, '');
      await untilKept(1);
      expect(await untilSession(fleet)).toMatchObject({ number: first.number });
      await fleet.script('POST', '/sessions/end', { cluster: 'test' });
      const second = await untilSession(fleet, { after: first.number });

      await writeFile(keys.certificate, next.certificate.slice(0, next.certificate.length / 2));
      await untilKept(2);
      await fleet.script('POST', '/sessions/end', { cluster: 'test' });
      const third = await untilSession(fleet, { after: second.number });

      await keys.rotate(next);
      await untilAccepted(operator, 2);
      expect(await untilSession(fleet)).toMatchObject({ number: third.number });
      expect(entries(operator, kept).map(({ problem }) => problem)).toEqual([
        `Cannot use the key pair "${keys.certificate}": the key file contains no PEM private key`,
        `Cannot use the key pair "${keys.certificate}": the certificate file contains no PEM ` +
        'certificate',
      ]);
      expect(entries(operator, 'Session refused')).toEqual([]);
    },
  );
});
