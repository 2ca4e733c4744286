/**
 * An embedded cluster on simulated time with the role availability, whose kubelets can be silenced.
 * Must be called inside a test, with which it ends.
 */
import { onTestFinished } from 'vitest';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { DEFAULT_TIMING } from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { startControllers } from '../../../packages/embedded-kubernetes/src/controllers/controllers.ts';
import { storeEnvironment } from '../../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import { startNode } from '../../../packages/embedded-kubernetes/src/kinds/nodes.ts';
import { seededRandom } from '../../../packages/embedded-kubernetes/src/values/random.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { Handle } from '../interceptors/connections.ts';
import { headersOf, serveAvailability } from '../interceptors/connections.ts';
import { isConditionTrue, rawConditionOf } from '../../../src/domain/condition.ts';
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
} from '../../../src/domain/json.ts';
import { simulatedTime } from '../time/simulated-time.ts';

const APPS = '/apis/apps/v1/namespaces/default';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

const workload = (kind: string, name: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'c', image: 'none', resources: { requests: { cpu: '1' } } }],
      },
    },
  },
});

/** A pod as tests compare it. */
export interface SeenPod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly isTerminating: boolean;
  readonly isReady: boolean;
  /** It has the condition that its Node is offline. */
  readonly isHomeOffline: boolean;
}

const seenPod = (raw: unknown): SeenPod => ({
  name: textAt(raw, 'metadata', 'name') ?? '',
  uid: textAt(raw, 'metadata', 'uid') ?? '',
  node: textAt(raw, 'spec', 'nodeName') ?? '',
  isTerminating: textAt(raw, 'metadata', 'deletionTimestamp') !== undefined,
  isReady: isConditionTrue(raw, 'Ready'),
  isHomeOffline: listOrEmptyAt(raw, 'status', 'conditions').some((one) =>
    textAt(one, 'type') === 'tidegate.dev/VolumeHomeNodeOffline'
  ),
});

/** `tidegate_nodes active` */
const seriesOf = (name: string, [labels = {}]: readonly [object?]): string =>
  [name, ...Object.values(labels)].join(' ');

/** The cluster with so many Nodes; the role begins with `serve`. */
export const failingCluster = async (nodes: number) => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1 });
  const notes: EventNote[] = [];
  const alarms: string[] = [];
  /** Values by name and labels. */
  const metrics = new Map<string, number>();
  /** Paths of pods that the role deleted, in order. */
  const deleted: string[] = [];
  /** Paths of pods whose status the role patched. */
  const patchedPods: string[] = [];
  const ask = (method: string, path: string, body?: object): JsonRecord => {
    const type = path.endsWith('/status') ? STRATEGIC : MERGE;
    const headers = headersOf(method === 'PATCH' ? type : undefined);
    const response = cluster.answer({ method, path, headers, ...(body && { body }) });
    const isDone = response._tag === 'Answer' && response.status < 300;
    if (!isDone) throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
    return recordAt({ body: response.body }, 'body') ?? {};
  };
  for (let number = 1; number <= nodes; number += 1) {
    ask('POST', '/api/v1/nodes', startNode(number));
  }
  const controllers = startControllers(
    storeEnvironment({ cluster, time, random: seededRandom(1), timing: DEFAULT_TIMING }),
  );
  onTestFinished(() => controllers.stop());
  await time.advance(15_000);
  const handle: Handle = (request) => {
    if (request.method === 'PATCH' && request.path.includes('/pods/')) {
      patchedPods.push(request.path);
    }
    if (request.method === 'DELETE') {
      deleted.push(request.path.split('/').at(-1)?.replace('?', '') ?? '');
    }
    return cluster.handle(request);
  };
  const node = (name: string): JsonRecord => ask('GET', `/api/v1/nodes/${name}`);
  return {
    time,
    notes,
    alarms,
    metrics,
    deleted,
    patchedPods,
    ask,
    /** The reason of the condition; empty without one. */
    state: (name: string): string =>
      textAt(
        rawConditionOf(node(name), 'tidegate.dev/Availability'),
        'reason',
      ) ?? '',
    taints: (name: string): readonly string[] =>
      listOrEmptyAt(node(name), 'spec', 'taints').map((taint) => textAt(taint, 'key') ?? ''),
    isCordoned: (name: string): boolean => booleanAt(node(name), 'spec', 'unschedulable') === true,
    deploy: (name: string, replicas: number): void =>
      void ask('POST', `${APPS}/deployments`, workload('Deployment', name, replicas)),
    deployStateful: (name: string, replicas: number): void =>
      void ask('POST', `${APPS}/statefulsets`, workload('StatefulSet', name, replicas)),
    pods: (): readonly SeenPod[] => listOrEmptyAt(ask('GET', '/api/v1/pods'), 'items').map(seenPod),
    /** Its kubelet stops, or goes on. */
    silence: (name: string, isSilent = true): void =>
      controllers.kubelets.setSilent(name, isSilent),
    patchNode: (name: string, body: object): void =>
      void ask('PATCH', `/api/v1/nodes/${name}`, body),
    setCondition: (name: string, type: string, status: string): void =>
      void ask('PATCH', `/api/v1/nodes/${name}/status`, {
        status: { conditions: [{ type, status }] },
      }),
    /** Starts the role; returns how to stop it. */
    serve: (stormLimitPercent = 20): () => Promise<void> => {
      const stop = serveAvailability(handle, time, {
        stormLimitPercent,
        telemetry: {
          ...silentTelemetry,
          observe: (name, value, ...labels) => void metrics.set(seriesOf(name, labels), value),
          gauge: (name, value, ...labels) => void metrics.set(seriesOf(name, labels), value),
          count: (name, by, ...labels) => {
            const series = seriesOf(name, labels);
            metrics.set(series, (metrics.get(series) ?? 0) + by);
          },
        },
        record: (note) => void notes.push(note),
        recordOnLease: (reason, note) => void alarms.push(`${reason}: ${note}`),
      });
      onTestFinished(stop);
      return stop;
    },
  };
};
