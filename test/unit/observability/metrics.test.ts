/** Metrics: the catalogue in Prometheus format, bounded whatever the labels. */
import { expect, test } from 'vitest';
import { type Metric, METRICS } from '../../../src/api/metrics.ts';
import { CORDON_ENDS } from '../../../src/domain/drain/cordon.ts';
import { liveTelemetry } from '../../../src/observability/live-telemetry.ts';
import { makeMetrics, OVERFLOW, SERIES_MAX } from '../../../src/observability/metrics.ts';

test('metrics of the catalogue are all there from the start, with help and type', async () => {
  const text = await makeMetrics().text();
  for (const [name, metric] of Object.entries(METRICS)) {
    expect(text).toContain(`# TYPE ${name} ${metric.type}`);
    expect(text).toContain(`# HELP ${name} ${metric.help}`);
  }
});

test('metrics without labels are zero before anything happened', async () => {
  const text = await makeMetrics().text();
  expect(text).toContain('\nbigfleet_operator_acknowledged_total 0\n');
  expect(text).toContain('\nbigfleet_operator_rollup_duration_seconds_count 0\n');
});

/** Labels that name objects, resources or queues: their series begin with what they name. */
const NAMING: ReadonlySet<string> = new Set(['resource', 'node', 'name']);

test('counters with one label of known values are zero for each before anything happened', async () => {
  const text = await makeMetrics().text();
  const catalogue: Readonly<Record<string, Metric>> = METRICS;
  const counted = Object.entries(catalogue).filter(([, { type, labels }]) =>
    type === 'counter' && labels.length === 1 && labels.every((label) => !NAMING.has(label))
  );
  expect(counted.length).toBeGreaterThan(10);
  for (const [name, { labels: [label], fromStart = [] }] of counted) {
    expect(fromStart.length, name).toBeGreaterThan(1);
    for (const value of fromStart) expect(text).toContain(`\n${name}{${label}="${value}"} 0\n`);
  }
});

test('durations by outcome are without observations before the first', async () => {
  const text = await makeMetrics().text();
  for (const outcome of CORDON_ENDS) {
    expect(text).toContain(
      `tidegate_node_drain_duration_seconds_bucket{le="+Inf",outcome="${outcome}"} 0\n`,
    );
    expect(text).toContain(`tidegate_node_drain_duration_seconds_count{outcome="${outcome}"} 0\n`);
  }
});

test('a drain of hours is not counted among those of minutes', async () => {
  const metrics = makeMetrics();
  const outcome = 'Drained';
  liveTelemetry({ log: () => {} }, metrics)
    .observe('tidegate_node_drain_duration_seconds', 5000, { outcome });
  const text = await metrics.text();
  const bucket = (le: number) => `duration_seconds_bucket{le="${le}",outcome="${outcome}"}`;
  expect(text).toContain(`${bucket(3600)} 0\n`);
  expect(text).toContain(`${bucket(7200)} 1\n`);
});

test('metrics of the process are included', async () => {
  expect(await makeMetrics().text()).toContain('process_cpu_seconds_total');
});

test('telemetry counts, sets and observes', async () => {
  const metrics = makeMetrics();
  const telemetry = liveTelemetry({ log: () => {} }, metrics);
  telemetry.count('bigfleet_operator_acknowledged_total', 2);
  telemetry.count('bigfleet_operator_acknowledged_total', 3);
  telemetry.gauge('bigfleet_operator_dispatch_inflight', 4);
  telemetry.gauge('bigfleet_operator_dispatch_inflight', 1);
  telemetry.observe('bigfleet_operator_rollup_phase_duration_seconds', 0.02, { phase: 'build' });
  const text = await metrics.text();
  expect(text).toContain('\nbigfleet_operator_acknowledged_total 5\n');
  expect(text).toContain('\nbigfleet_operator_dispatch_inflight 1\n');
  expect(text).toContain(
    'bigfleet_operator_rollup_phase_duration_seconds_bucket{le="0.025",phase="build"} 1',
  );
});

test('metrics count frozen and other label objects in one series', async () => {
  const metrics = makeMetrics();
  const labels = { op: 'create', outcome: 'success' };
  metrics.record('bigfleet_operator_upcoming_node_writes_total', 1, labels);
  metrics.record('bigfleet_operator_upcoming_node_writes_total', 1, Object.freeze({ ...labels }));
  expect(await metrics.text()).toContain(
    'bigfleet_operator_upcoming_node_writes_total{op="create",outcome="success"} 2',
  );
});

test('metrics ignore invalid values and labels, and do not throw', async () => {
  const metrics = makeMetrics();
  const odd: Record<string, string> = { op: 'delete', outcome: 'success', machine: 'm-1' };
  metrics.record('bigfleet_operator_upcoming_node_writes_total', 1, odd);
  metrics.record('bigfleet_operator_acknowledged_total', -3);
  metrics.record('bigfleet_operator_rollup_duration_seconds', Number.NaN);
  const text = await metrics.text();
  expect(text).toContain(
    'bigfleet_operator_upcoming_node_writes_total{op="delete",outcome="success"} 1',
  );
  expect(text).toContain('\nbigfleet_operator_acknowledged_total 0\n');
  expect(text).toContain('\nbigfleet_operator_rollup_duration_seconds_count 0\n');
});

test('metrics with too many label values use one overflow series', async () => {
  const metrics = makeMetrics();
  for (let machine = 0; machine < SERIES_MAX + 50; machine += 1) {
    metrics.record('bigfleet_operator_upcoming_node_writes_total', 1, {
      op: `op-${machine}`,
      outcome: 'success',
    });
  }
  const text = await metrics.text();
  const series = text.split('\n').filter((line) =>
    line.startsWith('bigfleet_operator_upcoming_node_writes_total{')
  );
  expect(series).toHaveLength(SERIES_MAX + 1);
  expect(series.at(-1)).toBe(
    `bigfleet_operator_upcoming_node_writes_total{op="${OVERFLOW}",outcome="${OVERFLOW}"} 50`,
  );
});

test('metrics forget a series, which begins anew and makes room for another', async () => {
  const metrics = makeMetrics();
  const telemetry = liveTelemetry({ log: () => {} }, metrics);
  const labels = (object: number) => ({ namespace: 'n', pod: `p-${object}` });
  for (let object = 0; object < SERIES_MAX; object += 1) {
    telemetry.gauge('evictionrequest_controller_pod_interceptors', 1, labels(object));
  }
  telemetry.forget('evictionrequest_controller_pod_interceptors', labels(7));
  telemetry.forget('evictionrequest_controller_pod_interceptors', labels(7));
  expect(await metrics.text()).not.toContain('pod="p-7"}');
  telemetry.gauge('evictionrequest_controller_pod_interceptors', 2, labels(SERIES_MAX));
  telemetry.count('workqueue_adds_total', 1, { name: 'evictionrequests' });
  telemetry.forget('workqueue_adds_total', { name: 'evictionrequests' });
  telemetry.count('workqueue_adds_total', 1, { name: 'evictionrequests' });
  const text = await metrics.text();
  expect(text).toContain(`pod="p-${SERIES_MAX}"} 2`);
  expect(text).not.toContain(OVERFLOW);
  expect(text).toContain('workqueue_adds_total{name="evictionrequests"} 1');
});

test('metrics have valid Prometheus names and labels, counters end in _total', () => {
  for (const [name, metric] of Object.entries(METRICS)) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith('_total')).toBe(metric.type === 'counter');
    expect(metric.help).toMatch(/^[A-Z1].*\.$/);
    for (const label of metric.labels) expect(label).toMatch(/^[a-z][a-z0-9_]*$/);
  }
});

test('scrapes that arrive together share one text, and later ones have what happened since', async () => {
  const metrics = makeMetrics();
  const telemetry = liveTelemetry({ log: () => {} }, metrics);
  const first = metrics.text();
  telemetry.count('bigfleet_operator_acknowledged_total', 1);
  expect(metrics.text()).toBe(first);
  expect(await first).toContain('\nbigfleet_operator_acknowledged_total 1\n');
  telemetry.count('bigfleet_operator_acknowledged_total', 1);
  expect(await metrics.text()).toContain('\nbigfleet_operator_acknowledged_total 2\n');
});
