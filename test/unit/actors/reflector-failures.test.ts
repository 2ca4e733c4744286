/** Caches whose lists and watches fail, on simulated time. */
import { expect, test } from 'vitest';
import { missingLists } from '../../../src/actors/informers/shared-informers.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { listsOf, reflectorBed } from '../../support/api/reflector-bed.ts';

test('lists again after a watch that was silent from its first byte to the idle deadline', async () => {
  const { time, api, start } = reflectorBed();
  start();
  await time.settle();
  api.bookmark();
  await time.advance(153_000);
  expect([api.watches.length, listsOf(api)], 'the first had a bookmark').toEqual([2, 1]);
  await time.advance(155_000);
  expect(listsOf(api)).toBe(2);
});

test('counts a watch that it closes for its silence among the endings', async () => {
  const causes: unknown[] = [];
  const { time, api, start } = reflectorBed({
    ...silentTelemetry,
    count: (name, _by, ...[labels]) => {
      if (name === 'tidegate_watch_endings_total') causes.push(labels);
    },
  });
  start();
  await time.settle();
  api.bookmark();
  await time.advance(153_000);
  expect(causes).toEqual([{ resource: 'things', outcome: 'Abandoned' }]);
});

test('logs a refusal that follows other failures', async () => {
  const lines: unknown[] = [];
  const log = (_level: string, _message: string, fields?: { readonly problem?: unknown }) =>
    void lines.push(fields?.problem);
  const { time, api, start } = reflectorBed({ ...silentTelemetry, log });
  api.refuseLists('unreachable', { status: 500 }, { status: 403 }, { status: 403 });
  const { reflector } = start();
  await time.settle();
  expect(missingLists([reflector])).toBe('initial list incomplete: things (unreachable)');
  await time.advance(120_000);
  expect(lines).toEqual(['unreachable', 'refused']);
});

test('waits for the Retry-After of its own list, also when another collection is answered', async () => {
  const { time, api, start } = reflectorBed();
  api.refuseLists({ status: 429, retryAfterSeconds: 20 });
  const { reflector } = start();
  await time.advance(1000);
  reflector.actor?.send({ type: 'server.answered' });
  await time.advance(18_000);
  expect(api.calls.length).toBe(1);
  await time.advance(5000);
  expect(reflector.synced).toBe(true);
});
