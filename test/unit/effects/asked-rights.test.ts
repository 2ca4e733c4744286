/**
 * Which rights `tidegate doctor` asks about. Rights on one object, and rights in one namespace,
 * hid those on other objects and in all namespaces: resource and verb alone told them apart.
 */
import { expect, test } from 'vitest';
import { rightName } from '../../../src/domain/operator-rights.ts';
import type { RoleName } from '../../../src/domain/operator-roles.ts';
import { askedRights } from '../../../src/effects/access-reviews.ts';

const asked = (roles: readonly RoleName[], wanted: string) =>
  askedRights(roles, 'here')
    .filter(({ right, verb }) => `${verb} ${rightName(right)}` === wanted)
    .map(({ right, namespace }) => [right.name, namespace]);

test('a right of two roles is asked about once', () => {
  expect(asked(['fleet', 'maintenance'], 'drain nodes')).toEqual([['', undefined]]);
});

test('leases of all namespaces are asked about beside those of the operator', () => {
  expect(asked(['availability'], 'list leases.coordination.k8s.io')).toEqual([
    ['', undefined],
    ['', 'here'],
  ]);
});

test('each object that a verb is on is asked about', () => {
  const names = asked(['interceptors'], 'report interceptors.lifecycle.tidegate.dev');
  expect(names.map(([name]) => name)).toContain('surge.tidegate.dev');
  expect(names.length).toBe(2);
});
