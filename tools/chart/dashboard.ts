/**
 * A Grafana dashboard of the catalogue of metrics: a panel for each, in rows by topic.
 *
 * Promises: every metric has one panel, so that a new one is seen; series of single objects are
 * counted and not drawn.
 */
import type { Metric } from '../../src/api/metrics.ts';

interface Row {
  readonly title: string;
  readonly metrics: RegExp;
}

/** A metric belongs to the first row that takes it. */
const ROWS: readonly Row[] = [
  { title: 'Leader and session', metrics: /leader_|session|shard|frames|bootstrap/ },
  { title: 'Demand', metrics: /rollup|capacity_request|acknowledg|pod_demand|pod_request|penalty/ },
  { title: 'Machines', metrics: /machine(?!_transitions)|upcoming|capacit|node_state|outbox/ },
  {
    title: 'Drains',
    metrics: /drain|reclaim|cordon|maintenance|node_writes|tidegate_nodes|lost_pods/,
  },
  { title: 'Evictions', metrics: /eviction/ },
  { title: 'API server', metrics: /rest_client|watch|list_pages|writes_total|write_|events/ },
  { title: 'Process', metrics: /./ },
];

/** Labels whose values are objects, or too many to draw. */
const FOLDED: ReadonlySet<string> = new Set([
  ...['namespace', 'evictionrequest', 'target', 'pod'],
  ...['from', 'to', 'host'],
]);
const OF_OBJECTS: ReadonlySet<string> = new Set(['evictionrequest', 'pod']);

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const WIDTH = 8;
const HEIGHT = 7;
const COLUMNS = 24;

const by = (labels: readonly string[]): string =>
  labels.length === 0 ? '' : ` by (${labels.join(', ')})`;

const expressionOf = (name: string, { type, labels }: Metric): string => {
  const drawn = labels.filter((label) => !FOLDED.has(label));
  // A standby observes the same as the leader.
  const observed = `max${by(labels)} (${name})`;
  if (labels.some((label) => OF_OBJECTS.has(label))) return `count${by(drawn)} (${observed})`;
  switch (type) {
    case 'counter':
      return `sum${by(drawn)} (rate(${name}[$__rate_interval]))`;
    case 'gauge':
      return observed;
    case 'histogram': {
      const rate = `rate(${name}_bucket[$__rate_interval])`;
      return `histogram_quantile(0.99, sum${by(['le', ...drawn])} (${rate}))`;
    }
  }
};

const unitOf = (name: string, { type }: Metric): string => {
  if (type === 'histogram' && name.endsWith('_seconds')) return 's';
  if (name.endsWith('_bytes')) return 'bytes';
  return type === 'counter' ? 'ops' : 'short';
};

const legendOf = ({ labels }: Metric): string =>
  labels.filter((label) => !FOLDED.has(label)).map((label) => `{{${label}}}`).join(' ');

interface Place {
  readonly id: number;
  readonly x: number;
  readonly y: number;
}

const panelOf = ([name, metric]: readonly [string, Metric], { id, x, y }: Place): object => ({
  id,
  type: 'timeseries',
  title: metric.type === 'histogram' ? `${name} (99th percentile)` : name,
  description: metric.help,
  datasource: DATASOURCE,
  gridPos: { x, y, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit: unitOf(name, metric), min: 0 }, overrides: [] },
  targets: [{
    refId: 'A',
    datasource: DATASOURCE,
    expr: expressionOf(name, metric),
    legendFormat: legendOf(metric) || name,
  }],
});

const panelsOf = (metrics: Readonly<Record<string, Metric>>): readonly object[] => {
  const panels: object[] = [];
  const left = new Map(Object.entries(metrics));
  let y = 0;
  for (const { title, metrics: pattern } of ROWS) {
    const inRow = [...left].filter(([name]) => pattern.test(name));
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, entry] of inRow.entries()) {
      const x = (index * WIDTH) % COLUMNS;
      const line = Math.floor((index * WIDTH) / COLUMNS);
      panels.push(panelOf(entry, { id: panels.length + 1, x, y: y + line * HEIGHT }));
      left.delete(entry[0]);
    }
    y += Math.ceil((inRow.length * WIDTH) / COLUMNS) * HEIGHT;
  }
  return panels;
};

/** The dashboard, for import or for the sidecar of Grafana. */
export const dashboard = (metrics: Readonly<Record<string, Metric>>): object => ({
  uid: 'tidegate',
  title: 'Tidegate',
  tags: ['tidegate'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: {
    list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' }],
  },
  panels: panelsOf(metrics),
});
