/** The tests of this package, which run without the rest of the repository. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/**/*.test.ts'], testTimeout: 180_000, pool: 'forks' },
});
