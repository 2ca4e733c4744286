/** Defects of subscribers. */
import { config, Subject } from 'rxjs';
import { afterEach, expect, test } from 'vitest';
import { logStreamDefects } from '../../../src/streams/stream-defects.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

test('a subscriber that throws is told, and the stream goes on for everybody', async () => {
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
  // RxJS tells defects in a later turn of the loop.
  for (let turn = 0; turn < 1000 && logged.length < 2; turn += 1) await simulatedTime().settle();
  expect(received).toEqual([1, 2]);
  expect(logged).toEqual(Array(2).fill('A subscriber of a stream failed by a defect'));
});
