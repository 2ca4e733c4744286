/** How a test bed deletes what tests left in etcd. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { layoutOf } from '../../../tools/testbed/control-plane.ts';
import { deleteStored } from '../../../tools/testbed/etcd.ts';
import { freePort } from '../../../tools/testbed/ports.ts';

/** The ranges that etcd would delete, each in a revision of its own. */
const deletedRanges = async (port: number): Promise<readonly unknown[]> => {
  const ranges: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((range) => {
      ranges.push(range);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return ranges;
};

test('a deletion has a revision of its own, so that a watch that goes on misses none', async () => {
  const port = await freePort();
  const ranges = await deletedRanges(port);
  const keys = Array.from({ length: 40 }, (_, index) => `/registry/minions/node-${index}`);
  await deleteStored(layoutOf('', [port, port, port]), keys);
  const wanted = keys.map((key) => ({ key: Buffer.from(key).toString('base64') }));
  expect(new Set(ranges)).toEqual(new Set(wanted));
});
