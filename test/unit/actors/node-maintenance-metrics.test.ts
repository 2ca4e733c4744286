/** The metric of pods that a maintenance has left, and its alert. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OBJECTS_WITH_SERIES_MAX } from '../../../src/actors/limited-series.ts';
import { MaintenanceMetrics } from '../../../src/actors/node-maintenance/maintenance-metrics.ts';
import { METRICS } from '../../../src/api/metrics.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import {
  maintenanceOf,
  type MaintenanceTraits,
  nodeRaw,
} from '../../support/node-maintenance/maintenance-fixture.ts';
import { PROJECT } from '../../tidy/source-file.ts';

const METRIC = 'tidegate_node_maintenance_pods_left';

/** The series of a process, by the names of their objects. */
const scene = () => {
  const series = new Map<string, number>();
  let leftOut = 0;
  const nameIn = (labels: readonly unknown[]): string => textAt(labels[0], 'nodemaintenance') ?? '';
  const metrics = new MaintenanceMetrics({
    gauge: (name, value, ...labels) => {
      if (name === METRIC) series.set(nameIn(labels), value);
      else leftOut = value;
    },
    forget: (_, ...labels) => void series.delete(nameIn(labels)),
  });
  const observe = (traits: MaintenanceTraits) => metrics.observe(maintenanceOf('1', traits));
  return { metrics, observe, series: () => Object.fromEntries(series), leftOut: () => leftOut };
};

const drainTargets = [{ podType: 'Default', podPriority: 100 }];
const nodes = [
  nodeRaw('a', { podsPendingEvacuation: 2, podsEvacuating: 1, drainTargets }),
  nodeRaw('b', { podsEvacuating: 4, drainTargets }),
];

test('NM-54: pods of nodes that wait for their turn or for the window are not counted', () => {
  const { observe, series } = scene();
  observe({ stage: 'Drain', nodes: [...nodes, nodeRaw('c', { podsPendingEvacuation: 5 })] });
  expect(series()).toEqual({ kernel: 7 });
});

test('NM-54: the pods that must leave are counted while the stage is Drain', () => {
  const { observe, series } = scene();
  observe({ stage: 'Cordon', nodes });
  expect(series()).toEqual({});
  observe({ stage: 'Drain', nodes });
  expect(series()).toEqual({ kernel: 7 });
  observe({ stage: 'Drain', nodes: [] });
  expect(series()).toEqual({ kernel: 0 });
  observe({ stage: 'Complete', nodes });
  expect(series()).toEqual({});
});

test('NM-54: the series leaves with its object, its deletion and the leadership', () => {
  const { metrics, observe, series } = scene();
  observe({ stage: 'Drain', nodes });
  metrics.forget('uid-kernel');
  expect(series()).toEqual({});
  observe({ stage: 'Drain', nodes });
  observe({ stage: 'Drain', nodes, isDeleting: true, isProtected: true });
  expect(series()).toEqual({});
  observe({ stage: 'Drain', nodes });
  metrics.clear();
  expect(series()).toEqual({});
});

test('NM-54: there are series for a thousand maintenances, and the rest is counted', () => {
  const { observe, series, leftOut } = scene();
  for (let index = 0; index < OBJECTS_WITH_SERIES_MAX + 3; index += 1) {
    observe({ stage: 'Drain', nodes, name: `m${index}`, uid: `uid-${index}` });
  }
  expect([Object.keys(series()).length, leftOut()]).toEqual([OBJECTS_WITH_SERIES_MAX, 3]);
});

test('NM-54: an alert reads the metric, and its labels', () => {
  const rules = listOrEmptyAt(
    parse(readFileSync(`${PROJECT}docs/tasks/alerts.yaml`, 'utf8')),
    'groups',
  ).flatMap((group) => listOrEmptyAt(group, 'rules'));
  const alert = rules.find((rule) => textAt(rule, 'alert') === 'TidegateMaintenanceStalled');
  expect(textAt(alert, 'expr')).toBe(`${METRIC} > 0 and changes(${METRIC}[30m]) == 0`);
  expect(METRICS[METRIC].labels).toEqual(['nodemaintenance']);
  expect(textAt(alert, 'annotations', 'summary')).toContain('$labels.nodemaintenance');
});
