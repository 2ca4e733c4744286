/**
 * The capacity of an embedded cluster: nodes and pods written one by one through its API server,
 * then listed in pages, selected by field, and patched with an open watch.
 *
 * Not measured: its controllers and kubelets, which would have to place and start every pod, and
 * HTTP, which the simulation does not use.
 */
import process from 'node:process';
import { asRecord, type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { simulatedTime } from '../support/time/simulated-time.ts';
import { type Cluster, makeCluster } from '../../packages/embedded-kubernetes/src/cluster.ts';
import { startNode } from '../../packages/embedded-kubernetes/src/kinds/nodes.ts';
import { collectGarbage, duration, mebibytes, print, printFigure, timed } from './measurement.ts';

const NODES = 100_000;
const PODS = 300_000;
const NAMESPACES = 100;
const PAGE = 500;
const PATCHES = 10_000;
const SECONDS_MAX = 60;
const BYTES_MAX = 4 * 2 ** 30;

const CONDITIONS = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];

/** A running pod: labels, an owner, two containers, conditions. */
const pod = (number: number): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `web-${number}`,
    labels: { app: `app-${number % 2000}`, tier: 'web', 'pod-template-hash': '5d8f7c9b6' },
    annotations: { 'example.com/config': 'a'.repeat(64) },
    ownerReferences: [{
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: `app-${number % 2000}`,
      uid: '6b3720b7-0528-4552-a641-83f699e7ab68',
      controller: true,
      blockOwnerDeletion: true,
    }],
  },
  spec: {
    nodeName: `node-${1 + number % NODES}`,
    containers: ['main', 'side'].map((name) => ({
      name,
      image: `registry.example.com/${name}:1.2.3`,
      env: [{ name: 'A', value: 'b' }, { name: 'C', value: 'd' }],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    })),
  },
});

const STATUS = {
  status: {
    phase: 'Running',
    podIP: '10.1.2.3',
    conditions: CONDITIONS.map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  },
};

const MERGE = { 'content-type': 'application/merge-patch+json' };

type Asked = Parameters<Cluster['answer']>[0];

const asking = ({ answer }: Cluster) => (request: Asked): JsonRecord => {
  const response = answer(request);
  const body = response._tag === 'Answer' ? asRecord(response.body) : undefined;
  if (response._tag !== 'Answer' || response.status >= 300 || body === undefined) {
    throw new Error(`Cannot ${request.method} ${request.path}: ${textAt(body, 'message') ?? ''}`);
  }
  return body;
};

const podsOf = (number: number): string => `/api/v1/namespaces/team-${number % NAMESPACES}/pods`;

const load = (cluster: Cluster): void => {
  const ask = asking(cluster);
  for (let number = 0; number < NAMESPACES; number += 1) {
    const body = { metadata: { name: `team-${number}` } };
    ask({ method: 'POST', path: '/api/v1/namespaces', body });
  }
  for (let number = 1; number <= NODES; number += 1) {
    ask({ method: 'POST', path: '/api/v1/nodes', body: startNode(number) });
  }
  for (let number = 0; number < PODS; number += 1) {
    ask({ method: 'POST', path: podsOf(number), body: pod(number) });
  }
};

const start = (cluster: Cluster): void => {
  const ask = asking(cluster);
  for (let number = 0; number < PODS; number += 1) {
    const path = `${podsOf(number)}/web-${number}/status`;
    ask({ method: 'PATCH', path, headers: MERGE, body: STATUS });
  }
};

/** Lists all pages of a collection; returns the number of items. */
const paged = (cluster: Cluster, collection: string): number => {
  const ask = asking(cluster);
  let [count, token] = [0, ''];
  do {
    const query = `?limit=${PAGE}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`;
    const page = ask({ method: 'GET', path: `${collection}${query}` });
    count += listOrEmptyAt(page, 'items').length;
    token = textAt(page, 'metadata', 'continue') ?? '';
  } while (token !== '');
  return count;
};

const cordon = (cluster: Cluster): number => {
  const ask = asking(cluster);
  let received = 0;
  const response = cluster.answer({
    method: 'GET',
    path: `/api/v1/nodes?watch=true&resourceVersion=${cluster.store.revision()}`,
  });
  if (response._tag !== 'Watch') throw new Error('No watch was opened');
  const nothing = (): void => {};
  const lines = (some: readonly unknown[]): void => {
    received += some.length;
  };
  const close = response.open({ lines, ended: nothing, cut: nothing });
  for (let number = 1; number <= PATCHES; number += 1) {
    const path = `/api/v1/nodes/node-${number}`;
    ask({ method: 'PATCH', path, headers: MERGE, body: { spec: { unschedulable: true } } });
  }
  close();
  return received;
};

const kept = (within: boolean): string => within ? 'kept' : 'MISSED';

/** Loads 100,000 nodes and 300,000 pods and works on them. */
export const benchCluster = async (): Promise<void> => {
  print();
  print(`cluster: ${NODES} nodes and ${PODS} pods in the embedded cluster`);
  const cluster = makeCluster({ time: simulatedTime(), seed: 1 });
  const before = process.cpuUsage();
  const loadMs = await timed(() => load(cluster));
  const { user, system } = process.cpuUsage(before);
  const peakBytes = process.memoryUsage.rss();
  printFigure('load all of them', duration(loadMs), `${kept(loadMs <= SECONDS_MAX * 1000)} (60 s)`);
  printFigure('processor time of it', duration((user + system) / 1000));
  printFigure('resident after it', mebibytes(peakBytes), `${kept(peakBytes <= BYTES_MAX)} (4 GiB)`);
  collectGarbage();
  printFigure('of that in use', mebibytes(process.memoryUsage().heapUsed));
  printFigure('write the status of every pod', duration(await timed(() => start(cluster))));
  const afterBytes = process.memoryUsage.rss();
  printFigure(
    'resident after it',
    mebibytes(afterBytes),
    `${kept(afterBytes <= BYTES_MAX)} (4 GiB)`,
  );
  let count = 0;
  const pagesMs = await timed(() => {
    count = paged(cluster, '/api/v1/pods');
  });
  printFigure(`list ${count} pods in pages of ${PAGE}`, duration(pagesMs));
  const query = '/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-7';
  const chosenMs = await timed(() => asking(cluster)({ method: 'GET', path: query }));
  printFigure('list the pods of one node', duration(chosenMs));
  let received = 0;
  const cordonMs = await timed(() => {
    received = cordon(cluster);
  });
  printFigure(`cordon ${PATCHES} nodes, ${received} of them sent to a watch`, duration(cordonMs));
};
