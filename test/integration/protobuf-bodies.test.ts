/**
 * The decoder of protobuf bodies beside a real API server's own encoder: each object, asked for in
 * protobuf and in JSON, is the same object.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { asRecord, type JsonRecord, parseJson, textAt } from '../../src/domain/json.ts';
import {
  PROTOBUF,
  protobufBody,
} from '../../packages/embedded-kubernetes/src/http/protobuf-bodies.ts';
import { protobufPage } from '../../tools/protobuf-tables.ts';
import { adminAccess } from '../support/api/cluster-connection.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithGo, describeWithTestbed, type Testbed } from '../support/api/testbed.ts';

const IN_DEFAULT = 'namespaces/default';
const AFFINITY = { key: 'zone', operator: 'In', values: ['a', 'b'] };
const SELECTOR = {
  matchLabels: { app: 'a' },
  matchExpressions: [{ key: 'x', operator: 'Exists' }],
};

const POD_SPEC = {
  serviceAccountName: 'proto',
  nodeSelector: { disk: 'ssd' },
  priority: 0,
  terminationGracePeriodSeconds: 0,
  tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
  volumes: [
    { name: 'empty', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'map', configMap: { name: 'a', items: [{ key: 'k', path: 'p', mode: 420 }] } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'a', readOnly: true } },
    {
      name: 'all',
      projected: {
        sources: [
          { serviceAccountToken: { audience: 'x', expirationSeconds: 600, path: 'token' } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
  ],
  initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
  containers: [{
    name: 'main',
    image: 'i',
    args: ['', '-v'],
    env: [
      { name: 'A', value: '' },
      { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } },
    ],
    envFrom: [{ prefix: 'P_', configMapRef: { name: 'a' } }],
    ports: [{ containerPort: 80, name: 'web' }],
    resources: { requests: { cpu: '1500m', memory: '1Gi' }, limits: { cpu: '2' } },
    livenessProbe: { httpGet: { path: '/', port: 'web' }, periodSeconds: 7 },
    readinessProbe: { tcpSocket: { port: 80 } },
    lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
    securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'empty', mountPath: '/e', subPath: 's' }],
  }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [AFFINITY] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: SELECTOR } },
      ],
    },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: SELECTOR,
      minDomains: 2,
    },
  ],
};

const TEMPLATE = {
  metadata: { labels: { app: 'a', x: '' } },
  spec: { ...POD_SPEC, priority: undefined },
};
const ALWAYS = { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Always' } };
const CLAIM = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
};

/** Objects by the collection that they are created in. */
const OBJECTS: readonly (readonly [path: string, object: JsonRecord])[] = [
  [`api/v1/${IN_DEFAULT}/configmaps`, {
    metadata: { labels: { a: '' }, finalizers: ['example.com/x'] },
    data: { a: '', b: 'ä€😀' },
    binaryData: { c: 'AP8=' },
    immutable: false,
  }],
  [`api/v1/${IN_DEFAULT}/secrets`, { type: 'Opaque', data: { a: 'AAE=' } }],
  [`api/v1/${IN_DEFAULT}/serviceaccounts`, { automountServiceAccountToken: false }],
  [`api/v1/${IN_DEFAULT}/services`, {
    spec: { selector: { app: 'a' }, ports: [{ name: 'w', port: 80, targetPort: 'web' }] },
  }],
  [`api/v1/${IN_DEFAULT}/persistentvolumeclaims`, { spec: CLAIM }],
  ['api/v1/persistentvolumes', {
    spec: {
      ...CLAIM,
      resources: undefined,
      capacity: { storage: '1Gi' },
      hostPath: { path: '/x' },
    },
  }],
  [`api/v1/${IN_DEFAULT}/pods`, { spec: POD_SPEC }],
  ['api/v1/nodes', {
    spec: { unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] },
    status: { capacity: { cpu: '4', memory: '16Gi' }, conditions: [] },
  }],
  [`apis/apps/v1/${IN_DEFAULT}/deployments`, {
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'a' } },
      template: ALWAYS,
      strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
    },
  }],
  [`apis/apps/v1/${IN_DEFAULT}/statefulsets`, {
    spec: {
      replicas: 0,
      serviceName: 'a',
      selector: { matchLabels: { app: 'a' } },
      template: ALWAYS,
      volumeClaimTemplates: [{ metadata: { name: 'own' }, spec: CLAIM }],
    },
  }],
  [`apis/apps/v1/${IN_DEFAULT}/daemonsets`, {
    spec: { selector: { matchLabels: { app: 'a' } }, template: ALWAYS },
  }],
  [`apis/policy/v1/${IN_DEFAULT}/poddisruptionbudgets`, {
    spec: { maxUnavailable: '10%', selector: SELECTOR },
  }],
  [`apis/coordination.k8s.io/v1/${IN_DEFAULT}/leases`, {
    spec: { holderIdentity: '', renewTime: '2026-01-02T03:04:05.000006Z', leaseTransitions: 0 },
  }],
  [`apis/events.k8s.io/v1/${IN_DEFAULT}/events`, {
    eventTime: '2026-01-02T03:04:05.678901Z',
    reportingController: 'x/y',
    reportingInstance: 'z',
    action: 'A',
    reason: 'R',
    type: 'Normal',
    regarding: { kind: 'Pod', namespace: 'default', name: 'a' },
    series: { count: 2, lastObservedTime: '2026-01-02T03:04:05.000000Z' },
  }],
  ['apis/scheduling.k8s.io/v1/priorityclasses', { value: -5, globalDefault: false }],
  ['apis/storage.k8s.io/v1/volumeattachments', {
    spec: { attacher: 'x', nodeName: 'n', source: { persistentVolumeName: 'v' } },
  }],
];

const CRDS = new URL('../../charts/tidegate/files/crds/', import.meta.url);

/** Without nulls, and without the types of claim templates, which their protobuf leaves out. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(comparable);
  const record = asRecord(value);
  if (record === undefined) return value;
  const isTemplate = record['kind'] === 'PersistentVolumeClaim' && record['apiVersion'] === 'v1' &&
    textAt(record, 'metadata', 'name') === 'own';
  return Object.fromEntries(
    Object.entries(record)
      .filter(([key, inner]) =>
        inner !== null && !(isTemplate && ['kind', 'apiVersion'].includes(key))
      )
      .map(([key, inner]) => [key, comparable(inner)]),
  );
};

const clientOf = async (bed: Testbed) => {
  const { server, authority, token } = await adminAccess(bed);
  const dispatcher = new Agent({ connect: { ca: authority } });
  return async (method: 'GET' | 'POST', path: string, accept: string, object?: JsonRecord) => {
    const answer = await request(`${server}/${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${token}`,
        accept,
        'content-type': 'application/json',
      },
      ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    });
    return new Uint8Array(await answer.body.arrayBuffer());
  };
};

const jsonOf = (bytes: Uint8Array): JsonRecord =>
  asRecord(parseJson(new TextDecoder().decode(bytes))) ?? {};

const UNKNOWN = { apiVersion: 'unknown', kind: 'Unknown' };

describeWithTestbed('protobuf of kube-apiserver', {}, (bed) => {
  const reads = async (path: string): Promise<void> => {
    const call = await clientOf(bed());
    const json = jsonOf(await call('GET', path, 'application/json'));
    const proto = protobufBody(await call('GET', path, PROTOBUF), UNKNOWN);
    expect(comparable(proto)).toEqual(comparable(json));
  };

  it.each(OBJECTS)('of %s is its JSON', async (path, object) => {
    const call = await clientOf(bed());
    const metadata = { name: 'proto', ...asRecord(object['metadata']) };
    const made = jsonOf(await call('POST', path, 'application/json', { ...object, metadata }));
    expect([textAt(made, 'metadata', 'name'), textAt(made, 'message')]).toEqual([
      'proto',
      undefined,
    ]);
    await reads(`${path}/proto`);
  });

  it('of a definition with a schema is its JSON', async () => {
    const call = await clientOf(bed());
    const path = 'apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const name = 'capacityrequests.bigfleet.lucy.sh';
    const text = await readFile(new URL(`${name}.yaml`, CRDS), 'utf8').catch(() => undefined);
    if (text === undefined) throw new Error(`There is no definition ${name}`);
    await call('POST', path, 'application/json', asRecord(parse(text)));
    // Its status is written by a controller meanwhile.
    await eventually(() => reads(`${path}/${name}`).then(() => true), { what: 'the same object' });
  });
});

describeWithGo('the table of protobuf messages', () => {
  it('is that of the Go sources; "node tools/kubernetes-protobuf.ts" writes it', async () => {
    const { path, text } = await protobufPage();
    expect(text).toBe(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'));
  });
});
