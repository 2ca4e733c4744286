/** Addresses of the live page, parsed and printed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOf, routeIn } from '../../../src/web/page/address.ts';

test('an address contains machine, actor, search and state', () => {
  expect(routeIn('')).toEqual({ kind: '', actor: '', search: '', state: '' });
  expect(routeIn('#/nodeDrain?search=node-1&state=work.drained')).toEqual({
    kind: 'nodeDrain',
    actor: '',
    search: 'node-1',
    state: 'work.drained',
  });
  expect(routeIn('#/podEviction/default/db-1').actor).toBe('podEviction/default/db-1');
  expect(routeIn('#/operator?actor').actor).toBe('operator');
});

test('an address round-trips', () => {
  const name = fc.string({ minLength: 1 }).filter((text) => !text.includes('/'));
  const kind = fc.constantFrom('nodeDrain', 'podEviction', 'operator');
  fc.assert(fc.property(
    kind,
    fc.array(name, { maxLength: 3 }),
    fc.record({ search: fc.string(), state: fc.string(), focused: fc.boolean() }),
    (machine, names, { search, state, focused }) => {
      const route = {
        kind: machine,
        actor: focused ? [machine, ...names].join('/') : '',
        search,
        state,
      };
      expect(routeIn(addressOf(route))).toEqual(route);
    },
  ));
});
