/**
 * The scenario of a node that fails: four nodes without a fleet, one of which stops answering and
 * comes back.
 *
 * Promises: only the kubelet is touched; what becomes of the pods is the operator's work.
 */
import { textAt } from '../../domain/json.ts';
import type { DemoScene } from '../../view/demo-scene.ts';
import type { DemoSite } from './demo-site.ts';
import { allRun, create, createStateful, type DemoScenario, joinNodes } from './demo-step.ts';

const NODES = 4;
const REPLICAS = 8;
const DATABASES = 2;
const ALL = REPLICAS + DATABASES;
const PODS_PATH = '/api/v1/namespaces/default/pods';
const DATABASE = 'db-0';
/** Long enough to be read. */
const LOOK_MS = 6000;

const nodeOfDatabase = ({ list }: DemoSite): string => {
  const pod = list(PODS_PATH).find((one) => textAt(one, 'metadata', 'name') === DATABASE);
  return textAt(pod, 'spec', 'nodeName') ?? '';
};

const isOffline = ({ machines }: DemoScene): boolean =>
  machines.some(({ phase }) => phase === 'Offline');

/** A node with stateless pods and a stateful one. */
export const OFFLINE_SCENARIO: DemoScenario = {
  title: 'A node that stops answering',
  about: 'One of four nodes goes silent: its stateless pods move, its database waits, it is back.',
  conclusion: 'The web pods of the node were replaced elsewhere, without a person. ' +
    `${DATABASE} stayed where it was and said why: the silent machine may still write to its ` +
    'volume. When the node was back, nothing of its failure was left.',
  operatorFlags: ['--roles=availability', '--offline-after=30s'],
  steps: [
    joinNodes(NODES),
    create('web', REPLICAS),
    createStateful('db', DATABASES, allRun(ALL)),
    {
      announcement: ['you', `cut the node of ${DATABASE} off from the network`],
      act: (site) => site.silence(nodeOfDatabase(site), true),
      waitsFor: 'the web pods to run elsewhere',
      until: (scene) => isOffline(scene) && scene.pods.running >= REPLICAS + 1,
    },
    {
      announcement: ['operator', `leaves ${DATABASE} on its node, and shows why`],
      act: () => {},
      waitsFor: 'the Event of its pod',
      until: ({ timeline }) => timeline.some(({ reason }) => reason === 'VolumeHomeNodeOffline'),
      lastsMs: LOOK_MS,
    },
    {
      announcement: ['you', `plug the node of ${DATABASE} in again`],
      act: (site) => site.silence(nodeOfDatabase(site), false),
      waitsFor: 'the node to be back, and all pods to run',
      until: allRun(ALL),
    },
  ],
};
