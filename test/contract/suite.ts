/** The contract suite: every case of the given areas, on the given cluster. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractCluster, OpenWatch } from './cluster.ts';
import { DEFINED } from './definitions.ts';
import type { Run, Step } from './steps.ts';

/** Cases that belong together, by title. */
export interface Area {
  readonly title: string;
  readonly cases: Readonly<Record<string, readonly Step[]>>;
}

/** Some cases start the API server again. */
const TIMEOUT_MS = 300_000;

const NOTHING = { status: 0, headers: {}, body: {} };

const runIn = (cluster: ContractCluster, namespace: string): Run => ({
  cluster,
  kept: new Map([['ns', namespace]]),
  watches: new Map<string, OpenWatch>(),
  answer: NOTHING,
  identity: {},
});

const walk = async (run: Run, steps: readonly Step[]): Promise<void> => {
  try {
    for (const step of steps) await step(run);
  } finally {
    for (const open of run.watches.values()) open.close();
  }
};

/** Runs one case in its own namespace. */
const runCase = async (
  cluster: ContractCluster,
  namespace: string,
  steps: readonly Step[],
): Promise<void> => {
  const { status, body } = await cluster.request({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  await walk(runIn(cluster, namespace), steps);
};

const describeArea = ({ title, cases }: Area, cluster: () => ContractCluster): void => {
  describe(title, () => {
    const slug = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
    for (const [index, [name, steps]] of Object.entries(cases).entries()) {
      it(name, () => runCase(cluster(), `${slug}-${index + 1}`, steps), TIMEOUT_MS);
    }
  });
};

/** The suite's cluster: what starts it before the cases, and what ends it after them. */
export interface SuiteCluster {
  readonly open: () => Promise<ContractCluster>;
  readonly close?: () => Promise<void>;
}

/** Defines the cases of these areas over one cluster. */
export const contractSuite = (
  areas: readonly Area[],
  { open, close = () => Promise.resolve() }: SuiteCluster,
): void => {
  let opened: ContractCluster | undefined;
  const cluster = (): ContractCluster => {
    if (opened === undefined) throw new Error('The cluster is there only while tests run');
    return opened;
  };
  beforeAll(async () => {
    opened = await open();
    await walk(runIn(opened, 'default'), DEFINED);
  }, 10 * TIMEOUT_MS);
  afterAll(close, TIMEOUT_MS);
  for (const area of areas) describeArea(area, cluster);
};

/** How many cases the areas have. */
export const caseCount = (areas: readonly Area[]): number =>
  areas.reduce((sum, { cases }) => sum + Object.keys(cases).length, 0);
