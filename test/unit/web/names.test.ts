/** Names and texts as the page prints them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kubectlCommand } from '../../../src/view/board/board-verdict.ts';
import { paletteEntries } from '../../../src/web/page/palette-entries.ts';
import {
  forecastHead,
  nextPlace,
  severityIcon,
  splitChange,
  splitName,
  windowTitle,
} from '../../../src/web/page/names.ts';

test('a name is split without loss, and its end stays whole', () => {
  fc.assert(fc.property(fc.string(), (name) => splitName(name).join('') === name));
  expect(splitName('default/checkout-api-7f9c6d5b4-x2x9k')[1]).toBe('c6d5b4-x2x9k');
});

test('a change is split into what to do and the command to copy', () => {
  expect(splitChange('Set it to 1 or more: kubectl patch pdb db')).toEqual({
    action: 'Set it to 1 or more',
    command: 'kubectl patch pdb db',
  });
  expect(splitChange('Fix the webhook')).toEqual({ action: 'Fix the webhook', command: '' });
});

test('the command of an entry is that of its change, else the one that shows its object', () => {
  const pod = { kind: 'podEviction', name: 'shop/db-1' };
  expect(kubectlCommand(pod)).toBe('kubectl describe pod db-1 -n shop');
  expect(kubectlCommand(pod, 'Do it: kubectl get x')).toBe('kubectl get x');
  expect(kubectlCommand({ kind: 'nodeDrain', name: 'n1/maintenance' }))
    .toBe('kubectl describe node n1');
  expect(kubectlCommand({ kind: 'operator', name: 'operator' })).toBe('');
});

test('the title and the icon of the window follow what needs a person', () => {
  expect(windowTitle('Tidegate', 0)).toBe('Tidegate');
  expect(windowTitle('Tidegate', 2)).toBe('(2) Tidegate');
  const icons = ['Ok', 'Waiting', 'Blocked', 'Failed', ''].map(severityIcon);
  expect(new Set(icons).size).toBe(icons.length);
});

test('a forecast is cut before its cause', () => {
  expect(forecastHead('The node will not be empty by 2026-01-01T12:10:00Z: 2 pods'))
    .toBe('The node will not be empty by 2026-01-01T12:10:00Z');
});

test('the keys move from item to item and stop at both ends', () => {
  expect([nextPlace(3, -1, 1), nextPlace(3, -1, -1)]).toEqual([0, 2]);
  expect([nextPlace(3, 2, 1), nextPlace(3, 0, -1), nextPlace(3, 1, 1)]).toEqual([2, 0, 2]);
});

const LIFECYCLES = [{ name: 'nodeDrain', label: 'node drain' }, {
  name: 'budget',
  label: 'budget',
}];
const actorOf = (name: string) => ({
  id: `nodeDrain/${name}`,
  kind: 'nodeDrain',
  name,
  status: 'active',
});

test('the palette offers views first, and actors only for a text, so that it stays short', () => {
  const actors = Array.from({ length: 100 }, (_, at) => actorOf(`node-${at}`));
  const labels = (query: string) =>
    paletteEntries(query, LIFECYCLES, actors).map(({ label }) => label);
  expect(labels('')).toEqual(['Drain board', 'node drain', 'budget']);
  expect(labels('node 77')).toEqual(['node-77']);
  expect(labels('node')).toHaveLength(12);
  expect(labels('drain').slice(0, 2)).toEqual(['Drain board', 'node drain']);
});
