/**
 * The files that the page fetches from its process.
 *
 * Regression: a drawing or the catalogue whose only fetch failed stayed away until the page was
 * loaded again.
 */
import { expect, test } from 'vitest';
import { fetchedFiles } from '../../../src/web/page/fetched-files.ts';

const DRAWING = '/charts/nodeDrain.svg';
const found = { ok: true, text: () => Promise.resolve('<svg/>') };

/** Files that are answered one after another; the last answer is repeated. */
const answering = (...answers: readonly (() => Promise<typeof found>)[]) => {
  const asked: string[] = [];
  const files = fetchedFiles((address) => {
    asked.push(address);
    const answer = answers[asked.length - 1] ?? answers.at(-1);
    return answer === undefined ? Promise.reject(new Error('no answer')) : answer();
  });
  return { asked, files };
};

test('a file that has arrived is not fetched again', async () => {
  const { asked, files } = answering(() => Promise.resolve(found));
  expect(await files(DRAWING)).toBe('<svg/>');
  expect([await files(DRAWING), asked]).toEqual([undefined, [DRAWING]]);
});

test('a file is not fetched twice at a time', async () => {
  const { asked, files } = answering(() => Promise.resolve(found));
  const both = await Promise.all([files(DRAWING), files(DRAWING)]);
  expect([both, asked]).toEqual([['<svg/>', undefined], [DRAWING]]);
});

test.each([
  ['that is not sent', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['that is refused', () => Promise.resolve({ ...found, ok: false })],
  [
    'that breaks off',
    () => Promise.resolve({ ok: true, text: () => Promise.reject(new TypeError('network error')) }),
  ],
])('a fetch %s is made again when the file is wanted again', async (_, fails) => {
  const { files } = answering(fails, () => Promise.resolve(found));
  expect(await files(DRAWING)).toBeUndefined();
  expect(await files(DRAWING)).toBe('<svg/>');
});
