/**
 * Tests on clusters that run before a release only: `npm test` tries the same elsewhere.
 *
 * A real control plane adds nothing to them that `npm test` does not try there with another test:
 * a drain under its controllers, a kill, a stop, an outage and a lost lease.
 */

/**
 * Their scenarios of `test/simulation/scenarios` run on simulated time in each `npm test`, with the
 * same assertions.
 */
export const SIMULATED_AS_WELL: Readonly<Record<string, readonly string[]>> = {
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
  'test/e2e/two-operators.test.ts': ['two-operators-suspended'],
  'test/e2e/two-operators-ended.test.ts': ['two-operators-stopped', 'two-operators-killed'],
  'test/e2e/unseen-changes.test.ts': ['unseen-changes'],
};

/** What `npm test` has in their place. */
const TRIED_ELSEWHERE: Readonly<Record<string, string>> = {
  'test/e2e/burst.test.ts': 'a burst of a hundred machines: test/integration/machines.test.ts',
  'test/e2e/drain-many-nodes.test.ts':
    'six nodes under shared budgets: test/integration/evictions.test.ts; many in the simulations',
  'test/e2e/drain-one-replica-crowd.test.ts': 'a single one: test/e2e/drain-surge.test.ts',
  'test/e2e/drain-reported.test.ts':
    'a plan and a status of each blocker: test/unit/drain, test/integration/drain-commands.test.ts',
  'test/e2e/drain-without-room.test.ts':
    'test/unit/interceptor/surge-blocked.test.ts, and with room test/e2e/drain-surge.test.ts',
  'test/e2e/many-eviction-requests.test.ts':
    'fewer, and all of their lives: test/unit/eviction-requests/crowd.test.ts',
  'test/e2e/node-offline.test.ts':
    'nodes that go offline in all simulations; a real kubelet: test/e2e/node-not-stopping.test.ts',
  'test/integration/demo-real.test.ts':
    'the demo: test/e2e/demo.test.ts; each of its stories on the real control plane by itself',
  'test/e2e/playground.test.ts': 'its machines and sandbox: test/unit/playground',
  'test/integration/kubernetes-fields.test.ts':
    'generated from the API server of a release: test/contract has cases of each kind',
  'test/integration/release.test.ts': 'the package in it: test/integration/package.test.ts',
  'test/integration/terminal.test.ts':
    'what commands print: test/unit/cli; the end of a demo: test/e2e/demo.test.ts',
  'test/integration/testbed.test.ts': 'every suite on a test bed',
  'test/integration/traces.test.ts': 'spans: test/unit/observability/otlp-tracing.test.ts',
};

/** The files, from the root. */
export const RELEASE_ONLY: readonly string[] = [
  ...Object.keys(SIMULATED_AS_WELL),
  ...Object.keys(TRIED_ELSEWHERE),
];
