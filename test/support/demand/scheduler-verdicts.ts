/**
 * The real scheduler's verdict on pods with single nodes: bound, or why not.
 *
 * Promises: a verdict counts only once the scheduler knew every node, so that an unseen node is not
 * a refusal.
 */
import { rawConditionOf } from '../../../src/domain/condition.ts';
import { type JsonRecord, recordAt, textAt } from '../../../src/domain/json.ts';
import type { ResourceMap } from '../../../src/domain/resources.ts';
import type { ClusterClient } from '../api/cluster-connection.ts';
import { COLLECTIONS, nameOf } from '../api/cluster-connection.ts';
import { eventually } from '../eventually.ts';

const PODS = '/api/v1/namespaces/default/pods';
const TOLERATE_ALL = [{ operator: 'Exists' }];
const PATIENT_MS = 90_000;

/** A node for a test. */
export interface WantedNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly allocatable: ResourceMap;
}

/** Creates nodes without a kubelet: the scheduler needs only their status. */
export const makeNodes = async (
  cluster: ClusterClient,
  nodes: readonly WantedNode[],
): Promise<void> => {
  await cluster.create(
    COLLECTIONS.nodes,
    nodes.map(({ name, labels = {}, allocatable }) => ({
      metadata: { name, labels: { ...labels, 'kubernetes.io/hostname': name } },
      status: { capacity: allocatable, allocatable },
    })),
  );
};

/** A pod that tolerates every taint. */
export const hopefulPod = (name: string, spec: JsonRecord): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { tolerations: TOLERATE_ALL, terminationGracePeriodSeconds: 0, ...spec },
});

/** The pod as the API server would keep it: with all defaults, and its overhead. */
export const defaultedPod = async (
  cluster: ClusterClient,
  pod: JsonRecord,
): Promise<JsonRecord> => {
  const { status, body } = await cluster.call('POST', `${PODS}?dryRun=All`, pod);
  // A dry run has no revision.
  const metadata = { ...recordAt(body, 'metadata'), resourceVersion: '1' };
  if (status === 201) return { ...body, metadata };
  throw new Error(`The API server does not take the pod: ${textAt(body, 'message')}`);
};

/** The node that it was bound to, or the scheduler's message. */
export type Verdict =
  | { readonly _tag: 'Bound'; readonly node: string }
  | { readonly _tag: 'Refused'; readonly why: string };

const verdictOn = (pod: JsonRecord, nodes: number): Verdict | undefined => {
  const node = textAt(pod, 'spec', 'nodeName') ?? '';
  if (node !== '') return { _tag: 'Bound', node };
  const scheduled = rawConditionOf(pod, 'PodScheduled');
  const why = textAt(scheduled, 'message') ?? '';
  return textAt(scheduled, 'reason') === 'Unschedulable' && why.startsWith(`0/${nodes} nodes`)
    ? { _tag: 'Refused', why }
    : undefined;
};

/** Creates the pods and waits for a verdict on each, by name; then takes all pods away. */
export const scheduledPods = async (
  cluster: ClusterClient,
  pods: readonly JsonRecord[],
): Promise<ReadonlyMap<string, Verdict>> => {
  const nodes = (await cluster.list(COLLECTIONS.nodes)).length;
  const asked = new Set(pods.map(nameOf));
  await cluster.create(PODS, pods);
  const verdicts = await eventually(async () => {
    const known = new Map((await cluster.list(PODS)).flatMap((pod) => {
      const verdict = asked.has(nameOf(pod)) ? verdictOn(pod, nodes) : undefined;
      return verdict === undefined ? [] : [[nameOf(pod), verdict] as const];
    }));
    if (known.size === pods.length) return known;
    throw new Error(`there are ${known.size}`);
  }, { what: `${pods.length} verdicts of the scheduler`, everyMs: 500, timeoutMs: PATIENT_MS });
  await cluster.call('DELETE', PODS, { gracePeriodSeconds: 0 });
  return verdicts;
};
