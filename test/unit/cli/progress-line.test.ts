/** Progress on stderr. */
import { expect, test } from 'vitest';
import { progressLine } from '../../../src/cli/terminal/progress-line.ts';

const written = (isTTY: boolean, times: readonly number[]): string => {
  let [text, nowMs] = ['', 0];
  const line = progressLine({ monotonic: () => nowMs }, {
    isTTY,
    write: (part) => void (text += part),
  });
  for (const ms of times) {
    nowMs = ms;
    line.show(`at ${ms}`);
  }
  line.clear();
  return text;
};

test('progress overwrites its line ten times a second at most, and leaves nothing', () => {
  expect(written(true, [0, 50, 100, 120])).toBe('\r\u001b[Kat 0\r\u001b[Kat 100\r\u001b[K');
});

test('progress is not written to what is no terminal', () => {
  expect(written(false, [0, 100])).toBe('');
});
