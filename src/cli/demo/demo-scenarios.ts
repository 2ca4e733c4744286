/**
 * The scenarios of `tidegate demo`: the actions of people and the fleet, and the expected state of
 * the cluster.
 *
 * Promises: no scenario touches the operator; a step that exceeds its time ends the scenario with
 * its expectation.
 */
import { SURGE } from '../../domain/eviction-requests/qualified-name.ts';
import type { DemoScene } from '../../view/demo-scene.ts';
import { INTERCEPTORS } from './demo-interceptors.ts';
import { MAINTENANCE_SCENARIO } from './demo-maintenance.ts';
import { OFFLINE_SCENARIO } from './demo-offline.ts';
import {
  allRun,
  budget,
  create,
  type DemoScenario,
  type DemoStep,
  DEPLOYMENTS,
  FOR_A_FLEET,
} from './demo-step.ts';

const GRACE_SECONDS = 600;
const SHORT_GRACE_SECONDS = 20;
const OUTAGE_MS = 5000;

const nothingLeft = ({ pods, requests, machines }: DemoScene): boolean =>
  pods.all + requests.all + machines.length === 0;

const scale = (
  name: string,
  replicas: number,
  reached: Pick<DemoStep, 'waitsFor' | 'until' | 'lastsMs'>,
): DemoStep => ({
  announcement: ['you', `kubectl scale deployment ${name} --replicas=${replicas}`],
  act: ({ ask }) => ask('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { replicas } }),
  ...reached,
});

const phases = ({ machines }: DemoScene, phase: string): number =>
  machines.filter((machine) => machine.phase === phase).length;

/** The fullest machines, so that there is something to drain. */
const fullest = ({ machines }: DemoScene, count: number): readonly string[] =>
  machines.toSorted((left, right) => right.pods - left.pods).slice(0, count)
    .map(({ name }) => name);

const reclaim = (
  count: number,
  graceSeconds: number,
  reached: Pick<DemoStep, 'waitsFor' | 'until'>,
): DemoStep => ({
  announcement: [
    'fleet',
    `reclaims ${count} machine${count > 1 ? 's' : ''} within ${graceSeconds} s`,
  ],
  act: ({ fleet }, scene) => {
    for (const machine of fullest(scene, count)) fleet.reclaim(machine, graceSeconds);
  },
  ...reached,
});

const providerTakes = (phase: string, reached: Pick<DemoStep, 'waitsFor' | 'until'>): DemoStep => ({
  announcement: ['fleet', 'takes back the drained machines'],
  act: ({ fleet }, { machines }) => {
    for (const machine of machines) if (machine.phase === phase) fleet.returnMachine(machine.name);
  },
  ...reached,
});

const away = (what: string): DemoStep => ({
  announcement: ['fleet', what],
  act: ({ fleet }) => fleet.stop(),
  waitsFor: 'the fleet to go away',
  until: () => true,
});

/** All scenarios by name. */
export const DEMO_SCENARIOS: Readonly<Record<string, DemoScenario>> = {
  'scale-up': {
    title: 'Scale-up',
    about: 'An unschedulable Deployment brings machines, and returns them.',
    conclusion: 'Each pod got one request, the fleet sent machines for their sum, and took them ' +
      'back when they were no longer needed. No request was written by hand.',
    operatorFlags: FOR_A_FLEET,
    steps: [
      create('web', 12),
      scale('web', 0, {
        waitsFor: 'all machines to be returned',
        until: nothingLeft,
      }),
    ],
  },
  'tight-budget': {
    title: 'Reclaim under a tight budget',
    about: 'Two machines are reclaimed while a budget allows one disruption at a time.',
    conclusion:
      'The nodes emptied one after another; each eviction was sent once, when the budget ' +
      'had a slot, and the application never had fewer pods than required.',
    operatorFlags: FOR_A_FLEET,
    steps: [
      create('db', 10, { budgets: [budget('db', 1)] }),
      reclaim(2, GRACE_SECONDS, {
        waitsFor: 'both machines to be drained',
        until: (scene) => phases(scene, 'Draining') === 0 && phases(scene, 'Drained') >= 2,
      }),
      providerTakes('Drained', {
        waitsFor: 'all pods to run elsewhere',
        until: (scene) => phases(scene, 'Drained') === 0 && allRun(10)(scene),
      }),
    ],
  },
  outage: {
    title: 'A fleet outage',
    about: 'The fleet goes away while demand grows, and comes back.',
    conclusion: 'Running pods were not affected. New requests stayed Pending, because no roll-up ' +
      'was acknowledged, until the fleet was back.',
    operatorFlags: FOR_A_FLEET,
    steps: [
      create('web', 6),
      away('is gone: its process ended and its connections are cut'),
      scale('web', 12, {
        waitsFor: 'six unacknowledged requests',
        until: ({ requests }) => requests.all === 12 && requests.acknowledged === 6,
        lastsMs: OUTAGE_MS,
      }),
      {
        announcement: ['fleet', 'is back, with its bindings'],
        act: ({ fleet }) => fleet.start(),
        waitsFor: 'twelve pods to run',
        until: (scene) => allRun(12)(scene) && scene.requests.acknowledged === 12,
      },
    ],
  },
  'stuck-node': {
    title: 'A node that will not drain',
    about: 'A budget that never allows a disruption keeps three pods on a reclaimed machine.',
    conclusion:
      'The drain ended as Failed at its deadline, and reported its blocker and who can act. ' +
      'No pod was killed: the operator respects the budget.',
    operatorFlags: FOR_A_FLEET,
    steps: [
      create('db', 3, { budgets: [budget('db', 0)] }),
      reclaim(1, SHORT_GRACE_SECONDS, {
        waitsFor: 'the deadline to pass',
        until: (scene) => phases(scene, 'Failed') === 1,
      }),
    ],
  },
  interceptors: INTERCEPTORS,
  surge: {
    title: 'One replica, no gap',
    about: 'The machine of a single pod is reclaimed, and its budget allows no disruption.',
    conclusion:
      'The Deployment was raised to two replicas until the new pod was ready; only then the ' +
      'old one left, and its replicas are as before. The budget was never broken, and one pod ' +
      'was made for one that left.',
    operatorFlags: ['--roles=fleet,evictions,interceptors', '--with-pods'],
    steps: [
      create('web', 1, { budgets: [budget('web', 0)] }),
      reclaim(1, GRACE_SECONDS, {
        waitsFor: 'the surge to have a second pod',
        until: ({ pods, evictions }) =>
          pods.all === 2 && evictions.some(({ active }) => active === SURGE),
      }),
      {
        announcement: ['operator', 'waits until the replacement is ready, then the old pod leaves'],
        act: () => {},
        waitsFor: 'the machine to be drained and one replica to run',
        until: (scene) =>
          phases(scene, 'Drained') === 1 && scene.pods.running === 1 && scene.pods.all === 1,
      },
    ],
  },
  maintenance: MAINTENANCE_SCENARIO,
  offline: OFFLINE_SCENARIO,
};
