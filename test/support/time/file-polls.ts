/** Files are read in real time, also by what lives on simulated time. */
import { expect } from 'vitest';
import type { simulatedTime } from './simulated-time.ts';

/** Advances simulated time by a poll of a followed file, again and again until it has happened. */
export const untilFileRead = (
  time: ReturnType<typeof simulatedTime>,
  happened: () => boolean,
): Promise<void> =>
  expect.poll(async () => {
    await time.advance(5_000);
    return happened();
  }).toBe(true);
