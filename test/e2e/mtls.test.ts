/** Mutual TLS between two real processes: which identity may act for a cluster. */
import { expect, it } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import { type ClusterClient, clusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { countDials } from '../support/fleet/dial-counter.ts';
import { sessionsAt, untilSession } from '../support/fleet/fleet-sessions.ts';
import {
  authorities,
  entries,
  hasMessage,
  securedFleet,
  securedOperator,
} from '../support/fleet/secured-session.ts';
import { newAuthority } from '../support/processes/certificates.ts';
import { clusterPair, writeKeyFiles } from '../support/processes/key-files.ts';

/** Dials after which a loop without a pause would long have made hundreds. */
const ENDINGS = 3;

const refusalEvents = async (cluster: ClusterClient, lease: string): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events))
    .filter((event) =>
      textAt(event, 'reason') === 'SessionRefused' &&
      textAt(event, 'regarding', 'kind') === 'Lease' &&
      textAt(event, 'regarding', 'name') === lease
    )
    .map((event) => textAt(event, 'note') ?? '');

describeWithTestbed('operator with mTLS', {}, (bed) => {
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
        ).toEqual([expect.stringContaining(sentence)]);
        await operator.untilReady();
      }));
      expect(counter.dials()).toBe(0);

      await Promise.all(running.map(async ({ clusterId, why, keys, operator }) => {
        await keys.rotate(clusterPair(operators, clusterId));
        await operator.untilLog(hasMessage('Session resynced'), { what: 'that it is synced' });
        // The new certificate beside the old key may have been read, which is another refusal.
        const refusals = entries(operator, 'Session refused')
          .filter(({ detail }) => `${detail}`.endsWith(why));
        expect(refusals).toHaveLength(1);
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
});
