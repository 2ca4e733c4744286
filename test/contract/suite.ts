/** The contract suite: every case of every area, on the cluster that it is given. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AREAS } from './areas.ts';
import type { ContractCluster, OpenWatch } from './cluster.ts';
import { DEFINED } from './definitions.ts';
import type { Run, Step } from './steps.ts';

/** Cases that belong together, by title. */
export interface Area {
  readonly title: string;
  readonly cases: Readonly<Record<string, readonly Step[]>>;
}

const CASES_MIN = 250;
const TIMEOUT_MS = 60_000;

const NOTHING = { status: 0, headers: {}, body: {} };

const runIn = (cluster: ContractCluster, namespace: string): Run => ({
  cluster,
  kept: new Map([['ns', namespace]]),
  watches: new Map<string, OpenWatch>(),
  answer: NOTHING,
});

const walk = async (run: Run, steps: readonly Step[]): Promise<void> => {
  try {
    for (const step of steps) await step(run);
  } finally {
    for (const open of run.watches.values()) open.close();
  }
};

/** Runs one case in a namespace of its own. */
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
    it.each(Object.entries(cases).map(([name, steps], index) => ({ name, steps, index })))(
      '$name',
      ({ steps, index }) => runCase(cluster(), `${slug}-${index + 1}`, steps),
      TIMEOUT_MS,
    );
  });
};

/** Defines the whole suite over a cluster that `open` starts before and `close` ends after it. */
export const contractSuite = (
  open: () => Promise<ContractCluster>,
  close: () => Promise<void> = () => Promise.resolve(),
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
  for (const area of AREAS) describeArea(area, cluster);
  it('has at least 250 cases', () => {
    const counts = AREAS.map(({ cases }) => Object.keys(cases).length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(CASES_MIN);
  });
};
