/**
 * An embedded cluster on simulated time with the CRDs and policies of the chart, the role
 * evictions, and clients of interceptors. Must be called inside a test, with which it ends.
 */
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { ClusterRequest } from '../../../packages/embedded-kubernetes/src/api.ts';
import { type Cluster, makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { startControllers } from '../../../packages/embedded-kubernetes/src/controllers/controllers.ts';
import { DEFAULT_TIMING } from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { storeEnvironment } from '../../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import { startNode } from '../../../packages/embedded-kubernetes/src/kinds/nodes.ts';
import { seededRandom } from '../../../packages/embedded-kubernetes/src/values/random.ts';
import type { KubernetesRequest } from '../../../packages/interceptor/mod.ts';
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../../../src/domain/json.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { clientOn, type Fault, headersOf, serveEvictions } from './connections.ts';

const FILES = new URL('../../../charts/tidegate/files/', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, FILES), 'utf8');
const DEFINITION: unknown = parse(textOf('crds/evictionrequests.lifecycle.tidegate.dev.yaml'));
const POLICIES = ['evictionrequests-spec.yaml', 'evictionrequests-status.yaml']
  .flatMap((file) => parseAllDocuments(textOf(`policies/${file}`)))
  .map((document) => document.toJS());

/** What is enough of Jobs: the embedded cluster has none. */
const JOBS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'jobs.batch',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    group: 'batch',
    scope: 'Namespaced',
    names: { plural: 'jobs', singular: 'job', kind: 'Job', listKind: 'JobList' },
    versions: [{
      name: 'v1',
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    }],
  },
};

const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';
const EVICTION_REQUESTS = `/apis/${GROUP_VERSION}/namespaces/default/evictionrequests`;
export const PODS = '/api/v1/namespaces/default/pods';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

/** What a test asks of the API server. */
export interface Asked {
  readonly status: number;
  readonly body: JsonRecord;
}

const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

/** Requests of people and requesters, without faults. */
export const asking = ({ answer }: Pick<Cluster, 'answer'>) => {
  const ask = (method: string, path: string, body?: object): Asked => {
    const type = path.includes('fieldManager') ? APPLY : MERGE;
    const response = answer({
      method,
      path,
      headers: headersOf(method === 'PATCH' ? type : undefined),
      ...(body === undefined ? {} : { body }),
    });
    return response._tag === 'Answer'
      ? { status: response.status, body: recordAt({ body: response.body }, 'body') ?? {} }
      : { status: 400, body: {} };
  };
  const get = (path: string): JsonRecord => ask('GET', path).body;
  return {
    ask,
    get,
    list: (path: string): readonly unknown[] => listOrEmptyAt(get(path), 'items'),
    create: (path: string, body: unknown): void => {
      const { status, body: answered } = ask('POST', path, recordAt({ body }, 'body') ?? {});
      if (status !== 201) throw new Error(`Cannot create at ${path}: ${JSON.stringify(answered)}`);
    },
    /** A requester asks that a pod leaves, or asks no more; the path of the request. */
    request: (pod: unknown, isWanted = true): string => {
      const name = textAt(pod, 'metadata', 'name') ?? '';
      const uid = textAt(pod, 'metadata', 'uid') ?? '';
      const path = `${EVICTION_REQUESTS}/${uid}`;
      const { status, body } = ask('PATCH', `${path}?fieldManager=drain&force=true`, {
        apiVersion: GROUP_VERSION,
        kind: 'EvictionRequest',
        metadata: { name: uid },
        spec: {
          target: { pod: { name, uid } },
          requesters: isWanted ? [{ name: 'drain.example.com' }] : [],
        },
      });
      if (status >= 300) throw new Error(JSON.stringify(body));
      return path;
    },
  };
};

/** What the chart installs, Jobs, and Nodes. */
const populate = ({ create }: ReturnType<typeof asking>, nodes: number): void => {
  for (const definition of [DEFINITION, JOBS]) {
    create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  for (const policy of POLICIES) {
    const isBinding = textAt(policy, 'kind')?.endsWith('Binding') === true;
    const plural = isBinding ? 'validatingadmissionpolicybindings' : 'validatingadmissionpolicies';
    create(`/apis/admissionregistration.k8s.io/v1/${plural}`, policy);
  }
  for (let number = 1; number <= nodes; number += 1) create('/api/v1/nodes', startNode(number));
};

/** The same cluster, which also knows who made which revision. */
const withWriters = (cluster: Cluster) => {
  const writers = new Map<number, string>();
  const { store } = cluster;
  const answer: Cluster['answer'] = (request) => {
    const before = store.revision();
    const response = cluster.answer(request);
    for (let version = before + 1; version <= store.revision(); version += 1) {
      // What a request within this one has written is that one's.
      if (!writers.has(version)) writers.set(version, writerName(request));
    }
    return response;
  };
  const handle: Cluster['handle'] = (request) => cluster.faults.intercept(request, answer);
  return {
    cluster: { ...cluster, answer, handle },
    writerOf: (version: number): string => writers.get(version) ?? '',
  };
};

/** The field manager of a request, or its agent. */
const writerName = ({ path, headers }: ClusterRequest): string =>
  new URL(path, 'http://cluster').searchParams.get('fieldManager') ?? headers?.['user-agent'] ?? '';

/** A cluster with this many Nodes and default interceptors, five seconds after its start. */
export const embeddedCluster = async (nodes = 2, defaults: readonly string[] = []) => {
  const time = simulatedTime();
  const { cluster, writerOf } = withWriters(makeCluster({ time, seed: 1 }));
  const requests = asking(cluster);
  populate(requests, nodes);
  const random = seededRandom(1);
  const controllers = startControllers(
    storeEnvironment({ cluster, time, random, timing: DEFAULT_TIMING }),
  );
  const stopRole = serveEvictions(cluster.handle, time, defaults);
  onTestFinished(async () => {
    controllers.stop();
    await stopRole();
  });
  await time.advance(5000);
  return {
    ...requests,
    time,
    cluster,
    /** Who made a revision: a field manager, or an agent; '' for what no request made. */
    writerOf,
    /** A client, the requests that it has sent, and the faults that it meets. */
    client: (fault: Fault = () => undefined, agent = 'interceptor') => {
      const sent: KubernetesRequest[] = [];
      return { client: clientOn(cluster.handle, { sent, fault, agent }), sent };
    },
    /** Advances time until something holds. */
    until: async (holds: () => boolean, what: string, atMostMs = 600_000): Promise<void> => {
      for (let waitedMs = 0; waitedMs < atMostMs; waitedMs += 250) {
        if (holds()) return;
        await time.advance(250);
      }
      throw new Error(`Not in ${atMostMs} ms: ${what}`);
    },
  };
};

/** The cluster of a test. */
export type EmbeddedCluster = Awaited<ReturnType<typeof embeddedCluster>>;

/** The entry of an interceptor in the status of a request. */
export const reportOf = (request: unknown, interceptor: string): unknown =>
  listOrEmptyAt(request, 'status', 'interceptors')
    .find((entry) => textAt(entry, 'name') === interceptor);

/** `Evicted`, `Canceled`, in the order of the conditions. */
export const conditionsOf = (request: unknown): readonly string[] =>
  listOrEmptyAt(request, 'status', 'conditions')
    .filter((one) => textAt(one, 'status') === 'True')
    .flatMap((one) => textAt(one, 'type') ?? []);
