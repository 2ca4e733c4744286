/** Defects of subscribers. */
import { config, Subject } from 'rxjs';
import { afterEach, expect, test } from 'vitest';
import { logStreamDefects } from '../../../src/actors/fleet-session/stream-defects.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

test('a subscriber that throws is logged, and the stream continues for the others', async () => {
  const said: string[] = [];
  logStreamDefects({ ...silentTelemetry, log: (_, message) => said.push(message) });
  const facts = new Subject<number>();
  const heard: number[] = [];
  facts.subscribe(() => {
    throw new Error('planted');
  });
  facts.subscribe((fact) => heard.push(fact));
  facts.next(1);
  facts.next(2);
  // RxJS reports defects in a later turn of the event loop.
  for (let turn = 0; turn < 1000 && said.length < 2; turn += 1) await simulatedTime().settle();
  expect(heard).toEqual([1, 2]);
  expect(said).toEqual(Array(2).fill('Stream subscriber threw'));
});
