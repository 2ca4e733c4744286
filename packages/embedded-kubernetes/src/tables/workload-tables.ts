/** Table columns of workloads and budgets. */
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../values/json.ts';
import { AGE, type Column, integer, labelText, NAME, selectorText, text, wide } from './column.ts';

const counted = (name: string, ...path: readonly string[]): Column =>
  integer(name, (object) => numberAt(object, ...path) ?? 0);

const ofContainers = (field: string) => (object: JsonRecord): string =>
  listOrEmptyAt(object, 'spec', 'template', 'spec', 'containers').map((container) =>
    textAt(container, field) ?? ''
  ).join(',');

const CONTAINERS = wide('Containers', ofContainers('name'));
const IMAGES = wide('Images', ofContainers('image'));
const SELECTOR = wide('Selector', (object) => selectorText(valueAt(object, 'spec', 'selector')));

const readyOf = text('Ready', (object) => {
  const ready = numberAt(object, 'status', 'readyReplicas') ?? 0;
  return `${ready}/${numberAt(object, 'spec', 'replicas') ?? 0}`;
});

/** Columns of Deployments. */
export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME,
  readyOf,
  counted('Up-to-date', 'status', 'updatedReplicas'),
  counted('Available', 'status', 'availableReplicas'),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

/** Columns of ReplicaSets. */
export const REPLICA_SET_COLUMNS: readonly Column[] = [
  NAME,
  counted('Desired', 'spec', 'replicas'),
  counted('Current', 'status', 'replicas'),
  counted('Ready', 'status', 'readyReplicas'),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

/** Columns of StatefulSets. */
export const STATEFUL_SET_COLUMNS: readonly Column[] = [NAME, readyOf, AGE, CONTAINERS, IMAGES];

/** Columns of DaemonSets. */
export const DAEMON_SET_COLUMNS: readonly Column[] = [
  NAME,
  counted('Desired', 'status', 'desiredNumberScheduled'),
  counted('Current', 'status', 'currentNumberScheduled'),
  counted('Ready', 'status', 'numberReady'),
  counted('Up-to-date', 'status', 'updatedNumberScheduled'),
  counted('Available', 'status', 'numberAvailable'),
  text(
    'Node Selector',
    (object) => labelText(recordAt(object, 'spec', 'template', 'spec', 'nodeSelector')),
  ),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

const amount = (name: string, field: string): Column =>
  text(name, (object) => {
    const value = valueAt(object, 'spec', field);
    return value === undefined || value === null ? 'N/A' : `${value}`;
  });

/** Columns of PodDisruptionBudgets. */
export const BUDGET_COLUMNS: readonly Column[] = [
  NAME,
  amount('Min Available', 'minAvailable'),
  amount('Max Unavailable', 'maxUnavailable'),
  counted('Allowed Disruptions', 'status', 'disruptionsAllowed'),
  AGE,
];
