/** When output is coloured, redrawn and wrapped. */
import { expect, test } from 'vitest';
import { makeScreen } from '../../../src/cli/terminal/screen.ts';
import { hasColors, processTerminal } from '../../../src/cli/terminal/terminal.ts';

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ TERM: 'dumb' }, true, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: 'false' }, true, false],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
])('with %j on a terminal (%s) output is coloured: %s', (environment, isTerminal, isColoured) => {
  expect(hasColors(environment, isTerminal)).toBe(isColoured);
});

test('a terminal is as large as it says now, anything else is 80 columns wide', () => {
  const stdout = { isTTY: true, columns: 120, rows: 50 };
  const terminal = processTerminal({}, stdout);
  expect([terminal.interactive, terminal.size()]).toEqual([true, { columns: 120, rows: 50 }]);
  stdout.columns = 60;
  expect(terminal.size().columns).toBe(60);
  const pipe = processTerminal({}, { columns: 60 });
  expect([pipe.interactive, pipe.size()]).toEqual([false, { columns: 80, rows: 24 }]);
  expect(processTerminal({ TERM: 'dumb' }, stdout).interactive).toBe(false);
});

// Lines were cut in UTF-16 units, and a longer one broke into the next line of the screen.
test('a line of wide characters is cut at the width of the terminal', () => {
  let printed = '';
  const screen = makeScreen({
    print: (text) => void (printed += text),
    size: () => ({ columns: 10, rows: 5 }),
  });
  screen.show(['核'.repeat(6), '核核核核核', 'e\u0301'.repeat(10), 'kernel-1234']);
  screen.close();
  const [, drawn = ''] = printed.split('\u001b[H');
  expect(drawn.split('\u001b[K').slice(0, 4).map((line) => line.trim()))
    .toEqual(['核核核核…', '核核核核核', 'e\u0301'.repeat(10), 'kernel-12…']);
});
