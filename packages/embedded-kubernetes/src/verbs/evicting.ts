/**
 * `POST pods/<name>/eviction`: deletes a pod if its budget allows it.
 *
 * Source: `pkg/registry/core/pod/storage/eviction.go` of Kubernetes 1.36, step by step, with one
 * difference: the store is serial, so no write conflicts, no call waits for a retry, and a UID
 * mismatch is refused at once. As there, a slot taken for a pod whose deletion is then refused
 * stays taken.
 */
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../values/json.ts';
import { rfc3339Seconds } from '../values/time.ts';
import { admitted, type ApiServerState, storedOrRefuse, type Target } from '../api-server-state.ts';
import { withCondition } from '../kinds/conditions.ts';
import { selects } from '../kinds/label-selector.ts';
import { ApiProblem, badRequest, forbidden, tooManyRequests } from '../validation/problem.ts';
import { assertPreconditions, type DeleteOptions, deleteOptions, remove } from './deleting.ts';

const BUDGETS = 'poddisruptionbudgets.policy';
const BUDGET_SUBJECT = { group: 'policy', kind: 'poddisruptionbudget' };
const DISRUPTED_PODS_MAX = 2000;
const RETRY_SECONDS = 10;
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";

/** A parsed eviction request. */
export interface EvictionCall {
  readonly body: JsonRecord;
  readonly query: URLSearchParams;
}

const SUCCESS: JsonRecord = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
};

const refusedByBudget = (message: string, retryAfterSeconds?: number): ApiProblem =>
  tooManyRequests(VIOLATION, {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

const stillProcessed = (name: string): ApiProblem =>
  refusedByBudget(
    `The disruption budget ${name} is still being processed by the server.`,
    RETRY_SECONDS,
  );

const budgetsOf = ({ store }: ApiServerState, pod: JsonRecord): readonly JsonRecord[] => {
  const labels = textRecordOrEmptyAt(pod, 'metadata', 'labels');
  const namespace = textAt(pod, 'metadata', 'namespace') ?? '';
  return [...store.collection(BUDGETS).ordered(namespace)]
    .map(({ object }) => object)
    .filter((budget) => selects(budget, labels));
};

const isReady = (pod: JsonRecord): boolean =>
  listOrEmptyAt(pod, 'status', 'conditions').some((condition) =>
    textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True'
  );

const FREE_PHASES = new Set(['Succeeded', 'Failed', 'Pending']);

const needsNoBudget = (pod: JsonRecord): boolean =>
  FREE_PHASES.has(textAt(pod, 'status', 'phase') ?? '') ||
  textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;

const counted = (budget: JsonRecord, field: string): number =>
  numberAt(budget, 'status', field) ?? 0;

const allowsUnhealthy = (budget: JsonRecord): boolean => {
  if (textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const wanted = counted(budget, 'desiredHealthy');
  return counted(budget, 'currentHealthy') >= wanted && wanted > 0;
};

const exhausted = (budget: JsonRecord, name: string): ApiProblem => {
  const condition = listOrEmptyAt(budget, 'status', 'conditions').find((one) =>
    textAt(one, 'type') === 'DisruptionAllowed'
  );
  const [reason, message] = [textAt(condition, 'reason') ?? '', textAt(condition, 'message') ?? ''];
  const isExplained = textAt(condition, 'status') === 'False' && message !== '';
  const current = counted(budget, 'currentHealthy');
  const wanted = counted(budget, 'desiredHealthy');
  if (isExplained && reason === 'SyncFailed') {
    return refusedByBudget(
      `The disruption budget ${name} does not allow evicting pods currently because it failed ` +
        `sync: ${message}`,
    );
  }
  if (current <= wanted) {
    return refusedByBudget(
      `The disruption budget ${name} needs ${wanted} healthy pods and has ${current} currently`,
    );
  }
  const summary = `The disruption budget ${name} does not allow evicting pods currently`;
  return refusedByBudget(isExplained ? `${summary} (${reason}): ${message}` : summary);
};

const assertSlot = (budget: JsonRecord, name: string): void => {
  const generation = numberAt(budget, 'metadata', 'generation') ?? 0;
  if (counted(budget, 'observedGeneration') < generation) throw stillProcessed(name);
  const allowed = counted(budget, 'disruptionsAllowed');
  if (allowed < 0) {
    throw forbidden(BUDGET_SUBJECT, name, { why: 'pdb disruptions allowed is negative' });
  }
  const disrupted = Object.keys(recordAt(budget, 'status', 'disruptedPods') ?? {}).length;
  if (disrupted > DISRUPTED_PODS_MAX) {
    throw forbidden(BUDGET_SUBJECT, name, {
      why: 'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    });
  }
  if (allowed === 0) throw exhausted(budget, name);
};

/** Takes one slot of a budget for a pod, or throws. */
const takeSlot = (
  { store, time }: ApiServerState,
  budget: JsonRecord,
  { podName, dryRun }: { readonly podName: string; readonly dryRun: boolean },
): void => {
  const name = textAt(budget, 'metadata', 'name') ?? '';
  assertSlot(budget, name);
  if (dryRun) return;
  const now = rfc3339Seconds(time.now());
  const disruptionsAllowed = counted(budget, 'disruptionsAllowed') - 1;
  const disruptedPods = { ...recordAt(budget, 'status', 'disruptedPods'), [podName]: now };
  const taken = {
    ...budget,
    status: { ...recordAt(budget, 'status'), disruptionsAllowed, disruptedPods },
  };
  const updated = disruptionsAllowed > 0 ? taken : withCondition(taken, {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: counted(budget, 'observedGeneration'),
    now,
  });
  const namespace = textAt(budget, 'metadata', 'namespace') ?? '';
  store.put(BUDGETS, { namespace, name }, updated);
};

/** Sets the DisruptionTarget condition, then deletes the pod. */
const markAndDelete = (server: ApiServerState, target: Target, options: DeleteOptions): void => {
  const pod = storedOrRefuse(server, target);
  assertPreconditions(pod, target.kind, options);
  if (options.dryRun) {
    remove(server, target, options);
    return;
  }
  const marked = withCondition(pod, {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    now: rfc3339Seconds(server.time.now()),
  });
  if (marked !== pod) server.store.put(target.kind.resource, target.at, marked);
  const { resourceVersion: _, ...unconditional } = options;
  remove(server, target, unconditional);
};

const optionsOf = ({ body, query }: EvictionCall, name: string): DeleteOptions => {
  const given = asRecord(valueAt(body, 'deleteOptions')) ?? {};
  const inQuery = query.getAll('dryRun');
  const inBody = listOrEmptyAt(given, 'dryRun');
  if (inQuery.length > 0 && inBody.length > 0 && inQuery.join() !== inBody.join()) {
    throw badRequest(
      `Non-matching dry-run options in request and content: [${inQuery}] and [${inBody}]`,
    );
  }
  return deleteOptions(given, query, name);
};

const TWO_BUDGETS = 'This pod has more than one PodDisruptionBudget, which the eviction ' +
  'subresource does not support.';

/** Evicts a pod; returns a success Status or throws the real API server's error. */
export const evict = (asking: ApiServerState, target: Target, call: EvictionCall): JsonRecord => {
  const { name } = target.at;
  const kind = textAt(call.body, 'kind') ?? 'Eviction';
  if (kind !== 'Eviction') throw badRequest(`${kind} is no Eviction`);
  if ((textAt(call.body, 'metadata', 'name') ?? '') !== name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const options = optionsOf(call, name);
  const { kind: pods, at } = target;
  asking.admit?.({
    operation: 'CREATE',
    kind: pods,
    at,
    subresource: 'eviction',
    object: { kind, apiVersion: 'policy/v1', ...call.body },
    dryRun: options.dryRun,
  });
  const server = admitted(asking);
  const pod = storedOrRefuse(server, target);
  if (needsNoBudget(pod)) {
    markAndDelete(server, target, options);
    return SUCCESS;
  }
  const [budget, ...others] = budgetsOf(server, pod);
  if (others.length > 0) throw new ApiProblem({ code: 500, message: TWO_BUDGETS });
  if (budget !== undefined && (isReady(pod) || !allowsUnhealthy(budget))) {
    takeSlot(server, budget, { podName: name, dryRun: options.dryRun });
  }
  markAndDelete(server, target, options);
  return SUCCESS;
};
