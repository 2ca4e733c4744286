/**
 * Reads and patches Nodes for `tidegate node`.
 *
 * Promises: a patch carries the resourceVersion that it is based on; a refusal is one sentence.
 */
import { Effect } from 'effect';
import { type DrainedNode, projectDrainedNode } from '../domain/drain/drained-node.ts';
import { textAt } from '../domain/json.ts';
import {
  availableNode,
  DEGRADED_CONDITIONS_DEFAULT,
} from '../domain/node-availability/available-node.ts';
import { acceptsDowntime } from '../domain/node-availability/disabled-node.ts';
import {
  projectVolume,
  projectVolumeClaim,
  type VolumeLookup,
  volumeLookup,
} from '../domain/node-availability/local-volumes.ts';
import { inOrder } from '../domain/node-availability/lost-pods.ts';
import { type NodePod, projectNodePod } from '../domain/node-availability/node-pod.ts';
import type { AvailableNode } from '../domain/node-availability/node-state.ts';
import { WHY_DISABLED_KEY } from '../domain/drain/cordon.ts';
import { annotationsOf } from '../domain/object-meta.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';
import { type ListRead, readList } from './object-lists.ts';
import { readObject } from './object-reads.ts';

const TIMEOUT_MS = 15_000;

type Reads<Value> = Effect.Effect<Value, KubeFault, KubeApi>;

/** A Node as the commands show and change it. */
export interface NodeObject extends AvailableNode, DrainedNode {
  /** What a person wrote when the Node was disabled. */
  readonly whyDisabled: string;
  /** That person accepts that pods are down while they move. */
  readonly acceptsDowntime: boolean;
}

const project = availableNode(DEGRADED_CONDITIONS_DEFAULT);

const nodeObject = (raw: unknown): NodeObject | undefined => {
  const [drained, available] = [projectDrainedNode(raw), project(raw)];
  return drained && available && {
    ...drained,
    ...available,
    whyDisabled: annotationsOf(raw)[WHY_DISABLED_KEY] ?? '',
    acceptsDowntime: acceptsDowntime(drained),
  };
};

const pathOf = (name: string): string => `/api/v1/nodes/${encodeURIComponent(name)}`;

/** The Nodes: one, or all of them. */
export const readNodes = (name: string | undefined): Reads<ListRead<NodeObject>> => {
  if (name === undefined) return readList({ path: '/api/v1/nodes' }, nodeObject);
  return readObject(pathOf(name)).pipe(Effect.map((read): ListRead<NodeObject> => {
    if (read._tag === 'Refused') return read;
    const node = read._tag === 'Found' ? nodeObject(read.object) : undefined;
    const resourceVersion = node?.resourceVersion ?? '';
    return { _tag: 'Listed', objects: node === undefined ? [] : [node], resourceVersion };
  }));
};

/** The pods of Nodes in order, with their claims and volumes. */
export interface PodsRead {
  readonly pods: readonly NodePod[];
  readonly lookup: VolumeLookup;
}

/** The pods of one Node, or all that have a Node; a text when they cannot be read. */
export const readNodePods = (node: string | undefined): Reads<PodsRead | string> =>
  Effect.gen(function* () {
    const fieldSelector = node === undefined ? 'spec.nodeName!=' : `spec.nodeName=${node}`;
    const pods = yield* readList(
      { path: '/api/v1/pods', query: { fieldSelector } },
      projectNodePod,
    );
    if (pods._tag === 'Refused') return `Cannot list pods: ${pods.why}`;
    const claims = yield* readList(
      { path: '/api/v1/persistentvolumeclaims' },
      projectVolumeClaim,
    );
    if (claims._tag === 'Refused') return `Cannot list PersistentVolumeClaims: ${claims.why}`;
    const volumes = yield* readList({ path: '/api/v1/persistentvolumes' }, projectVolume);
    if (volumes._tag === 'Refused') return `Cannot list PersistentVolumes: ${volumes.why}`;
    return {
      pods: inOrder(pods.objects),
      lookup: volumeLookup(claims.objects, volumes.objects),
    };
  });

/** How a patch ended. */
export type NodePatchOutcome =
  | { readonly _tag: 'Stored' }
  | { readonly _tag: 'Conflict' }
  | { readonly _tag: 'Refused'; readonly why: string };

/** Merges `body` into a Node. */
export const patchNode = (name: string, body: object): Reads<NodePatchOutcome> =>
  KubeApi.use((api) =>
    api.call({
      method: 'PATCH',
      path: pathOf(name),
      body,
      contentType: 'application/merge-patch+json',
      timeoutMs: TIMEOUT_MS,
    })
  ).pipe(Effect.map(({ status, body: answer }): NodePatchOutcome => {
    if (status < 300) return { _tag: 'Stored' };
    if (status === 409) return { _tag: 'Conflict' };
    return { _tag: 'Refused', why: textAt(answer, 'message') ?? `HTTP status ${status}` };
  }));
