/**
 * What `tidegate drain NODE` reads of nodes, and changes besides its NodeMaintenance.
 *
 * Promises: a refusal is one sentence; an eviction names the UID of its pod, and the cordon that of
 * its Node, or its version.
 */
import { Effect } from 'effect';
import { handOverPatch, ownHandOverPatch } from '../domain/drain/cordon-patch.ts';
import { type DrainedNode, projectDrainedNode } from '../domain/drain/drained-node.ts';
import { type DrainPod, podProjection } from '../domain/drain/pod.ts';
import { textAt } from '../domain/json.ts';
import { DRAIN_SELECTIONS, nodesSelected } from './drain-reads.ts';
import { evictionBody } from './eviction-body.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';
import { type CompleteList, readList } from './object-lists.ts';
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
    /** The pods as they were listed. */
    readonly listed: CompleteList;
    /** `NAMESPACE/NAME` of the DaemonSets of the pods that do not exist. */
    readonly goneDaemonSets: ReadonlySet<string>;
  }
  | { readonly _tag: 'Refused'; readonly name: string; readonly why: string };

const AT_ONCE = 8;
const TIMEOUT_MS = 15_000;
const ABSENT = 404;
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

/** The pods of all nodes. */
export const boundPodsSelected = (podSelector: string | undefined): Selection => {
  const { path, query } = DRAIN_SELECTIONS.boundPods;
  return {
    path,
    query: podSelector === undefined ? query : { ...query, labelSelector: podSelector },
  };
};

/** The DaemonSet of a pod as `NAMESPACE/NAME`; undefined for other pods. */
export const daemonSetOf = ({ namespace, controller }: DrainPod): string | undefined =>
  controller?.kind === 'DaemonSet' ? `${namespace}/${controller.name}` : undefined;

const asIs = (raw: unknown): unknown => raw;

const isGone = (daemonSet: string): Reads<boolean> => {
  const [namespace = '', name = ''] = daemonSet.split('/');
  return readObject(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${encodeURIComponent(name)}`)
    .pipe(Effect.map(({ _tag }) => _tag === 'Absent'));
};

/** The node with its pods, as they are now. */
export const readPodsToDrain = (
  node: DrainedNode,
  { podSelector, chunkSize }: Pick<DrainChoice, 'podSelector' | 'chunkSize'>,
): Reads<NodeReading> =>
  Effect.gen(function* () {
    const { name } = node;
    const read = yield* readList(podsOfNode(name, podSelector), asIs, chunkSize);
    if (read._tag === 'Refused') {
      return { _tag: 'Refused', name, why: `cannot list its pods: ${read.why}` };
    }
    const pods = read.objects.map(podProjection()).filter((pod) => pod !== undefined);
    const daemonSets = new Set(pods.flatMap((pod) => daemonSetOf(pod) ?? []));
    const gone = yield* Effect.filter([...daemonSets], isGone, { concurrency: AT_ONCE });
    return { _tag: 'Read', node, pods, listed: read, goneDaemonSets: new Set(gone) };
  });

const namedNode = (name: string, choice: DrainChoice): Reads<NodeReading> =>
  readObject(nodePath(name)).pipe(
    Effect.flatMap((read): Reads<NodeReading> => {
      const node = read._tag === 'Found' ? projectDrainedNode(read.object) : undefined;
      if (node !== undefined) return readPodsToDrain(node, choice);
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
    return yield* Effect.all(read.objects.map((node) => readPodsToDrain(node, choice)), {
      concurrency: AT_ONCE,
    });
  });

/**
 * Evicts a pod that a maintenance leaves there; a text when it is refused. `graceSeconds` is what
 * the pod gets to stop, `null` its own grace.
 */
export const evictPod = (
  pod: DrainPod,
  graceSeconds: number | null,
): Reads<string | undefined> =>
  KubeApi.use((api) =>
    api.call({
      method: 'POST',
      path: `/api/v1/namespaces/${pod.namespace}/pods/${encodeURIComponent(pod.name)}/eviction`,
      body: evictionBody(pod, { graceSeconds }),
      timeoutMs: TIMEOUT_MS,
    })
  ).pipe(
    Effect.map(({ status, body }) =>
      status < 300 || status === ABSENT || status === CONFLICT
        ? undefined
        : textAt(body, 'message') ?? `HTTP status ${status}`
    ),
  );

type Written = 'Written' | 'Conflict' | { readonly why: string };

const patchNode = (name: string, body: object): Reads<Written> =>
  KubeApi.use((api) =>
    api.call({
      method: 'PATCH',
      path: nodePath(name),
      body,
      contentType: 'application/merge-patch+json',
      timeoutMs: TIMEOUT_MS,
    })
  ).pipe(Effect.map(({ status, body: answer }): Written => {
    if (status < 300 || status === ABSENT) return 'Written';
    if (status === CONFLICT) return 'Conflict';
    return { why: textAt(answer, 'message') ?? `HTTP status ${status}` };
  }));

/** Leaves the cordon of a node, as it was before its drain, to a person; a text when refused. */
export const handOverCordon = (
  before: DrainedNode,
  nowMs: number,
): Reads<string | undefined> =>
  Effect.gen(function* () {
    const { name, uid } = before;
    if (!before.unschedulable) {
      const written = yield* patchNode(name, ownHandOverPatch(before, nowMs));
      if (written !== 'Conflict') return written === 'Written' ? undefined : written.why;
    }
    for (let attempt = 0; attempt < HAND_OVER_TRIES; attempt += 1) {
      const read = yield* readObject(nodePath(name));
      if (read._tag === 'Refused') return read.why;
      const node = read._tag === 'Absent' ? undefined : projectDrainedNode(read.object);
      // Another Node of this name was not drained.
      const body = node?.uid === uid ? handOverPatch(node, nowMs) : undefined;
      if (body === undefined) return undefined;
      const written = yield* patchNode(name, body);
      if (written !== 'Conflict') return written === 'Written' ? undefined : written.why;
    }
    return 'others keep changing the Node';
  });
