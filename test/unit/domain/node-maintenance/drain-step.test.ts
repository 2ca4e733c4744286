/** The pods of a node that a NodeMaintenance removes, and how they are counted. */
import { expect, test } from 'vitest';
import {
  evacuationCounts,
  hasLeavingPods,
  hasOwnLeavingPods,
  mustLeave,
  type PodScope,
} from '../../../../src/domain/node-maintenance/drain-step.ts';
import { POD_TYPES, type PodType } from '../../../../src/domain/node-maintenance/typed-pods.ts';
import { entryOf, podOfType } from '../../../support/node-maintenance/plan-runs.ts';

/** All pods of these types. */
const ofTypes = (podTypes: readonly PodType[]): PodScope => ({ podTypes, podSelector: null });

/** All pods with this label. */
const ofApp = (app: string): PodScope => ({
  podTypes: POD_TYPES,
  podSelector: [{ key: 'app', operator: 'In', values: [app] }],
});

const EVERY_TYPE = POD_TYPES.map((podType) => entryOf(2 ** 31 - 1, podType));

test('NM-28: bare pods, pods with local data and terminating pods leave like others', () => {
  const pods = [
    podOfType('Default', { controller: null }),
    podOfType('Default', { volumes: [{ emptyDir: {} }] }),
    podOfType('Default', { deletion: '2026-05-01T10:00:00Z' }),
    podOfType('DaemonSet'),
  ];
  expect(pods.map((pod) => hasLeavingPods([pod], EVERY_TYPE))).toEqual(pods.map(() => true));
});

test('NM-29: a new pod of the current entry or an earlier one leaves, too', () => {
  const pods = [1, 500, 1000, 1001].map((priority) => podOfType('Default', { priority }));
  expect(pods.map((pod) => hasLeavingPods([pod], [entryOf(1000)])))
    .toEqual([true, true, true, false]);
  expect(hasLeavingPods(pods, [entryOf(1000)])).toBe(true);
});

test('NM-47: static pods stay and hold nothing', () => {
  const pods = [podOfType('Static')];
  expect(hasLeavingPods(pods, EVERY_TYPE)).toBe(false);
});

test('NM-32: targets of another maintenance hold no pods of types that this one leaves alone', () => {
  const pods = [podOfType('DaemonSet')];
  expect(hasOwnLeavingPods(pods, EVERY_TYPE, ofTypes(['Default']))).toBe(false);
  expect(hasOwnLeavingPods(pods, EVERY_TYPE, ofTypes(['Default', 'DaemonSet']))).toBe(true);
});

test('NM-32: targets of another maintenance hold no pods of labels that this one leaves alone', () => {
  const pods = [podOfType('Default', { labels: { app: 'web' } })];
  expect(['db', 'web'].map((app) => hasOwnLeavingPods(pods, EVERY_TYPE, ofApp(app))))
    .toEqual([false, true]);
});

test('finished pods hold nothing', () => {
  const pods = ['Succeeded', 'Failed'].map((phase) => podOfType('Default', { phase }));
  expect(hasLeavingPods(pods, EVERY_TYPE)).toBe(false);
});

test('NM-40: pods of every priority are counted, static and finished ones are not', () => {
  const pods = [
    podOfType('Default', { priority: 1 }),
    podOfType('Default', { priority: 2_000_000_000 }),
    podOfType('Default', { phase: 'Succeeded' }),
    podOfType('DaemonSet'),
    podOfType('Static'),
  ];
  const isRequested = (pod: { readonly priority: number }): boolean => pod.priority === 1;
  expect(evacuationCounts(pods, ofTypes(POD_TYPES), isRequested)).toEqual({
    pending: 2,
    evacuating: 1,
  });
  expect(evacuationCounts(pods, ofTypes(['Default']), isRequested)).toEqual({
    pending: 1,
    evacuating: 1,
  });
});

test('NM-41: a node is drained without its static pods and the types that are left out', () => {
  const types = POD_TYPES.map((type) => podOfType(type));
  expect(types.map((pod) => mustLeave(pod, ofTypes(POD_TYPES)))).toEqual([true, true, false]);
  expect(types.map((pod) => mustLeave(pod, ofTypes(['Default'])))).toEqual([true, false, false]);
});

test('NM-41: a node is drained without the pods that the selector leaves out', () => {
  const pods = ['web', 'db'].map((app) => podOfType('Default', { labels: { app } }));
  expect(pods.map((pod) => mustLeave(pod, ofApp('web')))).toEqual([true, false]);
  expect(evacuationCounts(pods, ofApp('web'), () => false)).toEqual({ pending: 1, evacuating: 0 });
});
