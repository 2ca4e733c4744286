/**
 * The program of docs/interceptors.md as it is written there, with the rights of that page, on an
 * embedded cluster over HTTPS with the policies of the chart and the role evictions.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runCluster } from '../../packages/embedded-kubernetes/src/run.ts';
import { asRecord, type JsonRecord, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { serveRequests } from '../support/eviction-requests/served-requests.ts';
import { eventually } from '../support/eventually.ts';
import { conditionsOf, PODS, reportOf } from '../support/interceptors/embedded-cluster.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = readFileSync(`${PROJECT}docs/interceptors.md`, 'utf8');
const NAME = 'worker.example.com';
const WORKER = { token: 'of-the-worker', name: 'worker', uid: 'worker', groups: [] };
const CHART = `${PROJECT}charts/tidegate/files/`;

/** The first block of a language on the page. */
const blockOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(PAGE)?.[1] ?? '';

const recordIn = (value: unknown): JsonRecord => asRecord(value) ?? {};

/** A folder that ends with the test; in the project, so that its packages are found. */
const folder = (): string => {
  const path = mkdtempSync(join(PROJECT, '.interceptor-example-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

const startCluster = async () => {
  const crd = readFileSync(`${CHART}crds/evictionrequests.lifecycle.tidegate.dev.yaml`, 'utf8');
  const running = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 1,
    rate: 1,
    authorization: 'RBAC',
    users: [WORKER],
    definitions: [recordIn(parse(crd))],
  });
  onTestFinished(running.stop);
  const ask = (method: string, path: string, body?: object): JsonRecord => {
    const response = running.cluster.answer({
      method,
      path,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      ...(body === undefined ? {} : { body }),
    });
    if (response._tag === 'Watch' || response.status >= 300) {
      throw new Error(JSON.stringify(response));
    }
    return recordIn(response.body);
  };
  return { ...running, ask };
};

/** The policies of the chart, and the rights of the page. */
const install = (ask: (method: string, path: string, body: object) => unknown): void => {
  for (const file of ['evictionrequests-spec', 'evictionrequests-status']) {
    const text = readFileSync(`${CHART}policies/${file}.yaml`, 'utf8');
    for (const document of parseAllDocuments(text)) {
      const policy = recordIn(document.toJS());
      const isBinding = textAt(policy, 'kind')?.endsWith('Binding') === true;
      const plural = `validatingadmissionpolic${isBinding ? 'ybindings' : 'ies'}`;
      ask('POST', `/apis/admissionregistration.k8s.io/v1/${plural}`, policy);
    }
  }
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  const role = recordIn(parse(blockOf('yaml')));
  ask('POST', `${roles}/clusterroles`, role);
  ask('POST', `${roles}/clusterrolebindings`, {
    metadata: { name: 'worker' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: textAt(role, 'metadata', 'name'),
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: WORKER.name }],
  });
};

/** Starts the program of the page; what it prints is an error. */
const startExample = (directory: string, kubeconfig: string) => {
  const printed: string[] = [];
  writeFileSync(join(directory, 'worker.ts'), blockOf('ts'));
  const child = spawn(`${PROJECT}node_modules/.bin/node`, [join(directory, 'worker.ts')], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  child.stderr.on('data', (bytes: Uint8Array) => printed.push(new TextDecoder().decode(bytes)));
  onTestFinished(() => void child.kill('SIGKILL'));
  return printed;
};

test('the worked example lets a worker finish its jobs before its pod is evicted', async () => {
  const { ask, kubeconfig } = await startCluster();
  install(ask);
  const directory = folder();
  const [admin, worker] = [join(directory, 'admin'), join(directory, 'worker')];
  writeFileSync(admin, kubeconfig);
  writeFileSync(worker, kubeconfig.replace(/"token": "[^"]+"/, `"token": "${WORKER.token}"`));
  serveRequests({ kubeconfig: admin });
  const printed = startExample(directory, worker);
  const annotations = {
    'lifecycle.tidegate.dev/eviction-interceptors': NAME,
    'work.example.com/jobs': '2',
  };
  ask('POST', PODS, {
    metadata: { name: 'w-1', annotations },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  });
  const pod = `${PODS}/w-1`;
  const uid = textAt(ask('GET', pod), 'metadata', 'uid') ?? '';
  const requests = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
  ask('POST', requests, {
    apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
    kind: 'EvictionRequest',
    metadata: { name: uid },
    spec: {
      target: { pod: { name: 'w-1', uid } },
      requesters: [{ name: 'drain.example.com' }],
    },
  });
  const request = () => ask('GET', `${requests}/${uid}`);
  await eventually(
    () => textAt(ask('GET', pod), 'metadata', 'annotations', 'work.example.com/closed') === 'true',
    { what: `the worker is closed: ${printed.join('')}` },
  );
  expect(reportOf(request(), NAME)).toHaveProperty('heartbeatTime');
  expect(conditionsOf(request())).toEqual([]);
  ask('PATCH', pod, { metadata: { annotations: { 'work.example.com/jobs': '0' } } });
  await eventually(() => conditionsOf(request()).includes('Evicted'), {
    what: 'the pod is evicted',
  });
  expect(reportOf(request(), NAME)).toMatchObject({ message: 'All jobs are done' });
  expect(printed).toEqual([]);
});
