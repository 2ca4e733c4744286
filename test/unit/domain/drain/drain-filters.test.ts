/** The filters of `tidegate drain NODE`: for each kind of pod, what each flag decides. */
import { expect, test } from 'vitest';
import { type DrainFilters, podVerdict } from '../../../../src/domain/drain/drain-filters.ts';
import { handOverPatch } from '../../../../src/domain/drain/cordon-patch.ts';
import { cordonsIn } from '../../../../src/domain/drain/cordon.ts';
import { type DrainPod, projectPod } from '../../../../src/domain/drain/pod.ts';
import { resourceVersion } from '../../../../src/domain/ids.ts';

const NONE: DrainFilters = {
  force: false,
  ignoreDaemonSets: false,
  deleteEmptyDirData: false,
  skipWaitSeconds: 0,
};
const ALL: DrainFilters = {
  ...NONE,
  force: true,
  ignoreDaemonSets: true,
  deleteEmptyDirData: true,
};

const pod = (
  { metadata = {}, ...more }: { readonly metadata?: object; readonly [part: string]: object },
): DrainPod => {
  const read = projectPod({
    metadata: { name: 'p', namespace: 'default', uid: 'u', resourceVersion: '1', ...metadata },
    ...more,
  });
  if (read === undefined) throw new Error('not a pod');
  return read;
};

const ownedBy = (kind: string): object => ({
  ownerReferences: [{ kind, name: 'o', uid: 'o', controller: true }],
});
const SCRATCH = { volumes: [{ name: 'scratch', emptyDir: {} }] };

const verdict = (
  one: DrainPod,
  filters: DrainFilters,
  { hasDaemonSet = true, nowMs = 0 } = {},
): string => {
  const given = podVerdict(one, filters, { hasDaemonSet: () => hasDaemonSet, nowMs });
  return given._tag === 'Refused' ? `Refused ${given.reason}` : given._tag;
};

test.each([
  ['of a controller', { metadata: ownedBy('ReplicaSet') }, 'Leaves', 'Leaves'],
  ['without a controller', {}, 'Refused NoController', 'Leaves'],
  [
    'with an emptyDir',
    { metadata: ownedBy('ReplicaSet'), spec: SCRATCH },
    'Refused LocalData',
    'Leaves',
  ],
  ['of a DaemonSet', { metadata: ownedBy('DaemonSet') }, 'Refused DaemonSet', 'Stays'],
  ['that has finished', { spec: SCRATCH, status: { phase: 'Failed' } }, 'Removed', 'Removed'],
  [
    'of a DaemonSet that has finished',
    { metadata: ownedBy('DaemonSet'), status: { phase: 'Succeeded' } },
    'Removed',
    'Removed',
  ],
  [
    'of the kubelet',
    { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } }, spec: SCRATCH },
    'Stays',
    'Stays',
  ],
])('a pod %s leaves, stays or is refused as with kubectl', (_, raw, without, withAll) => {
  expect(verdict(pod(raw), NONE)).toBe(without);
  expect(verdict(pod(raw), ALL)).toBe(withAll);
});

test('a pod that --force evicts is warned of', () => {
  const alone = podVerdict(pod({}), ALL, { hasDaemonSet: () => true, nowMs: 0 });
  expect(alone).toEqual({ _tag: 'Leaves', warnings: ['NoController'] });
});

test('a pod whose DaemonSet is gone needs --force, and is removed', () => {
  const orphan = pod({ metadata: ownedBy('DaemonSet') });
  const gone = { hasDaemonSet: false };
  expect(verdict(orphan, { ...NONE, ignoreDaemonSets: true }, gone)).toBe('Refused DaemonSetGone');
  expect(verdict(orphan, ALL, gone)).toBe('Removed');
});

test('a pod that terminates for too long is not waited for', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const leaving = pod({ metadata: { ...ownedBy('ReplicaSet'), deletionTimestamp } });
  const nowMs = Date.parse(deletionTimestamp) + 11_000;
  expect(verdict(leaving, { ...NONE, skipWaitSeconds: 11 }, { nowMs })).toBe('Leaves');
  expect(verdict(leaving, { ...NONE, skipWaitSeconds: 10 }, { nowMs })).toBe('Stays');
});

test('the cordon is handed over once, and again after an uncordon', () => {
  const facts = (unschedulable: boolean, annotations: Readonly<Record<string, string>>) => ({
    resourceVersion: resourceVersion('7'),
    unschedulable,
    ...cordonsIn(annotations),
  });
  const person = {
    'cordon.tidegate.dev/person': '{"v":1,"ids":[],"since":"2026-01-01T00:00:00Z"}',
  };
  expect(handOverPatch(facts(true, {}), 0)).toMatchObject({
    metadata: { resourceVersion: '7' },
    spec: { unschedulable: true },
  });
  expect(handOverPatch(facts(true, person), 0)).toBeUndefined();
  expect(handOverPatch(facts(false, person), 0)).toBeDefined();
});
