/**
 * A CapacityRequest with as many resources as the API server stores is refused without work on each
 * of them. Cause: its text was made before its size was looked at, and each entry of a map that was
 * too large was measured, which together took 80 ms.
 */
import { expect, test } from 'vitest';
import { capacityRequestProjector } from '../../../src/domain/demand/request.ts';

const ENTRIES = 100_000;
const TIMES = 8;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const leastMs = (work: () => unknown): number =>
  Math.min(...Array.from({ length: TIMES }, () => {
    const startMs = cpuMs();
    work();
    return cpuMs() - startMs;
  }));

test('a request with too many resources costs less than to print it', () => {
  const raw = {
    metadata: { name: 'a', namespace: 'ns', uid: 'uid', resourceVersion: '1' },
    spec: {
      priority: 1,
      resources: Object.fromEntries(
        Array.from({ length: ENTRIES }, (_, index) => [`cpu${index}`, '8'] as const),
      ),
    },
  };
  const project = capacityRequestProjector();
  expect(project(raw)?.reading).toMatchObject({ _tag: 'Unreadable', tooLarge: true });
  expect(leastMs(() => project(raw))).toBeLessThan(0.8 * leastMs(() => JSON.stringify(raw)));
});
