/**
 * The scenario of NodeMaintenances: ten nodes without a fleet, rebooted two at a time.
 *
 * Promises: the person says once what is to happen, and then only reboots what is drained.
 */
import { LIFECYCLE_GROUP_VERSION } from '../../domain/api-group.ts';
import { DONE_ANNOTATION } from '../../domain/node-maintenance/node-budget.ts';
import { NODE_MAINTENANCES_PATH } from '../../effects/node-maintenance.ts';
import type { DemoScene } from '../../view/demo-scene.ts';
import {
  allRun,
  budget,
  create,
  type DemoScenario,
  type DemoStep,
  joinNodes,
  nodeName,
  NODES_PATH,
} from './demo-step.ts';

const NODES = 10;
const AT_ONCE = 2;
const WAVES = NODES / AT_ONCE;
const REPLICAS = 20;
const MAINTENANCE = 'kernel';
const RACK = { 'example.com/rack': 'r1' };

/** The nodes of a wave, which are admitted in the order of their names. */
const namesOf = (wave: number): readonly string[] =>
  Array.from({ length: AT_ONCE }, (_, at) => nodeName((wave - 1) * AT_ONCE + at + 1));

/** Exactly the nodes of a wave are drained, and all others are in service. */
const isDrained = (wave: number) => ({ machines }: DemoScene): boolean => {
  const names = namesOf(wave);
  return machines.every(({ name, phase }) =>
    phase === (names.includes(name) ? 'Drained' : 'Ready')
  );
};

const drain: DemoStep = {
  announcement: ['you', `kubectl apply: NodeMaintenance ${MAINTENANCE}, drain rack r1, 2 at once`],
  act: ({ ask }) =>
    ask('POST', NODE_MAINTENANCES_PATH, {
      apiVersion: LIFECYCLE_GROUP_VERSION,
      kind: 'NodeMaintenance',
      metadata: { name: MAINTENANCE },
      spec: {
        nodeSelector: {
          nodeSelectorTerms: [{
            matchExpressions: Object.entries(RACK).map(([key, value]) => (
              { key, operator: 'In', values: [value] }
            )),
          }],
        },
        stage: 'Drain',
        maxNodesAtOnce: AT_ONCE,
        reason: 'New kernel',
      },
    }),
  waitsFor: `${namesOf(1).join(' and ')} to be drained`,
  until: isDrained(1),
};

/** What a person tells a maintenance; a kubelet would report another boot. */
const reboot = (wave: number): DemoStep => ({
  announcement: ['you', `reboot ${namesOf(wave).join(' and ')} into the new kernel`],
  act: async ({ ask }) => {
    for (const name of namesOf(wave)) {
      await ask('PATCH', `${NODES_PATH}/${name}`, {
        metadata: { annotations: { [DONE_ANNOTATION]: MAINTENANCE } },
      });
    }
  },
  ...(wave === WAVES
    ? { waitsFor: 'all nodes to be back', until: allRun(REPLICAS) }
    : { waitsFor: 'the next two nodes to be drained', until: isDrained(wave + 1) }),
});

/** One wave after another, each rebooted by the person. */
export const MAINTENANCE_SCENARIO: DemoScenario = {
  title: 'A new kernel for ten nodes',
  about: 'One object drains ten nodes two at a time; the next follow when these are back.',
  conclusion:
    'Never more than two nodes were out of service, each was empty when it rebooted, and ' +
    'the budget held. The person wrote one object, and rebooted what was drained.',
  operatorFlags: ['--roles=maintenance'],
  steps: [
    joinNodes(NODES, RACK),
    create('web', REPLICAS, { budgets: [budget('web', 4)] }),
    drain,
    ...Array.from({ length: WAVES }, (_, at) => reboot(at + 1)),
    {
      announcement: ['you', `kubectl delete nodemaintenance ${MAINTENANCE}`],
      act: ({ ask }) => ask('DELETE', `${NODE_MAINTENANCES_PATH}/${MAINTENANCE}`),
      waitsFor: 'every node to be schedulable',
      until: ({ machines }) => machines.every(({ phase }) => phase === 'Ready'),
    },
  ],
};
