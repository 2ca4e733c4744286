/** The values of the Helm chart, and what they are generated from. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../../src/api/metrics.ts';
import { asRecord, listOrEmptyAt, numberAt, recordAt, textAt } from '../../../src/domain/json.ts';
import { OPERATOR_OPTIONS } from '../../../src/effects/operator-options.ts';
import { type ChartValue, type ChartValues, schemaOf } from '../../../tools/chart/chart-value.ts';
import { CHART_VALUES } from '../../../tools/chart/chart-values.ts';
import { dashboard } from '../../../tools/chart/dashboard.ts';
import { SETTINGS } from '../../../tools/chart/flag-values.ts';
import { PROJECT } from '../../tidy/source-file.ts';

const CHART = `${PROJECT}charts/tidegate`;

const allOf = (fields: ChartValues): readonly (readonly [string, ChartValue])[] =>
  Object.entries(fields).flatMap(([key, one]) => [[key, one] as const, ...allOf(one.fields ?? {})]);

/** The words of a key as the template makes them: `maxDraining` → `max-draining`. */
const flagOf = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Environment variables that the template writes by name. */
const written = (): readonly string[] =>
  [...readFileSync(`${CHART}/templates/_pod.tpl`, 'utf8').matchAll(/- name: TIDEGATE_([A-Z_]+)\n/g)]
    .map(([, name = '']) => name.toLowerCase().replaceAll('_', '-'));

/** Flags that have no place in a pod of the chart, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  kubeconfig: 'a pod has an account',
  'with-pods': 'the role pods is named among the roles',
  identity: 'the name of the pod is part of it',
};

test('every flag of the operator is a value, or written by the template', () => {
  const flags = Object.values(OPERATOR_OPTIONS).map(({ name }) => name);
  const values = Object.keys(SETTINGS).map(flagOf);
  expect([...values, ...written(), ...Object.keys(LEFT_OUT)].toSorted()).toEqual(flags.toSorted());
});

test('every value has a description that is a sentence, and there are at most 170', () => {
  const all = [...allOf(CHART_VALUES), ...allOf(SETTINGS)];
  for (const [key, { description }] of all) {
    expect([key, description]).toEqual([
      key,
      expect.stringMatching(/^[A-Z0-9].+\.$/),
    ]);
  }
  expect(all.length).toBeLessThanOrEqual(170);
});

test('groups accept no other keys, and numbers of flags stay numbers', () => {
  expect(schemaOf({ description: 'A group.', schema: {}, fields: {} })).toMatchObject({
    additionalProperties: false,
  });
  expect(SETTINGS['burst']?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 100_000 });
  expect(SETTINGS['qps']?.schema).toEqual({ type: 'number', exclusiveMinimum: 0 });
  expect(SETTINGS['pauseDrains']?.schema).toEqual({ type: 'boolean' });
  expect(SETTINGS['via']?.schema).toEqual({ enum: ['auto', 'eviction-requests', 'evictions'] });
});

test('values.yaml has no value that the schema does not know', () => {
  const schema: unknown = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
  const values = asRecord(parse(readFileSync(`${CHART}/values.yaml`, 'utf8'))) ?? {};
  const known = Object.keys(recordAt(schema, 'properties') ?? {});
  expect(known).toEqual(['global', ...Object.keys(values)]);
});

test('the dashboard has a panel for each metric, and none is above another', () => {
  const panels = listOrEmptyAt(dashboard(METRICS), 'panels');
  const expressions = panels.flatMap((panel) =>
    listOrEmptyAt(panel, 'targets').map((target) => textAt(target, 'expr') ?? '')
  );
  const drawn = expressions.map((text) => /[a-z]+_[a-z0-9_]+(?=[[)])/.exec(text)?.[0]);
  const wanted = Object.entries(METRICS).map(([name, { type }]) =>
    type === 'histogram' ? `${name}_bucket` : name
  );
  expect(drawn.toSorted()).toEqual(wanted.toSorted());
  const places = panels.map((panel) =>
    `${numberAt(panel, 'gridPos', 'x')} ${numberAt(panel, 'gridPos', 'y')}`
  );
  expect(new Set(places).size).toBe(panels.length);
});
