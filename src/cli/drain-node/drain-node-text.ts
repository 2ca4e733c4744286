/** What `tidegate drain NODE` prints: the lines of `kubectl drain`, and the refusals. */
import type { FilterFacts, FilterReason, PodVerdict } from '../../domain/drain/drain-filters.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { objectKey } from '../../domain/ids.ts';
import { listed } from '../../domain/text.ts';
import type { CompleteList } from '../../effects/object-lists.ts';
import type { NodeDryRun } from './drain-node-request.ts';

/** Pods that one line names. */
const PODS_MAX = 20;

/** A pod and what happens to it. */
export interface FilteredPod {
  readonly pod: DrainPod;
  readonly verdict: PodVerdict;
}

/** A node that may be drained. */
export interface FilteredNode {
  readonly name: string;
  readonly before: DrainedNode;
  /** The pods as they were listed. */
  readonly listed: CompleteList;
  readonly wasCordoned: boolean;
  readonly pods: readonly FilteredPod[];
  readonly hasDaemonSet: FilterFacts['hasDaemonSet'];
}

/** The key of a pod as people read it. */
export const podName = ({ namespace, name }: Pick<DrainPod, 'name' | 'namespace'>): string =>
  objectKey(name, namespace);

const REFUSALS: Readonly<Record<FilterReason, string>> = {
  DaemonSet: 'pods of DaemonSets (--ignore-daemonsets leaves them there)',
  DaemonSetGone: 'pods of DaemonSets that do not exist (--force removes them)',
  LocalData: 'pods with an emptyDir (--delete-emptydir-data removes them with its content)',
  NoController: 'pods without a controller (--force removes them; nothing recreates them)',
};

const WARNINGS: Readonly<Record<FilterReason, string>> = {
  DaemonSet: 'leaving pods of DaemonSets',
  DaemonSetGone: 'removing pods of DaemonSets that do not exist',
  LocalData: 'removing pods with the content of their emptyDir',
  NoController: 'removing pods without a controller',
};

const REASONS: readonly FilterReason[] = [
  'DaemonSet',
  'DaemonSetGone',
  'LocalData',
  'NoController',
];

const named = (pods: readonly FilteredPod[]): string =>
  listed(pods.map(({ pod }) => podName(pod)).toSorted(), PODS_MAX);

/** Each reason with its pods. */
const grouped = (
  pods: readonly FilteredPod[],
  reasonsOf: (verdict: PodVerdict) => readonly FilterReason[],
  texts: Readonly<Record<FilterReason, string>>,
): string =>
  REASONS.flatMap((reason) => {
    const found = pods.filter(({ verdict }) => reasonsOf(verdict).includes(reason));
    return found.length === 0 ? [] : [`${texts[reason]}: ${named(found)}`];
  }).join('; ');

/** Why a node is not drained; empty when it may be. */
export const refusalText = (pods: readonly FilteredPod[]): string =>
  grouped(pods, (verdict) => verdict._tag === 'Refused' ? [verdict.reason] : [], REFUSALS);

/** What is lost or left; empty when nothing is. */
export const warningText = (pods: readonly FilteredPod[]): string =>
  grouped(pods, (verdict) => verdict._tag === 'Refused' ? [] : verdict.warnings, WARNINGS);

const TRIALS: Readonly<Record<NodeDryRun, string>> = {
  none: '',
  client: ' (dry run)',
  server: ' (server dry run)',
};

/** The lines about a node and its pods. */
export const drainLines = (dryRun: NodeDryRun) => {
  const trial = TRIALS[dryRun];
  return {
    cordoned: (node: string, wasCordoned: boolean): string =>
      `node/${node} ${wasCordoned ? 'already cordoned' : 'cordoned'}${trial}\n`,
    evicting: (pod: DrainPod): string => `evicting pod ${podName(pod)}${trial}\n`,
    evicted: ({ name }: DrainPod): string => `pod/${name} evicted${trial}\n`,
    drained: (node: string): string => `node/${node} drained${trial}\n`,
  };
};
