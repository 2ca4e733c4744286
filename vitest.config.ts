import { defineConfig } from 'vitest/config';

/** Suites against a test bed mostly wait for it: two of them at once are no crowd. */
const BEDS_AT_ONCE = 2;

/** The stories of whole processes are told one after the other: some fill the machine. */
const ALONE = 1;

/** One project per floor of the test pyramid; `--project unit` runs one of them. */
const floor = (name: string, testTimeout: number, order?: { group: number; workers: number }) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: 600_000,
    pool: 'forks' as const,
    ...(order === undefined
      ? {}
      : { maxWorkers: order.workers, sequence: { groupOrder: order.group } }),
  },
});

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'tidy', include: ['test/*.test.ts'], testTimeout: 60_000 },
      },
      floor('unit', 180_000),
      floor('models', 180_000),
      {
        // The same models, to try their own tests on mutants of the machines.
        test: {
          name: 'mutants',
          include: ['test/models/*.test.ts'],
          exclude: ['test/models/harness.test.ts'],
          testTimeout: 600_000,
          pool: 'forks' as const,
          provide: { purpose: 'mutants' as const },
        },
      },
      floor('integration', 120_000, { group: 1, workers: BEDS_AT_ONCE }),
      floor('e2e', 1_200_000, { group: 2, workers: ALONE }),
    ],
  },
});
