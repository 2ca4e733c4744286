/**
 * The order of test files: the longest first, so that none of them is left to run alone at the end.
 *
 * A fresh checkout has no times of earlier runs, so the longest are named here; `npm test` prints
 * the ten slowest files.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'test/integration/contract.test.ts',
  'test/integration/documented-commands.test.ts',
  'test/integration/terminal.test.ts',
  'test/e2e/drain-killed.test.ts',
  'test/e2e/node-offline.test.ts',
  'test/e2e/drain-without-room.test.ts',
  'test/integration/eviction-request-lifecycle.test.ts',
  'test/e2e/drain-stopped.test.ts',
  'test/integration/native-evictions.test.ts',
  'test/e2e/drain-reported.test.ts',
  'test/e2e/drain-surge.test.ts',
  'test/integration/secrets.test.ts',
  'test/e2e/node-not-stopping.test.ts',
  'test/e2e/demo.test.ts',
  'test/e2e/api-server-away.test.ts',
  'test/e2e/drain-board.test.ts',
  'test/e2e/live-page.test.ts',
  'test/integration/chart.test.ts',
  'test/integration/dashboard.test.ts',
  'test/e2e/mtls.test.ts',
  'test/e2e/stop.test.ts',
  'test/e2e/two-operators.test.ts',
  'test/e2e/drain-network.test.ts',
  'test/e2e/drain-hostile.test.ts',
  'test/e2e/drain-tight-budget.test.ts',
  'test/e2e/drain-tiers.test.ts',
  'test/models/node-drain.test.ts',
  'test/unit/simulation/worlds.test.ts',
  'test/unit/simulation/scenarios.test.ts',
  'test/models/eviction-request.test.ts',
  'test/unit/drain/evictions-simulation.test.ts',
  'test/unit/eviction-requests/crowd.test.ts',
  'test/models/node-maintenance.test.ts',
  'test/models/upcoming-node.test.ts',
];

const rank = (file: string): number => {
  const place = LONGEST.indexOf(file);
  return place < 0 ? LONGEST.length : place;
};

/** A worker, with the test bed in it, goes on with the next file of the same project only. */
const byProject = (one: TestSpecification, other: TestSpecification): number =>
  one.project.name.localeCompare(other.project.name);

const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      rank(relative(this.ctx.config.root, moduleId));
    return (await super.sort(files)).toSorted((a, b) =>
      groupOf(a) - groupOf(b) || byProject(a, b) || rankOf(a) - rankOf(b)
    );
  }
}
