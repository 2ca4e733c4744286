/**
 * What a new leader takes for entries of drains that have ended, on a small cluster in memory.
 *
 * The entry of a maintenance was taken for that of a drain named "maintenance-a.nodemaintenance"
 * until its name was known, so that each new leader canceled its requests; and of two requesters
 * of one name, the second could write nothing. A process that had been cut off looked for ended
 * drains before it had the Nodes anew, and canceled the request of a drain that had begun since.
 * Entries of a maintenance that was deleted stayed after a restart, and their pods were evicted.
 */
import { first } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import {
  CORDON_PREFIX,
  type CordonEnd,
  type DrainOwner,
  printCordon,
} from '../../../src/domain/drain/cordon.ts';
import { evictionsOfTest } from '../../support/drains/eviction-test-rig.ts';

const BACKUP = 'backup.db.example.com';
const OTHER = 'other.example.com';
const OURS = 'reclaim.tidegate.dev';
const NAME = 'maintenance-a.nodemaintenance.tidegate.dev';
const OWNER = 'maintenance-0123456789ab';
const NEXT_OWNER = 'maintenance-ba9876543210';

/** The key of a drain on its Node. */
const keyOf = (owner: DrainOwner, ended: CordonEnd | null = null) => ({
  [`${CORDON_PREFIX}${owner}`]: printCordon({
    ids: ['i1'],
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: 0,
    ended,
  }),
});

/** A maintenance that drains the node `n1`; its pod `p1` registers an interceptor. */
const maintaining = async () => {
  const maintained = new MaintainedNodes();
  const made = evictionsOfTest({ mode: 'auto', maintained });
  made.cluster.addPod({ name: 'p1', node: 'n1', app: 'p1' });
  made.requests.register('p1', [BACKUP]);
  maintained.setRequester(OWNER, NAME);
  await made.ready();
  made.drainBy(OWNER)('n1');
  await made.time.advance(1000);
  const requestersNow = () => made.requests.of('p1')?.requesters;
  expect(requestersNow()).toEqual([NAME]);
  /** What the drains and the registry of maintenances do then. */
  const loseLease = (): void => {
    made.requesters.onLeadershipLost();
    made.registry.release('n1', OWNER);
    maintained.clear();
  };
  return { ...made, maintained, loseLease, requestersNow };
};

describe('the entry of a maintenance', () => {
  test('ER-85: stays at a new leader that does not know its name yet', async () => {
    const { time, requesters, loseLease, requests, requestersNow } = await maintaining();
    loseLease();
    requesters.onLeading();
    await time.advance(1000);
    expect([requestersNow(), requests.writes]).toEqual([[NAME], ['join p1']]);
  });

  test('ER-85: stays at each list of a process that knows no maintenances', async () => {
    const { cluster, requests, ready, time, drain } = evictionsOfTest({ mode: 'auto' });
    cluster.addPod({ name: 'p1', node: 'n1', app: 'p1' });
    requests.register('p1', [BACKUP]);
    await ready();
    drain('n1');
    await time.advance(1000);
    requests.change('p1', () => ({ requesters: [OURS, NAME] }));
    await time.advance(1000);
    requests.relist();
    await time.advance(1000);
    expect(requests.of('p1')?.requesters).toEqual([OURS, NAME]);
  });

  test('NM-19: leaves at a new leader that has all maintenances, and not this one', async () => {
    const rig = await maintaining();
    const { cluster, time, requesters, maintained, requests, requestersNow } = rig;
    const others = [
      'kernel.nodemaintenance.tidegate.dev',
      'kernel.nodemaintenance.example.com',
      'surge.tidegate.dev',
    ];
    requests.change('p1', () => ({ requesters: [NAME, ...others] }));
    rig.loseLease();
    requesters.onLeading();
    await time.advance(1000);
    expect(requestersNow()).toEqual([NAME, ...others]);
    maintained.setRequester(NEXT_OWNER, 'kernel.nodemaintenance.tidegate.dev');
    cluster.node('n1', 'True', keyOf(NEXT_OWNER));
    await time.advance(1000);
    maintained.setAllNamed();
    requesters.sweep();
    await time.advance(1000);
    expect(requestersNow()).toEqual(others);
  });

  test('NM-19: comes again when its maintenance turns up after all', async () => {
    const { time, requesters, maintained, drainBy, loseLease, requestersNow } = await maintaining();
    loseLease();
    maintained.setAllNamed();
    requesters.onLeading();
    await time.advance(1000);
    expect(requestersNow()).toEqual([]);
    maintained.setRequester(OWNER, NAME);
    drainBy(OWNER)('n1');
    await time.advance(1000);
    expect(requestersNow()).toEqual([NAME]);
  });

  test('ER-75: comes again for the next maintenance of that name', async () => {
    const { time, registry, maintained, drainBy, requestersNow } = await maintaining();
    registry.release('n1', OWNER);
    await time.advance(1000);
    expect(requestersNow(), 'until the request is canceled').toEqual([]);
    maintained.setRequester(NEXT_OWNER, NAME);
    drainBy(NEXT_OWNER)('n1');
    await time.advance(1000);
    expect(requestersNow()).toEqual([NAME]);
  });

  test('NM-19: stays until no maintenance of that name drains the pod', async () => {
    const { time, registry, maintained, drainBy, requests } = await maintaining();
    maintained.setRequester(NEXT_OWNER, NAME);
    drainBy(NEXT_OWNER)('n1');
    registry.release('n1', OWNER);
    await time.advance(1000);
    expect(requests.writes).toEqual(['join p1']);
    registry.release('n1', NEXT_OWNER);
    await time.advance(1000);
    expect(requests.writes).toEqual(['join p1', 'leave p1']);
  });

  test('ER-75: comes again when another drain begins at the moment at which one leaves', async () => {
    const { time, registry, drainBy, requests, requestersNow } = await maintaining();
    requests.change('p1', () => ({ requesters: [OTHER] }));
    const left = requests.cache.facts.pipe(first(({ _tag }) => _tag === 'Present'));
    left.subscribe(() => {
      registry.release('n1', OWNER);
      drainBy(OWNER)('n1');
    });
    await time.advance(1000);
    expect(requestersNow()).toEqual([OTHER, NAME]);
    registry.release('n1', OWNER);
    await time.advance(1000);
    expect(requestersNow(), 'it leaves with the other drain').toEqual([OTHER]);
  });
});

/** The drain of another leader, whose key this process has on the node only once it is shown. */
const cutOff = async () => {
  let current = Promise.resolve();
  const made = evictionsOfTest({ mode: 'auto', whenCurrent: () => current });
  const { cluster, requests, requesters, registry, time } = made;
  cluster.addPod({ name: 'p1', node: 'n1', app: 'p1' });
  requests.register('p1', [BACKUP]);
  await made.ready();
  made.drain('n1');
  await time.advance(1000);
  requesters.onLeadershipLost();
  registry.release('n1', 'reclaim');
  return {
    ...made,
    show: async (ended: CordonEnd | null): Promise<void> => {
      cluster.node('n1', 'True', keyOf('reclaim', ended));
      await time.advance(1000);
    },
    /** The node without the key, as a cache shows it that is behind. */
    showOld: async (): Promise<void> => {
      cluster.node('n1', 'True');
      await time.advance(1000);
    },
    /** Nodes and pods are behind until the returned function is called. */
    fallBehind: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      current = promise;
      return async (): Promise<void> => {
        current = Promise.resolve();
        resolve();
        await time.advance(1000);
      };
    },
  };
};

describe('a process that was cut off', () => {
  test('ER-85: leaves no request when it leads before its Nodes and pods are current', async () => {
    const { fallBehind, requests, requesters, time, show } = await cutOff();
    const catchUp = fallBehind();
    requesters.onLeading();
    await time.advance(1000);
    await show(null);
    await catchUp();
    expect(requests.writes).toEqual(['join p1']);
  });

  test('ER-85: leaves none when the list of requests is complete before Nodes and pods', async () => {
    const { fallBehind, requests, requesters, time, show, showOld } = await cutOff();
    await show(null);
    requesters.onLeading();
    await time.advance(1000);
    await showOld();
    const catchUp = fallBehind();
    requests.relist();
    await time.advance(1000);
    await show(null);
    await catchUp();
    expect(requests.writes).toEqual(['join p1']);
  });

  test('ER-76: leaves those of drains that have ended once it is current', async () => {
    const { fallBehind, requests, requesters, show } = await cutOff();
    const catchUp = fallBehind();
    requesters.onLeading();
    await show('Drained');
    expect(requests.writes).toEqual(['join p1']);
    await catchUp();
    expect(requests.writes).toEqual(['join p1', 'leave p1']);
  });

  test('ER-85: that leads again waits for Nodes and pods anew', async () => {
    const { fallBehind, requests, requesters, time, show } = await cutOff();
    const first = fallBehind();
    requesters.onLeading();
    requesters.onLeadershipLost();
    const second = fallBehind();
    requesters.onLeading();
    await first();
    expect(requests.writes).toEqual(['join p1']);
    await show(null);
    await second();
    await time.advance(1000);
    expect(requests.writes).toEqual(['join p1']);
  });

  test.each(['onLeadershipLost', 'stop'] as const)(
    'ER-85: leaves no request after %s, although it is current then',
    async (end) => {
      const { fallBehind, requests, requesters } = await cutOff();
      const catchUp = fallBehind();
      requesters.onLeading();
      await requesters[end]();
      await catchUp();
      expect(requests.writes).toEqual(['join p1']);
    },
  );
});
