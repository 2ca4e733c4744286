/**
 * The resources that a pod takes on its node, computed like kube-scheduler.
 *
 * Promises: `max(sum(containers) + sum(sidecars), peak init stage)`, with pod-level requests in
 * place of container requests, plus overhead (POD-03, and Kubernetes' `PodRequests`); exact,
 * whatever the units. During an in-place resize the maximum of requested, allocated and actual
 * resources counts, and an infeasible resize does not count. Resources of zero are omitted, as in
 * the scheduler; of too many for a request, enough remain that it is refused.
 */
import { REQUEST_LIMITS } from '../demand/request-limits.ts';
import { rawConditionOf } from '../condition.ts';
import { listOrEmptyAt, recordAt, textAt, valueAt } from '../json.ts';
import {
  addQuantities,
  canonicalQuantity,
  largerQuantity,
  parseQuantity,
  type Quantity,
} from '../quantity.ts';
import { compareText } from '../requirements.ts';
import type { ResourceMap } from '../resources.ts';

/** One more than a request may have: a pod with so many is reported, and costs no more. */
const RESOURCES_MAX = REQUEST_LIMITS.resources + 1;

type Amounts = ReadonlyMap<string, Quantity>;

const NOTHING: Amounts = new Map();

/** Quantities as text or number; the API server accepts nothing else. */
const amountsAt = (raw: unknown, ...path: readonly string[]): Amounts => {
  const record = recordAt(raw, ...path);
  if (record === undefined) return NOTHING;
  const amounts = new Map<string, Quantity>();
  for (const name of Object.keys(record)) {
    if (amounts.size >= RESOURCES_MAX) break;
    const value = record[name];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const reading = parseQuantity(String(value));
    if (reading._tag === 'Quantity') amounts.set(name, reading.quantity);
  }
  return amounts;
};

const merged = (
  left: Amounts,
  right: Amounts,
  both: (left: Quantity, right: Quantity) => Quantity,
): Amounts => {
  if (right.size === 0) return left;
  const all = new Map(left);
  for (const [name, amount] of right) {
    const before = all.get(name);
    if (before === undefined && all.size >= RESOURCES_MAX) continue;
    all.set(name, before === undefined ? amount : both(before, amount));
  }
  return all;
};

const sum = (left: Amounts, right: Amounts): Amounts => merged(left, right, addQuantities);
const most = (left: Amounts, right: Amounts): Amounts => merged(left, right, largerQuantity);

/** A resize that the pod's node can never grant (`PodResizePending`, `Infeasible`). */
const isResizeInfeasible = (pod: unknown): boolean => {
  const pending = rawConditionOf(pod, 'PodResizePending');
  return textAt(pending, 'reason') === 'Infeasible';
};

/** The requested resources, unless the node has granted others. */
const effective = (
  asked: Amounts,
  { granted, isInfeasible }: { readonly granted: unknown; readonly isInfeasible: boolean },
): Amounts => {
  if (valueAt(granted, 'resources') === undefined) return asked;
  const held = most(
    amountsAt(granted, 'resources', 'requests'),
    amountsAt(granted, 'allocatedResources'),
  );
  return isInfeasible ? held : most(asked, held);
};

const isSidecar = (container: unknown): boolean => textAt(container, 'restartPolicy') === 'Always';

/** The kubelet's status, by container name. */
const statusesOf = (pod: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    ['containerStatuses', 'initContainerStatuses']
      .flatMap((list) => listOrEmptyAt(pod, 'status', list))
      .map((status) => [textAt(status, 'name') ?? '', status]),
  );

const containersOf = (pod: unknown, isInfeasible: boolean): Amounts => {
  const statuses = statusesOf(pod);
  const asked = (container: unknown): Amounts => amountsAt(container, 'resources', 'requests');
  const held = (container: unknown): Amounts =>
    effective(asked(container), {
      granted: statuses.get(textAt(container, 'name') ?? ''),
      isInfeasible,
    });
  let running = listOrEmptyAt(pod, 'spec', 'containers').map(held).reduce(sum, NOTHING);
  let sidecars = NOTHING;
  let peak = NOTHING;
  for (const container of listOrEmptyAt(pod, 'spec', 'initContainers')) {
    if (isSidecar(container)) {
      const amounts = held(container);
      running = sum(running, amounts);
      sidecars = sum(sidecars, amounts);
      peak = most(peak, sidecars);
    } else peak = most(peak, sum(asked(container), sidecars));
  }
  return most(running, peak);
};

/** Resources that may be requested at pod level. */
const isPodLevel = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

const podLevelOf = (pod: unknown, isInfeasible: boolean): Amounts => {
  const asked = amountsAt(pod, 'spec', 'resources', 'requests');
  if (asked.size === 0) return NOTHING;
  const held = effective(asked, { granted: recordAt(pod, 'status'), isInfeasible });
  return new Map(
    [...asked.keys()].filter(isPodLevel).flatMap((name) => {
      const amount = held.get(name);
      return amount === undefined ? [] : [[name, amount]];
    }),
  );
};

/**
 * The resources that the scheduler must find free on a node for this pod, by name; none is zero.
 */
export const podResources = (pod: unknown): ResourceMap => {
  const isInfeasible = isResizeInfeasible(pod);
  const amounts = sum(
    new Map([...containersOf(pod, isInfeasible), ...podLevelOf(pod, isInfeasible)]),
    amountsAt(pod, 'spec', 'overhead'),
  );
  return Object.fromEntries(
    [...amounts]
      .filter(([, { nanos }]) => nanos > 0n)
      .map(([name, amount]): [string, string] => [name, canonicalQuantity(amount)])
      .sort(([left], [right]) => compareText(left, right)),
  );
};
