/** The export of traces: to the path of OTLP, and without harm when no collector answers. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Effect } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { startTracing } from '../../../src/observability/otlp-tracing.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { freePort } from '../../../tools/testbed/ports.ts';

const CALL = { method: 'PATCH', path: '/api/v1/nodes/n1' };
const DRAIN = { name: 'n1', owner: 'reclaim', orders: [{ id: 'i1' }], annotation: null };

/** One request of a drain, with tracing to this endpoint; ends tracing. */
const tracedRequest = async (endpoint: string): Promise<number> => {
  const tracing = await startTracing({
    endpoint,
    version: '1',
    cluster: 'c',
    time: realTime,
    times: { exportMs: 3_600_000, closeMs: 60_000 },
  });
  const snapshot = { status: 'active' as const, output: undefined, error: undefined };
  tracing.observe({
    id: 'nodeDrain/n1',
    event: { type: 'test' },
    snapshot: { ...snapshot, ...{ context: DRAIN, value: 'underway' } },
  });
  const answer = await Effect.runPromise(
    tracing.traceCall(CALL, Effect.succeed({ status: 200 })),
  );
  await tracing.close();
  return answer.status;
};

test('spans are posted to /v1/traces of the endpoint as protobuf when tracing ends', async () => {
  const received: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    received.push(request.method, request.url, request.headers['content-type']);
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  expect(await tracedRequest(`http://127.0.0.1:${port}/`)).toBe(200);
  expect(received).toEqual(['POST', '/v1/traces', 'application/x-protobuf']);
});

test('a request has its answer, and tracing ends, when no collector listens', async () => {
  expect(await tracedRequest(`http://127.0.0.1:${await freePort()}`)).toBe(200);
});

test('the operator loads the export on demand only', async () => {
  const path = new URL('../../../src/cli/operator/operator-process.ts', import.meta.url);
  const imports = (await readFile(path, 'utf8')).split('\n')
    .filter((line) => line.includes('otlp-tracing.ts'));
  expect(imports.length).toBe(2);
  expect(imports.filter((line) => !/^import type |await import\(/.test(line))).toEqual([]);
});
