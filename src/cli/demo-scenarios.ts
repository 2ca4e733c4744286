/**
 * The stories of `tidegate demo`: what people and the fleet do, and what the cluster is to show
 * then.
 *
 * Promises: nothing in a story touches the operator; a step that is not met in its time ends the
 * story, with what was waited for.
 */
import type { DemoScene } from '../view/demo-scene.ts';
import type { DemoSite } from './demo-site.ts';

/** One step. */
export interface DemoStep {
  /** Who does what, in words; a command where there is one. */
  readonly announcement: readonly [who: string, what: string];
  readonly act: (site: DemoSite, scene: DemoScene) => void | Promise<void>;
  readonly waitsFor: string;
  readonly until: (scene: DemoScene) => boolean;
  /** How long it lasts at least, so that a person can look around. */
  readonly lastsMs?: number;
}

/** A story. */
export interface DemoScenario {
  readonly title: string;
  readonly about: string;
  readonly steps: readonly DemoStep[];
  /** What the story shows, in the end. */
  readonly moral: string;
}

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
/** By their CPU no more than eight fit on a machine of the fleet; memory is never short. */
const REQUESTS = { cpu: '4', memory: '4Gi' };
const GRACE_SECONDS = 600;
const SHORT_GRACE_SECONDS = 12;
const OUTAGE_MS = 5000;

const deployment = (name: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [{
          name: 'main',
          image: `registry.example.com/${name}`,
          resources: { requests: REQUESTS },
        }],
      },
    },
  },
});

const budget = (name: string, maxUnavailable: number): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
});

const allRun = (pods: number) => ({ pods: { running, all }, machines }: DemoScene): boolean =>
  running === pods && all === pods &&
  machines.every(({ phase }) => phase === 'Ready' || phase === 'Drained' || phase === 'Failed');

const nothingLeft = ({ pods, requests, machines }: DemoScene): boolean =>
  pods.all + requests.all + machines.length === 0;

const create = (name: string, replicas: number, more: readonly object[] = []): DemoStep => ({
  announcement: ['you', `kubectl create deployment ${name} --replicas=${replicas}, 4 CPU a pod`],
  act: ({ ask }) => {
    for (const one of more) ask('POST', BUDGETS, one);
    ask('POST', DEPLOYMENTS, deployment(name, replicas));
  },
  waitsFor: `${replicas} pods to run on machines that came for them`,
  until: allRun(replicas),
});

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
    `wants ${count} machine${count > 1 ? 's' : ''} back within ${graceSeconds} s`,
  ],
  act: ({ fleet }, scene) => {
    for (const machine of fullest(scene, count)) fleet.reclaim(machine, graceSeconds);
  },
  ...reached,
});

const providerTakes = (phase: string, reached: Pick<DemoStep, 'waitsFor' | 'until'>): DemoStep => ({
  announcement: ['fleet', 'takes back what is empty'],
  act: ({ fleet }, { machines }) => {
    for (const machine of machines) if (machine.phase === phase) fleet.returnMachine(machine.name);
  },
  ...reached,
});

const away = (what: string): DemoStep => ({
  announcement: ['fleet', what],
  act: ({ fleet }) => fleet.stop(),
  waitsFor: 'the fleet to be gone',
  until: () => true,
});

/** Every story by its name. */
export const DEMO_SCENARIOS: Readonly<Record<string, DemoScenario>> = {
  'scale-up': {
    title: 'Scale-up',
    about: 'A Deployment that fits nowhere brings its machines, and gives them back.',
    moral: 'Each pod became one request, the fleet sent machines for their sum, and took them ' +
      'back when nobody wanted them. Nobody made a request by hand.',
    steps: [
      create('web', 12),
      scale('web', 0, {
        waitsFor: 'everything to go back',
        until: nothingLeft,
      }),
    ],
  },
  'tight-budget': {
    title: 'Reclaim under a tight budget',
    about: 'Two machines are wanted back while a budget lets one pod go at a time.',
    moral: 'The nodes emptied one after another; each eviction was asked once, when the budget ' +
      'had a slot, and the application never had fewer pods than it asked for.',
    steps: [
      create('db', 10, [budget('db', 1)]),
      reclaim(2, GRACE_SECONDS, {
        waitsFor: 'both machines to be empty',
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
    about: 'The fleet goes away while more is wanted, and comes back.',
    moral: 'Running pods noticed nothing. What was wanted meanwhile stayed Pending, because ' +
      'nobody had heard it, and was acknowledged when the fleet was back.',
    steps: [
      create('web', 6),
      away('is gone: its process ended, its connections are cut'),
      scale('web', 12, {
        waitsFor: 'six requests that nobody hears',
        until: ({ requests }) => requests.all === 12 && requests.acknowledged === 6,
        lastsMs: OUTAGE_MS,
      }),
      {
        announcement: ['fleet', 'is back, and remembers what is bound'],
        act: ({ fleet }) => fleet.start(),
        waitsFor: 'twelve pods to run',
        until: (scene) => allRun(12)(scene) && scene.requests.acknowledged === 12,
      },
    ],
  },
  'stuck-node': {
    title: 'A node that will not drain',
    about: 'A budget that never allows anything keeps three pods on a machine that is wanted back.',
    moral: 'The drain ended as Failed at its deadline, and said what held it up and who can act. ' +
      'No pod was killed: the budget is the word of the application.',
    steps: [
      create('db', 3, [budget('db', 0)]),
      reclaim(1, SHORT_GRACE_SECONDS, {
        waitsFor: 'the deadline to pass',
        until: (scene) => phases(scene, 'Failed') === 1,
      }),
    ],
  },
};
