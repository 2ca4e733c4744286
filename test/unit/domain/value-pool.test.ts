/**
 * Pools of shared values keep what is in use, and nothing else. Cause: a pool held 20,000 values of
 * any size until it was full, so that the labels of pods that had gone, and the texts of specs that
 * had changed, stayed in memory: gigabytes, when somebody made them large.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { capacityRequestProjector } from '../../../src/domain/demand/request.ts';
import { podProjection } from '../../../src/domain/drain/pod.ts';
import { textPool } from '../../../src/domain/text-pool.ts';
import { valuePool } from '../../../src/domain/value-pool.ts';
import { pause } from '../../support/eventually.ts';

const GONE = 1000;
const LARGE = 16_000;
const BYTES_MAX = 6 * 1024 * 1024;

/** Bytes that live once all garbage is collected, also what finalizers release. */
const liveBytes = async (): Promise<number> => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  for (let round = 0; round < 3; round += 1) {
    if (typeof collect === 'function') collect();
    await pause(10);
  }
  return process.memoryUsage().heapUsed;
};

/** Text of its own memory: a repetition alone is a few pointers. */
const large = (number: number): string => Buffer.alloc(LARGE, `${number} `).toString('latin1');

test('a value pool returns the equal value that is in use', () => {
  const share = valuePool<{ readonly a: number }>();
  const first = share({ a: 1 });
  expect(share({ a: 1 })).toBe(first);
  expect(share({ a: 2 })).toEqual({ a: 2 });
});

test.runIf(!('deno' in process.versions))(
  'the labels of pods that are gone are freed',
  async () => {
    const project = podProjection();
    const before = await liveBytes();
    for (let number = 0; number < GONE; number += 1) {
      project({
        metadata: {
          name: `pod-${number}`,
          namespace: 'ns',
          uid: `uid-${number}`,
          resourceVersion: '1',
          labels: { large: large(number) },
        },
      });
      if (number % 100 === 0) await pause(0);
    }
    expect(await liveBytes() - before).toBeLessThan(BYTES_MAX);
    expect(project({})).toBeUndefined();
  },
);

test.runIf(!('deno' in process.versions))('long specs of requests are not kept', async () => {
  const project = capacityRequestProjector();
  const before = await liveBytes();
  for (let number = 0; number < GONE; number += 1) {
    const values = Array.from({ length: 50 }, (_, index) => `${number}-${index}`.padEnd(300, 'x'));
    project({
      metadata: { name: 'a', namespace: 'ns', uid: 'uid', resourceVersion: '1' },
      spec: {
        priority: 1,
        resources: { cpu: '1' },
        requirements: [{ key: 'k', operator: 'In', values }],
      },
    });
  }
  expect(await liveBytes() - before).toBeLessThan(BYTES_MAX);
  expect(project({})).toBeUndefined();
});

test.runIf(!('deno' in process.versions))('a text pool has a bound of characters', async () => {
  const intern = textPool(20_000);
  const before = await liveBytes();
  for (let number = 0; number < 4 * GONE; number += 1) intern(large(number));
  expect(await liveBytes() - before).toBeLessThan(4 * BYTES_MAX);
  expect(intern('a')).toBe('a');
});
