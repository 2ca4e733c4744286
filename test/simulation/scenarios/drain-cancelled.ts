/** A person who has the last word: uncordons a node in the middle, and one that is given back. */
import { booleanAt } from '../../../src/domain/json.ts';
import { COLLECTIONS, phaseOf, phasesIn } from '../../support/api/cluster-connection.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { reclaimMark } from '../node-marks.ts';
import { CLUSTER } from '../simulated-process.ts';
import {
  codesOf,
  drainSetting,
  evictionsOf,
  nodeAt,
  reclaimEach,
  setDrainScene,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const PODS = 3;
const GRACE_SECONDS = 600;
const HEARD_MS = 5000;

const uncordon = (stage: Stage, node: string): void => {
  stage.note(`a person uncordons ${node}`);
  stage.patch(`${COLLECTIONS.nodes}/${node}`, { spec: { unschedulable: false } });
};

const untilPhase = (stage: Stage, machine: string, phase: string): Promise<boolean> =>
  stage.until(
    `${machine} is shown ${phase}`,
    () => phaseOf(stage.get(`${COLLECTIONS.upcomingNodes}/un-${machine}`)) === phase,
  );

/** The fleet says that the machine serves again, and the operator has heard it. */
const giveBack = async (stage: Stage, machine: string): Promise<void> => {
  stage.note(`the fleet gives ${machine} back`);
  stage.site.script.place(machine, { state: 'CONFIGURED', cluster: CLUSTER });
  await stage.wait(HEARD_MS);
};

export const drainCancelled: Scenario = {
  name: 'drain-cancelled',
  shows: 'DR-05: uncordoning cancels a drain, and DR-04: who is given back serves again',
  setting: drainSetting(7, { stopMs: [500, 500] }),
  play: async (stage) => {
    const scene = await setDrainScene(stage, {
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
    const mark = () => reclaimMark(nodeAt(stage, machine));
    const shown = stage.following('upcomingnodes.bigfleet.lucy.sh');

    reclaimEach(stage, machines, GRACE_SECONDS);
    await untilPhase(stage, machine, 'Draining');
    await stage.until('the key stands', () => mark()?.ended === '');
    uncordon(stage, machine);
    stage.is('cancelled', await untilEnded(stage, machines), { [machine]: 'Cancelled' });
    stage.remove(`${DRAIN_COLLECTIONS.budgets}/web`);
    await giveBack(stage, machine);
    stage.is('its key has gone', mark(), undefined);
    await untilPhase(stage, machine, 'Ready');
    stage.is('nobody was asked to leave', evictionsOf(stage, scene), []);
    const schedulable = booleanAt(nodeAt(stage, machine), 'spec', 'unschedulable') !== true;
    stage.is('it is schedulable', schedulable, true);

    reclaimEach(stage, machines, GRACE_SECONDS);
    stage.is('drained now', await untilEnded(stage, machines), { [machine]: 'Drained' });
    stage.is('three are asked', codesOf(evictionsOf(stage, scene)), { 201: PODS });
    await giveBack(stage, machine);
    const phase = phaseOf(stage.get(`${COLLECTIONS.upcomingNodes}/un-${machine}`));
    stage.is('it stays Drained while it is cordoned', [phase, mark()?.ended], [
      'Drained',
      'Drained',
    ]);

    uncordon(stage, machine);
    await stage.until('its key goes', () => mark() === undefined);
    await untilPhase(stage, machine, 'Ready');
    stage.is('its phases', phasesIn(shown.of(`un-${machine}`)), [
      'Draining',
      'Ready',
      'Draining',
      'Drained',
      'Ready',
    ]);
  },
};
