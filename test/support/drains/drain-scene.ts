/** A node and its drain, as the commands about drains read them from a cluster. */
import { type CordonAnnotation, printCordon } from '../../../src/domain/drain/cordon.ts';
import { type DrainedNode, projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { projectUpcomingNode } from '../../../src/domain/upcoming-node.ts';
import {
  type DrainScene,
  type NodeEvent,
  type NodeFacts,
  nodeFactsOf,
  projectNodeEvent,
} from '../../../src/view/drain-facts.ts';

/** The present of every scene. */
export const SCENE_NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;

/** A drain of ten minutes that began two minutes ago. */
export const sceneAnnotation = (traits: Partial<CordonAnnotation> = {}): CordonAnnotation => ({
  ids: ['i-7'],
  deadlineMs: SCENE_NOW_MS + 8 * MINUTE_MS,
  graceSeconds: 600,
  sinceMs: SCENE_NOW_MS - 2 * MINUTE_MS,
  ended: null,
  ...traits,
});

/** The test's overrides of a Node; the default is a cordoned one with a responsive kubelet. */
export interface SceneNode {
  readonly name?: string;
  readonly unschedulable?: boolean;
  readonly ready?: string;
  readonly paused?: boolean;
  /** Owner → annotation, or raw text. */
  readonly cordons?: Readonly<Record<string, CordonAnnotation | string>>;
}

/** A Node object. */
export const rawSceneNode = (traits: SceneNode = {}): object => {
  const { name = 'n1', unschedulable = true, ready = 'True', paused = false } = traits;
  const { cordons = { reclaim: sceneAnnotation() } } = traits;
  const keys = Object.entries(cordons).map(([owner, annotation]) => [
    `cordon.tidegate.dev/${owner}`,
    typeof annotation === 'string' ? annotation : printCordon(annotation),
  ]);
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '7',
      annotations: {
        ...Object.fromEntries(keys),
        ...(paused ? { 'tidegate.dev/pause': 'true' } : {}),
      },
    },
    spec: { unschedulable },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
};

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('the object cannot be read');
  return value;
};

/** A Node as drains read it. */
export const sceneNode = (traits?: SceneNode): DrainedNode =>
  present(projectDrainedNode(rawSceneNode(traits)));

/** An Event about the node `n1`, some seconds ago. */
export const sceneEvent = (
  reason: string,
  note: string,
  { secondsAgo = 30, reporter = 'tidegate.dev/operator' }: {
    readonly secondsAgo?: number;
    readonly reporter?: string;
  } = {},
): NodeEvent =>
  present(projectNodeEvent({
    metadata: { name: `n1.${reason}.${secondsAgo}`, uid: 'u', resourceVersion: '1' },
    eventTime: new Date(SCENE_NOW_MS - secondsAgo * 1000).toISOString(),
    reportingController: reporter,
    type: 'Warning',
    reason,
    note,
    regarding: { kind: 'Node', name: 'n1' },
  }));

/** The UpcomingNode of a machine that failed. */
export const sceneMachine = (lastError: string) =>
  present(projectUpcomingNode({
    metadata: { name: 'un-m-1', uid: 'um', resourceVersion: '1' },
    status: { phase: 'Failed', nodeRef: { name: 'n1' }, lastError },
  }));

/** What a scene contains besides its nodes; default: nothing. */
export const sceneOfNode = (
  parts: Partial<Omit<DrainScene, 'nodes'>> & { readonly node?: SceneNode } = {},
): NodeFacts => {
  const { node, ...rest } = parts;
  const [facts] = nodeFactsOf({
    nodes: [sceneNode(node)],
    pods: [],
    budgets: [],
    events: [],
    machines: [],
    terminatingNamespaces: [],
    own: null,
    nowMs: SCENE_NOW_MS,
    ...rest,
  });
  return present(facts);
};
