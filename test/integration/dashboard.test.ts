/** Every query of the dashboard and every alert, by Prometheus, over the metrics of a real run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import { prometheus } from '../../tools/testbed/observability.ts';
import { describeWithReceivers } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { dashboardQueries } from '../support/monitoring/dashboard-queries.ts';
import { monitoredRun } from '../support/monitoring/monitored-run.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';

const BUILD_TIMEOUT_MS = 15 * 60 * 1000;
const RUN_TIMEOUT_MS = 300_000;

/** Whether a sample is a number: the quantile of a histogram without observations is none. */
const isNumber = (sample: unknown): boolean => {
  const value = valueAt(sample, 'value');
  return Array.isArray(value) && Number.isFinite(Number(value[1]));
};

describeWithReceivers('dashboard and alerts', () => {
  let program = '';
  beforeAll(async () => {
    program = await prometheus();
  }, BUILD_TIMEOUT_MS);

  test('have data and can be evaluated over the metrics of an operator', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-dashboard-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { ask, stop } = await monitoredRun({ start: startTidegate, prometheus: program, folder });
    onTestFinished(stop);
    // What was seen once need not be there later: the eviction ends, and its series with it.
    const without = new Set(dashboardQueries('30s').map(({ title }) => title));
    await eventually(async () => {
      for (const { title, expr } of dashboardQueries('30s')) {
        if (!without.has(title)) continue;
        const samples = listOrEmptyAt(await ask('query', { query: expr }), 'result');
        if (samples.some(isNumber)) without.delete(title);
      }
      return without.size === 0 || undefined;
    }, {
      what: 'every panel to have data',
      timeoutMs: 120_000,
      everyMs: 1000,
    }).catch(() => {});
    expect([...without]).toEqual([]);
    const rules = listOrEmptyAt(await ask('rules'), 'groups')
      .flatMap((group) => listOrEmptyAt(group, 'rules'));
    expect(rules.length).toBeGreaterThan(10);
    const ill = rules.filter((rule) => textAt(rule, 'health') !== 'ok');
    expect(ill.map((rule) => textAt(rule, 'name'))).toEqual([]);
    // The run has no TLS, and this alert says so.
    const active = rules.filter((rule) => textAt(rule, 'state') !== 'inactive');
    expect(active.map((rule) => textAt(rule, 'name'))).toContain('TidegateSessionPlaintext');
  }, RUN_TIMEOUT_MS);
});
