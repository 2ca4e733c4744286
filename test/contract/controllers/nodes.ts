/** Nodes that belong to one case of the controllers' contract, with pods that stay on them. */
import { expect } from 'vitest';
import { type JsonRecord, recordAt } from '../../../src/domain/json.ts';
import { budget, node, pod, workload } from '../objects.ts';
import { all, get, includes, ok, post, type Step, until } from '../steps.ts';

const OWN = { of: '{ns}' };
const SIZE = { cpu: '4', memory: '8Gi', pods: '110' };

/** The case's overrides of its node. */
export interface NodeWishes {
  readonly spec?: JsonRecord;
  readonly labels?: JsonRecord;
}

/** Creates a node, `{ns}-a`, which later reports Ready. */
export const joined = (name: string, { spec = {}, labels = {} }: NodeWishes = {}): Step =>
  all(
    post('nodes', {
      ...node(`{ns}-${name}`, { metadata: { labels: { ...OWN, ...labels } }, spec }),
      status: { capacity: SIZE, allocatable: SIZE },
    }),
    until(all(
      get(`nodes/{ns}-${name}`),
      includes('status.conditions', [expect.objectContaining({ type: 'Ready', status: 'True' })]),
    )),
  );

/** A spec whose pods go to the nodes of the case alone. */
export const atHome = (more: JsonRecord = {}): JsonRecord => ({
  ...more,
  nodeSelector: { ...OWN, ...recordAt(more, 'nodeSelector') },
});

/** A pod at home. */
export const homePod = (name: string, more: JsonRecord = {}): Step =>
  // Where pods have accounts, a new namespace gets its own some time after it was made.
  until(post('pods', pod(name, { terminationGracePeriodSeconds: 1, ...atHome(more) })));

const CONTAINERS = [{ name: 'main', image: 'none' }];

/** A workload whose pods are at home; `kind` as in `workload`. */
export const homeWorkload = (
  name: string,
  spec: JsonRecord = {},
  kind = 'Deployment',
): JsonRecord =>
  workload(name, {
    template: {
      metadata: { labels: { app: 'web' } },
      spec: atHome({ containers: CONTAINERS, terminationGracePeriodSeconds: 1 }),
    },
    ...spec,
  }, kind);

/** One node, and a Deployment on it of which so many pods are ready. */
export const running = (replicas: number): readonly Step[] => [
  joined('a'),
  post('deployments', homeWorkload('web', { replicas })),
  ready(replicas),
];

/** So many pods of the Deployment are ready. */
export const ready = (readyReplicas: number): Step =>
  until(get('deployments/web', ok({ status: { readyReplicas } })));

/** The pods of the case are so many, in the end. */
export const pods = (count: number, query = ''): Step =>
  until(all(
    get(`pods${query}`),
    get(`pods${query}`, ok({ items: Array.from({ length: count }, () => ({})) })),
  ));

/** A budget over those pods, and its expected status. */
export const budgeted = (spec: JsonRecord, status: JsonRecord): readonly Step[] => [
  post('poddisruptionbudgets', budget('b', { minAvailable: undefined, ...spec })),
  until(get('poddisruptionbudgets/b', ok({ status }))),
];
