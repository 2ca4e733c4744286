/** Mutual TLS between two real processes: key pairs that rotate during a session. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  clusterClient,
  COLLECTIONS,
  phaseOf,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { sessionsAt, untilSession } from '../support/fleet/fleet-sessions.ts';
import {
  authorities,
  entries,
  securedFleet,
  securedOperator,
  untilEntries,
} from '../support/fleet/secured-session.ts';
import { newAuthority } from '../support/processes/certificates.ts';
import { clusterPair, writeKeyFiles } from '../support/processes/key-files.ts';
import type { OperatorProcess } from '../support/processes/operator-process.ts';
import { atScale } from '../support/scale.ts';

const MACHINES = atScale({ commit: 100, release: 1000 });

const RENEWAL_DELAY_MS = 3000;
/** Timers and the clock of the log may differ by this. */
const TICK_MS = 50;

const ACCEPTED = 'Key pair accepted; an open session is renewed with it';
const RESYNCED = 'Session resynced';
const RENEWED = 'Session closed to dial with the new key pair';
const KEPT = 'Key files rejected; the previous pair stays in use';

const timesOf = (operator: OperatorProcess, message: string): readonly number[] =>
  entries(operator, message).map(({ time }) => Date.parse(String(time)));

describeWithTestbed('operator whose key files change', {}, (bed) => {
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
      const operator = await securedOperator({
        bed: bed(),
        address: before.address,
        keys,
        renewalDelay: `${RENEWAL_DELAY_MS}ms`,
      });
      await cluster.create(COLLECTIONS.requests, wantedMachines(20, 'rotating'));
      const session = await untilSession(before);
      const mass = (state: string) =>
        before.script('POST', '/mass', { cluster: 'test', count: MACHINES, states: [state] });

      await mass('CONFIGURING');
      await keys.rotate(clusterPair(successors, 'test'));
      await mass('CONFIGURED');
      await untilEntries(operator, ACCEPTED, 2);
      // These frames arrive while the session is renewed, a few seconds after the acceptance.
      await mass('DRAINING');
      const draining = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
        what: 'every machine to be Draining',
        count: MACHINES,
        each: (one) => phaseOf(one) === 'Draining',
      });
      await untilEntries(operator, RENEWED, 1);
      const [, accepted] = timesOf(operator, ACCEPTED);
      const [renewed] = timesOf(operator, RENEWED);
      expect(Number(renewed) - Number(accepted)).toBeGreaterThan(RENEWAL_DELAY_MS - TICK_MS);
      await untilSession(before, { after: session.number });
      await untilEntries(operator, RESYNCED, 2);
      expect(await sessionsAt(before)).toHaveLength(1);
      expect(entries(operator, 'Session ended')).toEqual([]);

      await before.stop();
      // A certificate of the old authority would be refused here.
      const after = await securedFleet(fleets, successors, { bindingsFile, ports: before.ports });
      await untilSession(after);
      await untilEntries(operator, RESYNCED, 3);
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
      const first = await untilSession(fleet);

      const next = clusterPair(operators, 'test');
      await writeFile(keys.key, '');
      await untilEntries(operator, KEPT, 1);
      expect(await untilSession(fleet)).toMatchObject({ number: first.number });
      await fleet.script('POST', '/sessions/end', { cluster: 'test' });
      const second = await untilSession(fleet, { after: first.number });

      await writeFile(keys.certificate, next.certificate.slice(0, next.certificate.length / 2));
      await untilEntries(operator, KEPT, 2);
      await fleet.script('POST', '/sessions/end', { cluster: 'test' });
      const third = await untilSession(fleet, { after: second.number });

      expect(entries(operator, KEPT).map(({ problem }) => problem)).toEqual([
        `Cannot use the key pair "${keys.certificate}": the key file contains no PEM private key`,
        `Cannot use the key pair "${keys.certificate}": the certificate file contains no PEM ` +
        'certificate',
      ]);

      await keys.rotate(next);
      await untilEntries(operator, ACCEPTED, 2);
      await untilSession(fleet, { after: third.number });
      expect(entries(operator, 'Session ended')).toHaveLength(2);
      expect(entries(operator, 'Session refused')).toEqual([]);
    },
  );
});
