/**
 * Reads what a NodeMaintenance would meet: its Nodes, their pods, and the budgets.
 *
 * Promises: read-only, in pages; what cannot be read is one sentence.
 */
import { Effect } from 'effect';
import { type Budget, projectBudget } from '../domain/drain/budget.ts';
import { type DrainPod, podProjection } from '../domain/drain/pod.ts';
import { asRecord, booleanAt, type JsonRecord, textAt } from '../domain/json.ts';
import { type NodeSelector, selectsNode } from '../domain/node-maintenance/node-selector.ts';
import { labelsOf } from '../domain/object-meta.ts';
import { DRAIN_SELECTIONS } from './drain-reads.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { type ListRead, readList } from './object-lists.ts';
import { readObject } from './object-reads.ts';
import { NODE_MAINTENANCES_PATH } from './node-maintenance.ts';

/** A Node that a maintenance selects. */
export interface SelectedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly unschedulable: boolean;
}

/** What is read for a preview. */
export interface MaintenanceReading {
  readonly nodes: readonly SelectedNode[];
  /** Nodes of the cluster. */
  readonly all: number;
  /** Pods of the selected Nodes. */
  readonly pods: readonly DrainPod[];
  readonly budgets: readonly Budget[];
}

/** A reading, or why there is none. */
export type MaintenanceRead =
  | { readonly _tag: 'Read'; readonly reading: MaintenanceReading }
  | { readonly _tag: 'Refused'; readonly why: string };

/** Above this number of nodes, all pods of the cluster are listed instead of those of each. */
const NODES_ASKED_MAX = 50;
const AT_ONCE = 8;

class Refused {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

const needed = <T>(what: string, read: ListRead<T>): Effect.Effect<readonly T[], Refused> =>
  read._tag === 'Listed'
    ? Effect.succeed(read.objects)
    : Effect.fail(new Refused(`Cannot list ${what}: ${read.why}`));

const nodeOf = (raw: unknown): SelectedNode => ({
  name: textAt(raw, 'metadata', 'name') ?? '',
  labels: labelsOf(raw),
  unschedulable: booleanAt(raw, 'spec', 'unschedulable') === true,
});

const readPods = (nodes: readonly SelectedNode[]) =>
  Effect.gen(function* () {
    const names = new Set(nodes.map(({ name }) => name));
    const { path } = DRAIN_SELECTIONS.boundPods;
    const selections = names.size > NODES_ASKED_MAX
      ? [DRAIN_SELECTIONS.boundPods]
      : [...names].map((name) => ({ path, query: { fieldSelector: `spec.nodeName=${name}` } }));
    const lists = yield* Effect.all(
      selections.map((selection) => readList(selection, podProjection())),
      { concurrency: AT_ONCE },
    );
    const pods = yield* Effect.all(lists.map((list) => needed('pods', list)));
    return pods.flat().filter(({ node }) => names.has(node));
  });

/** Reads what the maintenance with this selector would meet. */
export const readMaintained = (
  selector: NodeSelector,
): Effect.Effect<MaintenanceRead, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const listed = yield* readList(DRAIN_SELECTIONS.nodes, nodeOf);
    const all = yield* needed('Nodes', listed);
    const nodes = all.filter((node) => selectsNode(selector, node));
    const pods = yield* readPods(nodes);
    const budgets = yield* needed(
      'PodDisruptionBudgets',
      yield* readList(DRAIN_SELECTIONS.budgets, projectBudget),
    );
    return { _tag: 'Read', reading: { nodes, all: all.length, pods, budgets } } as const;
  }).pipe(
    Effect.catchIf(
      (problem) => problem instanceof Refused,
      ({ why }) => Effect.succeed({ _tag: 'Refused', why } as const),
    ),
  );

/** A NodeMaintenance of the cluster, or why there is none. */
export type NamedMaintenance =
  | { readonly _tag: 'Found'; readonly raw: JsonRecord }
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Refused'; readonly why: string };

/** Reads the NodeMaintenance of this name. */
export const readMaintenance = (
  name: string,
): Effect.Effect<NamedMaintenance, KubeFault, KubeApi> =>
  Effect.map(
    readObject(`${NODE_MAINTENANCES_PATH}/${encodeURIComponent(name)}`),
    (read): NamedMaintenance =>
      read._tag === 'Found' ? { _tag: 'Found', raw: asRecord(read.object) ?? {} } : read,
  );
