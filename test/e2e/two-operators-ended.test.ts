/**
 * Two operators of one cluster, when the leader stops or is killed: which one writes when, by the
 * API server's audit log.
 */
import { expect, it } from 'vitest';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { sessionLog } from '../support/fleet/fleet-sessions.ts';
import { finishedBy, inBurst, LONG_LEASE, SHORT_LEASE } from '../support/fleet/two-operators.ts';

describeWithTestbed('two operators, when the leader gets SIGTERM', {}, (bed) => {
  it(
    'DR-15: a standby writes nothing before the leader stops, and then takes over at \
once, long before the lease runs out',
    async () => {
      const site = await inBurst(bed(), LONG_LEASE);
      expect(await site.leader.stop()).toBe(0);
      await finishedBy(bed(), site);
      // The stream of the old leader was closed before the new one opened its own.
      expect(sessionLog(site.fleet)).toEqual([
        'connected',
        'ended: The cluster closed the stream',
        'connected',
      ]);
    },
  );
});

describeWithTestbed('two operators, when the leader gets SIGKILL', {}, (bed) => {
  it(
    'DR-15: a standby takes over from a killed leader when the lease has run out, and finishes \
what was begun',
    async () => {
      const site = await inBurst(bed(), SHORT_LEASE);
      site.leader.signal('KILL');
      await site.leader.exited;
      await finishedBy(bed(), site);
    },
  );
});
