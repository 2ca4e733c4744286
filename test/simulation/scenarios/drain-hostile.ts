/**
 * Answers and pods that mean ill: each is named with its own reason, and healthy pods beside them
 * leave undisturbed.
 */
import { textAt } from '../../../src/domain/json.ts';
import type { KubeCall } from '../../../src/effects/kube-api.ts';
import { COLLECTIONS, uidOf } from '../../support/api/cluster-connection.ts';
import { failure, REFUSED, TROUBLED } from '../../support/drains/hostile-answers.ts';
import { barePod, budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import {
  drainSetting,
  evictionsOf,
  podsOf,
  reasonsOf,
  reclaimEach,
  setDrainScene,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const HEALTHY = 10;
/** Long enough for a reason to be shown, which takes 10 s. */
const GRACE_SECONDS = 60;
const LONG_GRACE_SECONDS = 3600;
/** As long as a webhook may take. */
const HANG_MS = 30_000;

const evictionOf = (name: string) => ({ path }: KubeCall): boolean =>
  path === `${DRAIN_COLLECTIONS.pods}/${name}/eviction`;

const podsOn = (stage: Stage, node: string) => podsOf(stage).filter((pod) => pod.node === node);

export const drainHostile: Scenario = {
  name: 'drain-hostile',
  shows: 'DR-42: every pod that cannot leave is named with its own reason, and the others leave',
  setting: drainSetting(8),
  play: async (stage) => {
    const names = [...Object.keys(REFUSED), ...Object.keys(TROUBLED)];
    const { machines } = await setDrainScene(stage, {
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
      stage.door.answer(evictionOf(name), answer);
    }
    for (const [name, answer] of Object.entries(TROUBLED)) {
      stage.door.answer(evictionOf(name), answer, 1);
    }
    reclaimEach(stage, machines, GRACE_SECONDS);

    stage.is('the drain fails', await untilEnded(stage, machines), { [node]: 'Failed' });
    const left = podsOn(stage, node).map(({ app }) => app).sort();
    stage.is('who is left', left, [...Object.keys(REFUSED), 'alone', 'db', 'held'].sort());
    await stage.until('its end is told', () => reasonsOf(stage, node).includes('DeadlinePassed'));
    const told = reasonsOf(stage, node);
    const wanted = [
      ...Object.values(REFUSED).map(({ reason }) => reason),
      'BlockedByBudget',
      'BudgetNeverAllows',
      'DrainStarted',
      'Finalizer',
    ];
    stage.is('no reason is missing', wanted.filter((reason) => !told.includes(reason)), []);
    const [shown] = stage.list(COLLECTIONS.upcomingNodes);
    const error = textAt(shown, 'status', 'lastError') ?? '';
    stage.is(
      'eight pods, five by name',
      /^8 pods remain: (?:[^()]+\([^)]+\),? ){5}and 3 more$/
        .test(error),
      true,
    );
  },
};

export const drainNamesake: Scenario = {
  name: 'drain-namesake',
  shows: 'DR-22: a pod of the same name that was made elsewhere is left alone',
  setting: drainSetting(9),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
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
    stage.door.hold(evictionOf('same'));
    reclaimEach(stage, scene.machines, LONG_GRACE_SECONDS);
    await stage.until('the call is under way', () => stage.door.held().length === 1);
    const old = uidOf(stage.get(path));
    stage.note('its pod goes, and another of its name is made elsewhere');
    stage.remove(path, { gracePeriodSeconds: 0 });
    stage.create(DRAIN_COLLECTIONS.pods, [barePod('same', 'spare-0')]);
    stage.door.release();

    stage.is('the drain ends', await untilEnded(stage, scene.machines), { [node]: 'Drained' });
    const namesake = podsOf(stage).find(({ name }) => name === 'same');
    stage.is('the namesake stays', [namesake?.node, namesake?.terminating], ['spare-0', false]);
    const calls = evictionsOf(stage, scene).filter(({ pod }) => pod === 'same');
    stage.is('one call, for the old one', calls.map(({ uid, code }) => [uid, code]), [[old, 409]]);
  },
};

export const drainUnanswered: Scenario = {
  name: 'drain-unanswered',
  shows: 'DR-33: a call that nobody answers holds up no other pod, and is not sent twice',
  setting: drainSetting(10),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'hanging-' },
      objects: ([node = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]],
        [DRAIN_COLLECTIONS.pods, [barePod('hangs', node)]],
      ],
      pods: HEALTHY + 1,
      spares: { count: 1 },
    });
    const [node = ''] = scene.machines;
    stage.door.hold(evictionOf('hangs'));
    reclaimEach(stage, scene.machines, LONG_GRACE_SECONDS);
    await stage.until('every other pod leaves', () => podsOn(stage, node).length === 1);
    await stage.wait(HANG_MS);
    stage.is('it is sent once', stage.door.held().length, 1);
    stage.door.release();
    stage.is('the drain ends', await untilEnded(stage, scene.machines), { [node]: 'Drained' });
    const calls = evictionsOf(stage, scene).filter(({ pod }) => pod === 'hangs');
    stage.is('one call', calls.map(({ code }) => code), [201]);
  },
};

export const drainWithoutRights: Scenario = {
  name: 'drain-without-rights',
  shows: 'a drain without the right to evict fails, and says which right is missing',
  setting: drainSetting(11),
  play: async (stage) => {
    const { machines } = await setDrainScene(stage, {
      machines: { count: 1, prefix: 'rights-' },
      objects: () => [[DRAIN_COLLECTIONS.deployments, [deployment('web', HEALTHY)]]],
      pods: HEALTHY,
      spares: { count: 1 },
    });
    const [node = ''] = machines;
    const right = 'cannot create resource "pods/eviction"';
    stage.door.answer(
      ({ path }) => path.endsWith('/eviction'),
      failure(403, {
        reason: 'Forbidden',
        message: `pods "web" is forbidden: User "tidegate" ${right} in API group "" in the ` +
          'namespace "default"',
      }),
    );
    reclaimEach(stage, machines, LONG_GRACE_SECONDS);
    stage.is('the drain fails', await untilEnded(stage, machines), { [node]: 'Failed' });
    await stage.wait(1000);
    const [shown] = stage.list(COLLECTIONS.upcomingNodes);
    const error = textAt(shown, 'status', 'lastError') ?? '';
    stage.is('the right is named', error.includes(right), true);
    stage.is('nobody has left', podsOn(stage, node).length, HEALTHY);
    stage.is('so is its Event', reasonsOf(stage, node).includes('EvictionForbidden'), true);
  },
};
