/** Defects of subscribers. */
import { config, Subject } from 'rxjs';
import { afterEach, expect, test } from 'vitest';
import { logStreamDefects } from '../../../src/streams/stream-defects.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

test('a subscriber that throws is logged, and the stream continues for the others', async () => {
  const logged: string[] = [];
  logStreamDefects({ ...silentTelemetry, log: (_, message) => logged.push(message) });
  const facts = new Subject<number>();
  const received: number[] = [];
  facts.subscribe(() => {
    throw new Error('planted');
  });
  facts.subscribe((fact) => received.push(fact));
  facts.next(1);
  facts.next(2);
  // RxJS reports defects in a later turn of the event loop.
  for (let turn = 0; turn < 1000 && logged.length < 2; turn += 1) await simulatedTime().settle();
  expect(received).toEqual([1, 2]);
  expect(logged).toEqual(Array(2).fill('Stream subscriber threw'));
});
