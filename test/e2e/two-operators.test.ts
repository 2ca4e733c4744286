/**
 * Two operators of one cluster, when the leader is suspended: which one writes when, by the API
 * server's audit log. How a leader ends: `two-operators-ended.test.ts`.
 */
import { expect, it } from 'vitest';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { finishedBy, inBurst, SHORT_LEASE } from '../support/fleet/two-operators.ts';

describeWithTestbed('two operators, when the leader is suspended', {}, (bed) => {
  it('DR-15: a leader frozen beyond its lease stops writing and becomes the standby', async () => {
    const site = await inBurst(bed(), SHORT_LEASE);
    site.leader.signal('STOP');
    await eventually(async () => await site.holder() === 'tidegate-b', {
      what: 'the standby to take the lease',
    });
    const since = site.leader.logs().length;
    site.leader.signal('CONT');
    await site.leader.untilLog(({ message }) => message === 'Lost leadership', {
      what: 'that it lost leadership',
      since,
    });
    await finishedBy(bed(), site);
    await site.leader.untilReady();
    expect(await site.leader.stop()).toBe(0);
    expect(await site.holder()).toBe('tidegate-b');
  });
});
