import { defineConfig } from 'vitest/config';

/** One project per floor of the test pyramid; `--project unit` runs one of them. */
const floor = (name: string, testTimeout: number, parallel = true) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: 600_000,
    fileParallelism: parallel,
    pool: 'forks' as const,
  },
});

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'tidy', include: ['test/*.test.ts'], testTimeout: 60_000 },
      },
      floor('unit', 60_000),
      floor('models', 60_000),
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
      floor('integration', 120_000, false),
      floor('e2e', 600_000, false),
    ],
  },
});
