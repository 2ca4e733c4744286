/**
 * What `tidegate drain NODE` reads of nodes, and changes besides its NodeMaintenance.
 *
 * Promises: a refusal is one sentence; an eviction names the UID of its pod, and the cordon the
 * version of its node.
 */
import { Effect } from 'effect';
import { handOverPatch } from '../domain/drain/cordon-patch.ts';
import { type DrainedNode, projectDrainedNode } from '../domain/drain/drained-node.ts';
import { type DrainPod, podProjection } from '../domain/drain/pod.ts';
import { textAt } from '../domain/json.ts';
import { DRAIN_SELECTIONS, nodesSelected } from './drain-reads.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';
import { readList } from './object-lists.ts';
import { readObject } from './object-reads.ts';
import type { Selection } from './watches.ts';

type Reads<Value> = Effect.Effect<Value, KubeFault, KubeApi>;

/** Which nodes, and which of their pods. */
export interface DrainChoice {
  readonly nodes: readonly string[];
  /** A label selector; undefined: the nodes by name. */
  readonly selector: string | undefined;
  /** A label selector of the pods; undefined: all. */
  readonly podSelector: string | undefined;
  /** Pods of one page of a list; 0: all in one page. */
  readonly chunkSize: number;
}

/** A node and its pods; or why it cannot be drained. */
export type NodeReading =
  | {
    readonly _tag: 'Read';
    readonly node: DrainedNode;
    readonly pods: readonly DrainPod[];
    /** `NAMESPACE/NAME` of the DaemonSets of the pods that do not exist. */
    readonly goneDaemonSets: ReadonlySet<string>;
  }
  | { readonly _tag: 'Refused'; readonly name: string; readonly why: string };

const AT_ONCE = 8;
const TIMEOUT_MS = 15_000;
const CONFLICT = 409;
const HAND_OVER_TRIES = 10;

const nodePath = (name: string): string =>
  `${DRAIN_SELECTIONS.nodes.path}/${encodeURIComponent(name)}`;

/** The pods of a node. */
export const podsOfNode = (node: string, podSelector: string | undefined): Selection => ({
  path: DRAIN_SELECTIONS.boundPods.path,
  query: {
    fieldSelector: `spec.nodeName=${node}`,
    ...(podSelector === undefined ? {} : { labelSelector: podSelector }),
  },
});

/** The DaemonSet of a pod as `NAMESPACE/NAME`; undefined for other pods. */
export const daemonSetOf = ({ namespace, controller }: DrainPod): string | undefined =>
  controller?.kind === 'DaemonSet' ? `${namespace}/${controller.name}` : undefined;

const isGone = (daemonSet: string): Reads<boolean> => {
  const [namespace = '', name = ''] = daemonSet.split('/');
  return readObject(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${encodeURIComponent(name)}`)
    .pipe(Effect.map(({ _tag }) => _tag === 'Absent'));
};

const readingOf = (
  node: DrainedNode,
  { podSelector, chunkSize }: DrainChoice,
): Reads<NodeReading> =>
  Effect.gen(function* () {
    const { name } = node;
    const read = yield* readList(podsOfNode(name, podSelector), podProjection(), chunkSize);
    if (read._tag === 'Refused') {
      return { _tag: 'Refused', name, why: `cannot list its pods: ${read.why}` };
    }
    const daemonSets = new Set(read.objects.flatMap((pod) => daemonSetOf(pod) ?? []));
    const gone = yield* Effect.filter([...daemonSets], isGone, { concurrency: AT_ONCE });
    return { _tag: 'Read', node, pods: read.objects, goneDaemonSets: new Set(gone) };
  });

const namedNode = (name: string, choice: DrainChoice): Reads<NodeReading> =>
  readObject(nodePath(name)).pipe(
    Effect.flatMap((read): Reads<NodeReading> => {
      const node = read._tag === 'Found' ? projectDrainedNode(read.object) : undefined;
      if (node !== undefined) return readingOf(node, choice);
      const why = read._tag === 'Refused' ? read.why : 'it does not exist';
      return Effect.succeed({ _tag: 'Refused', name, why });
    }),
  );

/** Reads the nodes with their pods; a text when no node can be read at all. */
export const readNodesToDrain = (
  choice: DrainChoice,
): Reads<readonly NodeReading[] | string> =>
  Effect.gen(function* () {
    const { selector } = choice;
    if (selector === undefined) {
      const names = [...new Set(choice.nodes)];
      return yield* Effect.all(names.map((name) => namedNode(name, choice)), {
        concurrency: AT_ONCE,
      });
    }
    const read = yield* readList(nodesSelected(selector), projectDrainedNode, choice.chunkSize);
    if (read._tag === 'Refused') return `Cannot list Nodes: ${read.why}`;
    return yield* Effect.all(read.objects.map((node) => readingOf(node, choice)), {
      concurrency: AT_ONCE,
    });
  });

/** Evicts a pod that a maintenance leaves there; a text when it is refused. */
export const evictPod = (
  { namespace, name, uid }: DrainPod,
): Reads<string | undefined> =>
  KubeApi.use((api) =>
    api.call({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(name)}/eviction`,
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: { preconditions: { uid } },
      },
      timeoutMs: TIMEOUT_MS,
    })
  ).pipe(
    Effect.map(({ status, body }) =>
      status < 300 || status === 404 || status === CONFLICT
        ? undefined
        : textAt(body, 'message') ?? `HTTP status ${status}`
    ),
  );

/** Leaves the cordon of a node to a person; a text when it is refused. */
export const handOverCordon = (name: string, nowMs: number): Reads<string | undefined> =>
  Effect.gen(function* () {
    const api = yield* KubeApi;
    for (let attempt = 0; attempt < HAND_OVER_TRIES; attempt += 1) {
      const read = yield* readObject(nodePath(name));
      if (read._tag === 'Absent') return undefined;
      if (read._tag === 'Refused') return read.why;
      const node = projectDrainedNode(read.object);
      const body = node && handOverPatch(node, nowMs);
      if (body === undefined) return undefined;
      const { status, body: answer } = yield* api.call({
        method: 'PATCH',
        path: nodePath(name),
        body,
        contentType: 'application/merge-patch+json',
        timeoutMs: TIMEOUT_MS,
      });
      if (status < 300) return undefined;
      if (status !== CONFLICT) return textAt(answer, 'message') ?? `HTTP status ${status}`;
    }
    return 'others keep changing the Node';
  });
