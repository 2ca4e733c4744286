/** Events of the embedded cluster do not pile up. */
import { expect, test } from 'vitest';
import { textAt } from '../src/values/json.ts';
import { simulatedTime } from '../src/values/simulated-time.ts';
import { makeCluster } from '../src/cluster.ts';

const MINUTE_MS = 60_000;
const EVENTS = '/api/v1/namespaces/default/events';

test('Events are deleted an hour after their last write, when the next one arrives', async () => {
  const time = simulatedTime();
  const { answer, store } = makeCluster({ time, seed: 1 });
  const write = (name: string): void => {
    const body = { metadata: { name }, involvedObject: { namespace: 'default' }, reason: 'Told' };
    answer({ method: 'POST', path: EVENTS, body });
  };
  const names = () =>
    [...store.collection('events').objects()].map((event) => textAt(event, 'metadata', 'name'));
  write('old');
  write('renewed');
  await time.advance(30 * MINUTE_MS);
  answer({
    method: 'PATCH',
    path: `${EVENTS}/renewed`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { count: 2 },
  });
  await time.advance(30 * MINUTE_MS);
  expect(names()).toEqual(['old', 'renewed']);
  write('new');
  expect(names()).toEqual(['renewed', 'new']);
  await time.advance(60 * MINUTE_MS);
  write('last');
  expect(names()).toEqual(['last']);
});
