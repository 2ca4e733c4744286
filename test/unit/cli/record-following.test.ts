/** How records are shown again while nothing changes in the cluster. */
import { expect, test } from 'vitest';
import { followRecords } from '../../../src/cli/terminal/record-following.ts';
import { forwardedTime } from '../../support/time/forwarded-time.ts';

const SECOND_MS = 1000;
const DRAWS = 5;

test('records are shown each second without a change, because time alone changes some', async () => {
  const time = forwardedTime();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const drawsMs: number[] = [];
  const how = await followRecords({
    cluster: { kubeconfig: '/nonexistent/config', context: undefined },
    time,
    start: () => ({ whenReady: Promise.resolve(), onChange: () => () => {}, stop: () => {} }),
    show: (nowMs) => {
      drawsMs.push(nowMs);
      if (drawsMs.length === DRAWS) return end();
      // The timer of the next second is set after this.
      queueMicrotask(() => time.forward(SECOND_MS));
    },
    report: () => {},
    ended,
  });
  expect([how, drawsMs.length]).toEqual(['ended', DRAWS]);
  const [first = 0, ...further] = drawsMs;
  expect(further.every((nowMs, index) => nowMs >= first + (index + 1) * SECOND_MS)).toBe(true);
});
