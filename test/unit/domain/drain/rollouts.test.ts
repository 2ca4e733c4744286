/** Which pods are of an old revision. */
import { describe, expect, test } from 'vitest';
import { RolloutIndex } from '../../../../src/domain/drain/rollouts.ts';
import { podOf, type PodTraits } from '../../../support/drains/drain-facts.ts';

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;

/** A pod of the Deployment `web`. */
const web = (
  name: string,
  [hash, minute]: readonly [hash: string, minute: number],
  more: PodTraits = {},
) =>
  podOf({
    name,
    labels: { app: 'web', 'pod-template-hash': hash },
    controller: { kind: 'ReplicaSet', name: `web-${hash}` },
    created: at(minute),
    ...more,
  });

const indexOf = (...pods: readonly ReturnType<typeof podOf>[]): RolloutIndex => {
  const index = new RolloutIndex();
  index.reset(pods);
  return index;
};

describe('the revision of a pod', () => {
  test('RS-15: is old while a younger revision of its Deployment has pods', () => {
    const [old, young] = [web('a', ['old', 1]), web('b', ['new', 5])];
    const index = indexOf(old, young);
    expect([old, young].map(index.isOutdated)).toEqual([true, false]);
    index.remove(young);
    expect(index.isOutdated(old)).toBe(false);
  });

  test('RS-15: is not younger because one of its pods was replaced', () => {
    const [first, kept, young] = [web('a', ['old', 1]), web('c', ['old', 9]), web('b', ['new', 5])];
    const index = indexOf(first, young, kept);
    index.remove(first);
    expect(index.isOutdated(kept)).toBe(true);
    expect(index.isOutdated(young)).toBe(false);
  });

  test('RS-15: is young again after a rollback', () => {
    const [first, young, rolledBack] = [
      web('a', ['old', 1]),
      web('b', ['new', 5]),
      web('c', ['old', 9]),
    ];
    const index = indexOf(first, young);
    index.remove(first);
    index.put(rolledBack);
    expect([young, rolledBack].map(index.isOutdated)).toEqual([true, false]);
  });

  test('RS-15: terminating and failed pods of a revision count for nothing', () => {
    const old = web('a', ['old', 1]);
    const ending = web('b', ['new', 5], { deletion: at(6) });
    const failed = web('c', ['new', 5], { phase: 'Failed' });
    expect(indexOf(old, ending, failed).isOutdated(old)).toBe(false);
  });

  test('RS-15: is known of StatefulSets, and not of other pods', () => {
    const ordinal = (name: string, hash: string, minute: number) =>
      podOf({
        name,
        labels: { 'controller-revision-hash': hash },
        controller: { kind: 'StatefulSet', name: 'db' },
        created: at(minute),
      });
    const [db0, db1] = [ordinal('db-0', 'old', 1), ordinal('db-1', 'new', 5)];
    const index = indexOf(db0, db1);
    expect([db0, db1].map(index.isOutdated)).toEqual([true, false]);
    const others = [
      podOf({ controller: null, created: at(1) }),
      podOf({ created: at(1) }),
      web('d', ['old', 1], { namespace: 'other' }),
      web('e', ['x', 1], { controller: { kind: 'ReplicaSet', name: 'by-hand' } }),
    ];
    expect(others.map(indexOf(...others, web('b', ['new', 5])).isOutdated)).not.toContain(true);
  });
});
