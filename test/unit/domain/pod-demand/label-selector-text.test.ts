/** Label selectors of the command line. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSelector } from '../../../../src/domain/pod-demand/label-selector-text.ts';

const selects = (text: string, labels: Readonly<Record<string, string>>): boolean => {
  const reading = readSelector(text);
  if (reading._tag === 'Malformed') throw new Error(reading.problem);
  return reading.selects(labels);
};

test.each([
  ['', {}, true],
  ['app=web', { app: 'web' }, true],
  ['app=web', {}, false],
  ['app == web', { app: 'web' }, true],
  ['app!=web', { app: 'db' }, true],
  ['app!=web', {}, true],
  ['app != web', { app: 'web' }, false],
  ['app in (web, db)', { app: 'db' }, true],
  ['app in (web,db)', { app: 'cache' }, false],
  ['app notin (web,db)', {}, true],
  ['app notin (web,db)', { app: 'web' }, false],
  ['app', { app: '' }, true],
  ['app', {}, false],
  ['!app', {}, true],
  ['! app', { app: 'x' }, false],
  ['app=', { app: '' }, true],
  ['example.com/team=a,tier!=test', { 'example.com/team': 'a' }, true],
  ['a in (x,y),b notin (z),!c,d', { a: 'y', d: '1' }, true],
  ['a in (x,y),b notin (z),!c,d', { a: 'y', b: 'z', d: '1' }, false],
  ['constructor', {}, false],
])('selector "%s" on %o: %s', (text, labels, expected) => {
  expect(selects(text, labels)).toBe(expected);
});

test.each(['a b', 'a=b=c', 'a in b', 'a in (b', ',', 'a,', '=x', 'a>3', 'a in (b c)'])(
  'selector "%s" is none, and its problem says where',
  (text) => {
    expect(readSelector(text)).toMatchObject({
      _tag: 'Malformed',
      problem: expect.stringContaining('not a condition'),
    });
  },
);

test('a selector is parsed from any text without an exception', () => {
  fc.assert(fc.property(fc.string(), (text) => {
    expect(['Selector', 'Malformed']).toContain(readSelector(text)._tag);
  }));
});
