/** Tables as kubectl prints them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duration } from '../../../src/view/duration.ts';
import { type Column, tableText } from '../../../src/view/table.ts';

interface Row {
  readonly name: string;
  readonly note: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'NOTE', cell: ({ note }) => note },
];

describe('a table', () => {
  test('has columns as wide as their widest text, and no trailing spaces', () => {
    expect(tableText(COLUMNS, [{ name: 'a', note: 'x' }, { name: 'longer', note: '' }])).toBe(
      'NAME     NOTE\na        x\nlonger   -\n',
    );
  });

  // Columns were measured in UTF-16 units.
  test('has straight columns also with wide and combining characters', () => {
    const names = ['カーネル', 'ker', 'e\u0301te', '한글', '🔥x', 'ｶｰﾈﾙ'];
    expect(tableText(COLUMNS, names.map((name) => ({ name, note: 'x' })))).toBe(
      [
        'NAME       NOTE',
        'カーネル   x',
        'ker        x',
        'e\u0301te        x',
        '한글       x',
        '🔥x        x',
        'ｶｰﾈﾙ       x',
        '',
      ].join('\n'),
    );
  });

  test('has one line for each record, whatever the texts hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.string({ unit: 'binary' }), note: fc.string() })),
        (rows) => {
          const text = tableText(COLUMNS, rows);
          expect(text.split('\n')).toHaveLength(rows.length + 2);
          // deno-lint-ignore no-control-regex
          expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
        },
      ),
    );
  });
});

test.each([
  [0, '0s'],
  [-5000, '0s'],
  [59_600, '1m'],
  [90_000, '1m30s'],
  [3_600_000, '1h'],
  [93_784_000, '1d2h'],
])('%i ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
