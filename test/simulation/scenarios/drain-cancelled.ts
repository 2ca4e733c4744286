/** A person uncordons a node during its drain, and after its machine returns. */
import { booleanAt } from '../../../src/domain/json.ts';
import { COLLECTIONS, phaseOf, phasesIn } from '../../support/api/cluster-connection.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { reclaimAnnotation } from '../node-annotations.ts';
import { CLUSTER } from '../simulated-process.ts';
import {
  codesOf,
  drainSiteOptions,
  evictionsOf,
  nodeAt,
  reclaimEach,
  setDrainScene,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Harness } from './harness.ts';

const PODS = 3;
const GRACE_SECONDS = 600;
const RECEIVED_MS = 5000;

const uncordon = (harness: Harness, node: string): void => {
  harness.note(`a person uncordons ${node}`);
  harness.patch(`${COLLECTIONS.nodes}/${node}`, { spec: { unschedulable: false } });
};

const untilPhase = (harness: Harness, machine: string, phase: string): Promise<boolean> =>
  harness.until(
    `${machine} is shown ${phase}`,
    () => phaseOf(harness.get(`${COLLECTIONS.upcomingNodes}/un-${machine}`)) === phase,
  );

/** The fleet reports that the machine serves again, and the operator has received it. */
const giveBack = async (harness: Harness, machine: string): Promise<void> => {
  harness.note(`the fleet returns ${machine} back`);
  harness.site.script.place(machine, { state: 'CONFIGURED', cluster: CLUSTER });
  await harness.wait(RECEIVED_MS);
};

export const drainCancelled: Scenario = {
  name: 'drain-cancelled',
  shows: 'DR-05: uncordoning cancels a drain, and DR-04: a returned machine serves again',
  siteOptions: drainSiteOptions(7, { stopMs: [500, 500] }),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
      machines: { count: 1, prefix: 'given-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('web', { minAvailable: PODS })]],
      ],
      pods: PODS,
      spares: { count: 1 },
    });
    const { machines } = scene;
    const [machine = ''] = machines;
    const annotation = () => reclaimAnnotation(nodeAt(harness, machine));
    const current = harness.following('upcomingnodes.bigfleet.lucy.sh');

    reclaimEach(harness, machines, GRACE_SECONDS);
    await untilPhase(harness, machine, 'Draining');
    await harness.until('the key is written', () => annotation()?.ended === '');
    uncordon(harness, machine);
    harness.is('cancelled', await untilEnded(harness, machines), { [machine]: 'Cancelled' });
    harness.remove(`${DRAIN_COLLECTIONS.budgets}/web`);
    await giveBack(harness, machine);
    harness.is('its key is removed', annotation(), undefined);
    await untilPhase(harness, machine, 'Ready');
    harness.is('no pod was evicted', evictionsOf(harness, scene), []);
    const schedulable = booleanAt(nodeAt(harness, machine), 'spec', 'unschedulable') !== true;
    harness.is('it is schedulable', schedulable, true);

    reclaimEach(harness, machines, GRACE_SECONDS);
    harness.is('drained now', await untilEnded(harness, machines), { [machine]: 'Drained' });
    harness.is('three are evicted', codesOf(evictionsOf(harness, scene)), { 201: PODS });
    await giveBack(harness, machine);
    const phase = phaseOf(harness.get(`${COLLECTIONS.upcomingNodes}/un-${machine}`));
    harness.is('it stays Drained while it is cordoned', [phase, annotation()?.ended], [
      'Drained',
      'Drained',
    ]);

    uncordon(harness, machine);
    await harness.until('its key goes', () => annotation() === undefined);
    await untilPhase(harness, machine, 'Ready');
    harness.is('its phases', phasesIn(current.of(`un-${machine}`)), [
      'Draining',
      'Ready',
      'Draining',
      'Drained',
      'Ready',
    ]);
  },
};
