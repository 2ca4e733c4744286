/**
 * End-to-end tests whose scenario runs on simulated time as well, with the same assertions: they
 * run before a release only.
 *
 * A real control plane adds nothing to them that `npm test` does not try there with another test:
 * a drain under its controllers, a kill, a stop, an outage and a lost lease.
 */

/** The scenarios of `test/simulation/scenarios`, by test file. */
export const RELEASE_ONLY: Readonly<Record<string, readonly string[]>> = {
  'test/e2e/api-server-away-shortly.test.ts': ['api-server-away-shortly', 'slow-first-list'],
  'test/e2e/demand-removed.test.ts': ['demand-removed', 'demand-gone'],
  'test/e2e/drain-cancelled.test.ts': ['drain-cancelled'],
  'test/e2e/drain-hostile.test.ts': [
    'drain-hostile',
    'drain-namesake',
    'drain-unanswered',
    'drain-without-rights',
  ],
  'test/e2e/drain-network.test.ts': ['drain-faults', 'drain-outage', 'drain-clock-jump'],
  'test/e2e/drain-tiers.test.ts': ['drain-tiers', 'drain-twenty-nodes'],
  'test/e2e/drain-tight-budget.test.ts': [
    'drain-tight-budget',
    'drain-unready-pods',
    'drain-two-budgets',
  ],
  'test/e2e/fleet-killed.test.ts': ['fleet-killed', 'fleet-killed-replaced'],
  'test/e2e/machines-come.test.ts': ['machines-come', 'machine-bought'],
  'test/e2e/operator-killed.test.ts': ['operator-killed'],
  'test/e2e/two-operators-ended.test.ts': ['two-operators-stopped', 'two-operators-killed'],
  'test/e2e/unseen-changes.test.ts': ['unseen-changes'],
};
