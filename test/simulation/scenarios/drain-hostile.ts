/**
 * Adverse answers and pods: each blocked pod gets its own reason, and healthy pods beside them
 * leave undisturbed.
 */
import { textAt } from '../../../src/domain/json.ts';
import type { KubeCall } from '../../../src/effects/kube-api.ts';
import { COLLECTIONS, uidOf } from '../../support/api/cluster-connection.ts';
import { failure, REFUSED, TROUBLED } from '../../support/drains/hostile-answers.ts';
import { barePod, budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import {
  drainSiteOptions,
  evictionsOf,
  podsOf,
  reasonsOf,
  reclaimEach,
  setDrainScene,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Harness } from './harness.ts';

const HEALTHY = 10;
/** Long enough for a reason to be recorded, which takes 10 s. */
const GRACE_SECONDS = 60;
const LONG_GRACE_SECONDS = 3600;
/** As long as a webhook may take. */
const HANG_MS = 30_000;

const evictionOf = (name: string) => ({ path }: KubeCall): boolean =>
  path === `${DRAIN_COLLECTIONS.pods}/${name}/eviction`;

const podsOn = (harness: Harness, node: string) =>
  podsOf(harness).filter((pod) => pod.node === node);

export const drainHostile: Scenario = {
  name: 'drain-hostile',
  shows: 'DR-42: every pod that cannot leave is named with its own reason, and the others leave',
  siteOptions: drainSiteOptions(8),
  play: async (harness) => {
    const names = [...Object.keys(REFUSED), ...Object.keys(TROUBLED)];
    const { machines } = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'hostile-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY), deployment('db', 1)]],
        [DRAIN_COLLECTIONS.pods, [
          ...names.map((name) => barePod(name, node)),
          barePod('held', node, { finalizers: ['example.com/never'] }),
          barePod('alone', node),
        ]],
        [DRAIN_COLLECTIONS.budgets, [
          budget('db', { maxUnavailable: 0 }),
          budget('alone', { maxUnavailable: '50%' }),
        ]],
      ],
      pods: HEALTHY + names.length + 3,
      spares: { count: 1 },
    });
    const [node = ''] = machines;
    for (const [name, { answer }] of Object.entries(REFUSED)) {
      harness.interceptor.answer(evictionOf(name), answer);
    }
    for (const [name, answer] of Object.entries(TROUBLED)) {
      harness.interceptor.answer(evictionOf(name), answer, 1);
    }
    reclaimEach(harness, machines, GRACE_SECONDS);

    harness.is('the drain fails', await untilEnded(harness, machines), { [node]: 'Failed' });
    const left = podsOn(harness, node).map(({ app }) => app).sort();
    harness.is('the remaining pods', left, [...Object.keys(REFUSED), 'alone', 'db', 'held'].sort());
    await harness.until(
      'its end is recorded',
      () => reasonsOf(harness, node).includes('DeadlinePassed'),
    );
    const reasons = reasonsOf(harness, node);
    const wanted = [
      ...Object.values(REFUSED).map(({ reason }) => reason),
      'DeadlineUnreachable',
      'BudgetNeverAllows',
      'DrainStarted',
      'Finalizer',
    ];
    harness.is('no reason is missing', wanted.filter((reason) => !reasons.includes(reason)), []);
    const [current] = harness.list(COLLECTIONS.upcomingNodes);
    const error = textAt(current, 'status', 'lastError') ?? '';
    harness.is(
      'eight pods, five by name',
      /^8 pods remain: (?:[^()]+\([^)]+\),? ){5}and 3 more$/
        .test(error),
      true,
    );
  },
};

export const drainNamesake: Scenario = {
  name: 'drain-namesake',
  shows: 'DR-22: a pod of the same name on another node is left alone',
  siteOptions: drainSiteOptions(9),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'namesake-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]],
        [DRAIN_COLLECTIONS.pods, [barePod('same', node)]],
      ],
      pods: HEALTHY + 1,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    const path = `${DRAIN_COLLECTIONS.pods}/same`;
    harness.interceptor.hold(evictionOf('same'));
    reclaimEach(harness, scene.machines, LONG_GRACE_SECONDS);
    await harness.until('the call is in flight', () => harness.interceptor.held().length === 1);
    const old = uidOf(harness.get(path));
    harness.note('its pod is deleted, and another of its name is created elsewhere');
    harness.remove(path, { gracePeriodSeconds: 0 });
    harness.create(DRAIN_COLLECTIONS.pods, [barePod('same', 'spare-0')]);
    harness.interceptor.release();

    harness.is('the drain ends', await untilEnded(harness, scene.machines), { [node]: 'Drained' });
    const namesake = podsOf(harness).find(({ name }) => name === 'same');
    harness.is('the namesake stays', [namesake?.node, namesake?.terminating], ['spare-0', false]);
    const calls = evictionsOf(harness, scene).filter(({ pod }) => pod === 'same');
    harness.is('one call, for the old pod', calls.map(({ uid, code }) => [uid, code]), [[
      old,
      409,
    ]]);
  },
};

export const drainUnanswered: Scenario = {
  name: 'drain-unanswered',
  shows: 'DR-33: an unanswered call blocks no other pod, and is not sent twice',
  siteOptions: drainSiteOptions(10),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'hanging-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]],
        [DRAIN_COLLECTIONS.pods, [barePod('hangs', node)]],
      ],
      pods: HEALTHY + 1,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    harness.interceptor.hold(evictionOf('hangs'));
    reclaimEach(harness, scene.machines, LONG_GRACE_SECONDS);
    await harness.until('every other pod leaves', () => podsOn(harness, node).length === 1);
    await harness.wait(HANG_MS);
    harness.is('it is sent once', harness.interceptor.held().length, 1);
    harness.interceptor.release();
    harness.is('the drain ends', await untilEnded(harness, scene.machines), { [node]: 'Drained' });
    const calls = evictionsOf(harness, scene).filter(({ pod }) => pod === 'hangs');
    harness.is('one call', calls.map(({ code }) => code), [201]);
  },
};

export const drainWithoutRights: Scenario = {
  name: 'drain-without-rights',
  shows: 'a drain without permission to evict fails, and names the missing permission',
  siteOptions: drainSiteOptions(11),
  play: async (harness) => {
    const { machines } = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'rights-' },
      objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]]],
      pods: HEALTHY,
      spares: { count: 1 },
    });
    const [node = ''] = machines;
    const right = 'cannot create resource "pods/eviction"';
    harness.interceptor.answer(
      ({ path }) => path.endsWith('/eviction'),
      failure(403, {
        reason: 'Forbidden',
        message: `pods "web" is forbidden: User "tidegate" ${right} in API group "" in the ` +
          'namespace "default"',
      }),
    );
    reclaimEach(harness, machines, LONG_GRACE_SECONDS);
    harness.is('the drain fails', await untilEnded(harness, machines), { [node]: 'Failed' });
    await harness.wait(1000);
    const [current] = harness.list(COLLECTIONS.upcomingNodes);
    const error = textAt(current, 'status', 'lastError') ?? '';
    harness.is('the permission is named', error.includes(right), true);
    harness.is('no pod has left', podsOn(harness, node).length, HEALTHY);
    harness.is('so is its Event', reasonsOf(harness, node).includes('EvictionForbidden'), true);
  },
};
