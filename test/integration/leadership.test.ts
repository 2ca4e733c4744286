/** Two candidates for one Lease of a real API server. */
import { afterEach, expect, it } from 'vitest';
import { type Leadership, startLeadership } from '../../src/actors/leadership.ts';
import { parseJson, textAt, valueAt } from '../../src/domain/json.ts';
import type { LeaseTimes } from '../../src/domain/lease.ts';
import { stateText } from '../../src/domain/state-value.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { type Inspector, inspectWith } from '../../src/observability/inspector.ts';
import { type CuttableProxy, cuttableProxy } from '../support/api/cuttable-proxy.ts';
import { LEASE_TIMES } from '../support/api/lease-times.ts';
import { type LiveEnvironment, liveEnvironment } from '../support/api/live-environment.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

/** Quick enough for a test; still in the proportions of the defaults. */
const QUICK: LeaseTimes = { leaseMs: 3000, renewMs: 2000, retryMs: 400 };
/** Longer than an API server takes to restart on a busy machine. */
const LASTING: LeaseTimes = { leaseMs: 90_000, renewMs: 60_000, retryMs: 2000 };
/** Half of it is enough for new connections on a busy machine. */
const CALM: LeaseTimes = { leaseMs: 24_000, renewMs: 18_000, retryMs: 1000 };

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Candidate {
  readonly identity: string;
  readonly leadership: Leadership;
  readonly proxy: CuttableProxy;
  readonly live: LiveEnvironment;
}

const candidate = async (
  bed: Testbed,
  lease: string,
  { identity, times }: { readonly identity: string; readonly times: LeaseTimes },
): Promise<Candidate> => {
  const proxy = await cuttableProxy(bed);
  cleanups.push(proxy.stop);
  const live = liveEnvironment(proxy.source);
  cleanups.push(live.dispose);
  const options = { identity, namespace: 'default', name: lease, ...times };
  const leadership = startLeadership(live.environment, options);
  cleanups.push(() => leadership.actor?.stop());
  return { identity, leadership, proxy, live };
};

const leads = ({ identity, leadership }: Candidate): Promise<boolean> =>
  eventually(() => leadership.leads(), { what: `${identity} to lead`, everyMs: 10 });

const leaseOf = async (bed: Testbed, lease: string): Promise<unknown> => {
  const { stdout } = await bed.kubectl('get', 'lease', lease, '-o', 'json');
  return valueAt(parseJson(stdout), 'spec');
};

const renewedMs = async (bed: Testbed, lease: string): Promise<number> =>
  Date.parse(textAt(await leaseOf(bed, lease), 'renewTime') ?? '');

const standsBy = ({ identity, leadership }: Candidate): Promise<boolean> =>
  eventually(() => leadership.actor?.getSnapshot().matches('standby'), {
    what: `${identity} to stand by`,
    everyMs: 10,
  });

/** Each state from now on, with the event that led to it. */
const movesOf = ({ leadership: { actor } }: Candidate): readonly string[] => {
  const moves: string[] = [];
  const look: Inspector = ({ event, snapshot }) => {
    if ('value' in snapshot) moves.push(`${stateText(snapshot.value)} by ${event.type}`);
  };
  const inspection = actor?.system.inspect(inspectWith(() => {}, [look]));
  cleanups.push(() => inspection?.unsubscribe());
  return moves;
};

describeWithTestbed('leadership on a real API server', {}, (bed) => {
  it('has one holder; a release transfers it at once', async () => {
    const one = await candidate(bed(), 'handed', { identity: 'one', times: LEASE_TIMES });
    await leads(one);
    const two = await candidate(bed(), 'handed', { identity: 'two', times: LEASE_TIMES });
    await standsBy(two);
    const moves = movesOf(two);
    await one.leadership.release();
    await leads(two);
    // Checked without waiting: the lease would run for a quarter of a minute.
    expect(moves.find((move) => move.startsWith('acquiring'))).toBe('acquiring by lease.observed');
    expect(await leaseOf(bed(), 'handed')).toMatchObject({
      holderIdentity: 'two',
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
    });
    expect((await two.leadership.leaseSeen).uid).not.toBe('');
  });

  it('is acquired by the standby when the leader is cut off, and never held by two', async () => {
    const one = await candidate(bed(), 'cut', { identity: 'one', times: QUICK });
    await leads(one);
    const two = await candidate(bed(), 'cut', { identity: 'two', times: QUICK });
    await standsBy(two);
    let both = false;
    const watch = lookOften(() => {
      both ||= one.leadership.leads() && two.leadership.leads();
    });
    cleanups.push(watch);
    one.proxy.cut();
    await leads(two);
    expect(one.leadership.leads()).toBe(false);
    expect(both).toBe(false);
    one.proxy.mend();
    // On a busy machine, one may lead again.
    await eventually(() => one.leadership.leads() !== two.leadership.leads(), {
      what: 'one of them to lead',
    });
    expect(both).toBe(false);
  });

  it('is kept when the leader’s connections go half-open: it makes new ones in time', async () => {
    const one = await candidate(bed(), 'frozen', { identity: 'one', times: CALM });
    await leads(one);
    const published: boolean[] = [];
    one.leadership.leading.subscribe((leading) => published.push(leading));
    const frozenMs = await renewedMs(bed(), 'frozen');
    one.proxy.freeze();
    await eventually(async () => await renewedMs(bed(), 'frozen') > frozenMs + CALM.leaseMs, {
      what: 'renewals for longer than the lease runs',
      timeoutMs: 120_000,
    });
    expect(published).toEqual([true]);
  });

  it('is taken over when requests of the leader get no answer', async () => {
    const one = await candidate(bed(), 'swallowed', { identity: 'one', times: QUICK });
    await leads(one);
    const two = await candidate(bed(), 'swallowed', { identity: 'two', times: QUICK });
    await standsBy(two);
    one.proxy.swallow();
    await leads(two);
    expect(one.live.gate.permit()._tag).toBe('Closed');
  });

  it('is kept during a restart of the API server that is shorter than the lease', async () => {
    const one = await candidate(bed(), 'kept', { identity: 'one', times: LASTING });
    const published: boolean[] = [];
    one.leadership.leading.subscribe((leading) => published.push(leading));
    await leads(one);
    const before = textAt(await leaseOf(bed(), 'kept'), 'renewTime');
    await bed().stopApiServer();
    await bed().startApiServer();
    await eventually(
      async () => textAt(await leaseOf(bed(), 'kept'), 'renewTime') !== before,
      { what: 'a renewal' },
    );
    expect(published.filter((leading) => !leading).length).toBeLessThanOrEqual(1);
    expect(one.leadership.leads()).toBe(true);
  });

  it('is created again when it was deleted', async () => {
    const one = await candidate(bed(), 'deleted', { identity: 'one', times: QUICK });
    await leads(one);
    await bed().kubectl('delete', 'lease', 'deleted');
    await eventually(
      async () => textAt(await leaseOf(bed(), 'deleted'), 'holderIdentity') === 'one',
      { what: 'a new Lease' },
    );
    await leads(one);
  });
});

/** Looks every few milliseconds; gives the function that ends it. */
function lookOften(look: () => void): () => void {
  let cancel = (): void => {};
  const again = (): void => {
    look();
    cancel = realTime.schedule(5, again);
  };
  again();
  return () => cancel();
}
