/** The embedded cluster is a function of its seed and of what is asked. */
import { expect, test } from 'vitest';
import { simulatedTime } from '../src/values/simulated-time.ts';
import { makeCluster } from '../src/cluster.ts';

const PODS = '/api/v1/namespaces/default/pods';

const recordedRun = (seed: number): readonly string[] => {
  const cluster = makeCluster({ time: simulatedTime(), seed });
  const lines: string[] = [];
  const watch = cluster.answer({ method: 'GET', path: '/api/v1/pods?watch=true' });
  if (watch._tag === 'Watch') {
    watch.open({
      lines: (chunk) => lines.push(...chunk.map((line) => JSON.stringify(line))),
      ended: () => {},
      cut: () => {},
    });
  }
  const ask = (method: string, path: string, body?: unknown): void => {
    const answer = cluster.answer({ method, path, ...(body === undefined ? {} : { body }) });
    lines.push(JSON.stringify(answer));
  };
  const spec = { containers: [{ name: 'main', image: 'none' }] };
  ask('POST', PODS, { metadata: { generateName: 'web-' }, spec });
  ask('POST', PODS, { metadata: { name: 'a' }, spec });
  ask('POST', `${PODS}/a/eviction`, { metadata: { name: 'a' } });
  ask('GET', PODS);
  return lines;
};

test('the embedded cluster repeats a run of the same seed byte for byte', () => {
  expect(recordedRun(5)).toEqual(recordedRun(5));
});

test('the embedded cluster gives other names and UIDs to another seed', () => {
  expect(recordedRun(5)).not.toEqual(recordedRun(6));
});
