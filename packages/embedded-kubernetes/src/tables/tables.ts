/**
 * Server-side Tables, which `kubectl get` prints.
 *
 * Source: Kubernetes API concepts (Table), `pkg/printers/internalversion`.
 */
import { type JsonRecord, recordAt } from '../values/json.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Column } from './column.ts';
import { AGE, NAME } from './column.ts';
import { EVENT_COLUMNS, NODE_COLUMNS, SMALL_COLUMNS } from './core-tables.ts';
import { customColumns } from './custom-tables.ts';
import { POD_COLUMNS } from './pod-tables.ts';
import {
  BUDGET_COLUMNS,
  DAEMON_SET_COLUMNS,
  DEPLOYMENT_COLUMNS,
  REPLICA_SET_COLUMNS,
  STATEFUL_SET_COLUMNS,
} from './workload-tables.ts';

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  ...SMALL_COLUMNS,
  pods: POD_COLUMNS,
  nodes: NODE_COLUMNS,
  events: EVENT_COLUMNS,
  'deployments.apps': DEPLOYMENT_COLUMNS,
  'replicasets.apps': REPLICA_SET_COLUMNS,
  'statefulsets.apps': STATEFUL_SET_COLUMNS,
  'daemonsets.apps': DAEMON_SET_COLUMNS,
  'poddisruptionbudgets.policy': BUDGET_COLUMNS,
};

const columnsOf = ({ resource, custom, columns = [] }: Kind): readonly Column[] =>
  custom ? customColumns(columns) : COLUMNS[resource] ?? [NAME, AGE];

/** What a Table depends on beside its objects. */
export interface TableOptions {
  readonly kind: Kind;
  readonly nowMs: () => number;
  /** `includeObject` of the query: `None`, `Metadata` or `Object`. */
  readonly include: string;
}

/** The inputs of one Table. */
export interface TableContent {
  readonly metadata: JsonRecord;
  readonly objects: readonly JsonRecord[];
  /** Whether to include the column definitions. */
  readonly isFirst: boolean;
}

const objectIn = (object: JsonRecord, { include, kind }: TableOptions): unknown => {
  if (include === 'None') return null;
  if (include === 'Object') return { kind: kind.kind, apiVersion: groupVersion(kind), ...object };
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: recordAt(object, 'metadata') ?? {},
  };
};

const groupVersion = ({ group, version }: Kind): string =>
  group === '' ? version : `${group}/${version}`;

const definitionOf = ({ name, type, format = '', description, priority }: Column): JsonRecord => ({
  name,
  type,
  format,
  description: description ?? name,
  priority,
});

const FINISHED: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

/** kubectl may hide completed rows. */
const rowConditions = (object: JsonRecord, { resource }: Kind): JsonRecord => {
  const phase = `${recordAt(object, 'status')?.['phase'] ?? ''}`;
  const message = resource === 'pods' ? FINISHED[phase] : undefined;
  if (message === undefined) return {};
  return { conditions: [{ type: 'Completed', status: 'True', reason: phase, message }] };
};

/** The objects as a Table. */
export const tableOf = (
  options: TableOptions,
  { metadata, objects, isFirst }: TableContent,
): JsonRecord => {
  const { kind, nowMs } = options;
  const columns = columnsOf(kind);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: isFirst ? columns.map(definitionOf) : [],
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, nowMs())),
      ...rowConditions(object, kind),
      object: objectIn(object, options),
    })),
  };
};
