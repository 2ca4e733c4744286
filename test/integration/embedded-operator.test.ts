/** The roles as separate processes on an embedded cluster: no Go, no etcd, no containers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { isJoined } from '../support/api/cluster-connection.ts';
import { rawRequest } from '../support/demand/capacity-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startClusterBy } from '../support/processes/cluster-child.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';

const CUSTOM = '/apis/bigfleet.lucy.sh/v1alpha1';
const REQUESTS = `${CUSTOM}/namespaces/default/capacityrequests`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidegate-embedded-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a cluster with one node; returns its kubeconfig and a request function. */
const startCluster = async () => {
  const { child, kubeconfig, server } = await startClusterBy(
    startTidegate,
    join(folder, 'kubeconfig'),
  );
  const ask = async (
    path: string,
    asked: { readonly method?: string; readonly body?: object } = {},
  ): Promise<unknown> => {
    const { method = 'GET', body } = asked;
    const answer = await fetch(`${server}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await answer.json();
  };
  return { child, kubeconfig, ask };
};

describe('tidegate on an embedded cluster', () => {
  test('a request brings a machine, and the machine goes when the request does', async () => {
    const { child, kubeconfig, ask } = await startCluster();
    const fleet = await startFleet({ kubeconfig });
    const operator = startTidegate({
      name: 'operator',
      args: [
        'operator',
        '--cluster-id=embedded',
        `--shard-addr=${fleet.address}`,
        '--insecure-plaintext',
        `--kubeconfig=${kubeconfig}`,
        '--metrics-addr=0',
        '--health-addr=0',
        '--rollup-interval=3s',
      ],
    });
    const { metadata: _, ...request } = rawRequest();
    await ask(REQUESTS, { method: 'POST', body: { ...request, metadata: { name: 'batch' } } });
    const upcoming = async () => listOrEmptyAt(await ask(`${CUSTOM}/upcomingnodes`), 'items');
    const ready = await eventually(async () => (await upcoming()).find(isJoined), {
      what: 'an UpcomingNode to be Ready with its Node',
    });
    const node = textAt(ready, 'status', 'nodeRef', 'name') ?? '';
    expect(textAt(await ask(`/api/v1/nodes/${node}`), 'kind')).toBe('Node');

    await ask(`${REQUESTS}/batch`, { method: 'DELETE' });
    await eventually(async () => (await upcoming()).length === 0, {
      what: 'the UpcomingNode to go',
    });
    await expect.poll(async () => textAt(await ask(`/api/v1/nodes/${node}`), 'reason'))
      .toBe('NotFound');
    expect([await operator.stop(), await fleet.stop(), await child.stop()]).toEqual([0, 0, 0]);
  });
});
