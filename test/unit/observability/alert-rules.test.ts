/**
 * The alerts and their tests: each alert has a set of series on which it fires and one on which it
 * does not, leads to a runbook, and sees the first increment of what it counts. promtool runs the
 * tests (`test/integration/alerts.test.ts`).
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { MACHINES } from '../../../src/machines/index.ts';
import { makeMetrics } from '../../../src/observability/metrics.ts';
import { alertsWithoutTests } from '../../support/alerts/alert-tests.ts';

const read = (path: string): unknown =>
  parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));

const RULES = read('docs/tasks/alerts.yaml');
const TESTS = read('test/integration/alerts/rules.test.yaml');
const ALERTS = listOrEmptyAt(RULES, 'groups').flatMap((group) => listOrEmptyAt(group, 'rules'));

test('each alert has series on which it fires and series on which it does not', () => {
  expect(ALERTS.length).toBeGreaterThan(10);
  expect(alertsWithoutTests(RULES, TESTS)).toEqual([]);
});

test.each([
  ['a firing set', { eval_time: '1m', alertname: 'A', exp_alerts: [{}] }, ['A never stays quiet']],
  ['a quiet set', { eval_time: '1m', alertname: 'A' }, ['A never fires']],
  ['a set of another alert', { eval_time: '1m', alertname: 'B' }, [
    'A never fires',
    'A never stays quiet',
  ]],
])('an alert that has only %s is found', (_, check, found) => {
  const rules = { groups: [{ rules: [{ alert: 'A' }] }] };
  expect(alertsWithoutTests(rules, { tests: [{ alert_rule_test: [check] }] })).toEqual(found);
});

test('each alert leads to a section of the runbooks', () => {
  const elsewhere = ALERTS.map((alert) => textAt(alert, 'annotations', 'runbook') ?? '')
    .filter((runbook) => !runbook.startsWith('docs/runbooks.md#'));
  expect(elsewhere).toEqual([]);
});

const INCREASES = ALERTS.flatMap((alert) =>
  [...(textAt(alert, 'expr') ?? '').matchAll(
    /increase\((?<metric>\w+)(?:\{(?<selector>[^}]*)\})?\[/g,
  )]
    .map(({ groups }) => [groups?.['metric'] ?? '', groups?.['selector'] ?? ''] as const)
);

const seriesOf = (text: string, metric: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`));

test('the series that alerts count exist from the start, so that the first increment is seen', async () => {
  expect(INCREASES.length).toBeGreaterThan(5);
  const text = await makeMetrics().text();
  for (const [metric, selector] of INCREASES) {
    const [, values = ''] = /=~?"([^"]+)"/.exec(selector) ?? [];
    for (const value of values.split('|')) {
      const series = seriesOf(text, metric).filter((line) => line.includes(value));
      expect(series.every((line) => line.endsWith(' 0')) && series.length > 0, `${metric} ${value}`)
        .toBe(true);
    }
  }
});

test('the crashes of each kind of actor are counted from 0', async () => {
  const series = seriesOf(await makeMetrics().text(), 'tidegate_actor_defects_total');
  expect(series.toSorted()).toEqual(
    Object.keys(MACHINES).map((name) => `tidegate_actor_defects_total{machine="${name}"} 0`)
      .toSorted(),
  );
});
