/** Resources of pods and nodes as integers in thousandths, the scheduler's resolution. */
import { listOrEmptyAt, recordAt, textAt, valueAt } from '../values/json.ts';
import { parseQuantity } from '../values/quantity.ts';

/** Resource name → thousandths of a unit. */
export type Amounts = ReadonlyMap<string, number>;

const NANOS_PER_THOUSANDTH = 1_000_000n;
const ONE_POD = 1000;

const read = new Map<string, number>();
/** How many parsed quantities are cached; a cluster uses few distinct ones. */
const READ_MAX = 10_000;

/** A quantity in thousandths; 0 when it is absent or malformed. */
export const thousandths = (value: unknown): number => {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return 0;
  const known = read.get(text);
  if (known !== undefined) return known;
  const reading = parseQuantity(text);
  const amount = reading._tag === 'Quantity'
    ? Number(reading.quantity.nanos / NANOS_PER_THOUSANDTH)
    : 0;
  if (read.size >= READ_MAX) read.clear();
  read.set(text, amount);
  return amount;
};

const add = (sum: Map<string, number>, requests: unknown): void => {
  for (const [name, value] of Object.entries(recordAt({ requests }, 'requests') ?? {})) {
    sum.set(name, (sum.get(name) ?? 0) + thousandths(value));
  }
};

const raise = (sum: Map<string, number>, requests: unknown): void => {
  for (const [name, value] of Object.entries(recordAt({ requests }, 'requests') ?? {})) {
    sum.set(name, Math.max(sum.get(name) ?? 0, thousandths(value)));
  }
};

const requestsOf = (container: unknown): unknown => valueAt(container, 'resources', 'requests');

/**
 * The resource requests of a pod: containers plus sidecars, at least its largest init container,
 * plus overhead and one pod slot.
 */
export const podAmounts = (pod: unknown): Amounts => {
  const sum = new Map<string, number>();
  const init = listOrEmptyAt(pod, 'spec', 'initContainers');
  const isSidecar = (container: unknown) => textAt(container, 'restartPolicy') === 'Always';
  for (const container of listOrEmptyAt(pod, 'spec', 'containers')) add(sum, requestsOf(container));
  for (const container of init.filter(isSidecar)) add(sum, requestsOf(container));
  for (const container of init.filter((one) => !isSidecar(one))) raise(sum, requestsOf(container));
  add(sum, valueAt(pod, 'spec', 'overhead'));
  sum.set('pods', ONE_POD);
  return sum;
};

/** The allocatable resources of a node. */
export const nodeAmounts = (node: unknown): Amounts => {
  const amounts = new Map<string, number>();
  add(amounts, valueAt(node, 'status', 'allocatable') ?? valueAt(node, 'status', 'capacity'));
  return amounts;
};

/** The resources of a node that are in use. */
export interface Allocations {
  readonly take: (amounts: Amounts) => void;
  readonly giveBack: (amounts: Amounts) => void;
  /** The first insufficient resource; `undefined` when all of them fit. */
  readonly short: (wanted: Amounts, allocatable: Amounts) => string | undefined;
}

/** No resources in use. */
export const noAllocations = (): Allocations => {
  const taken = new Map<string, number>();
  const move = (amounts: Amounts, sign: 1 | -1): void => {
    for (const [name, amount] of amounts) {
      taken.set(name, (taken.get(name) ?? 0) + sign * amount);
    }
  };
  return {
    take: (amounts) => move(amounts, 1),
    giveBack: (amounts) => move(amounts, -1),
    short: (wanted, allocatable) => {
      for (const [name, amount] of wanted) {
        if (amount > 0 && (taken.get(name) ?? 0) + amount > (allocatable.get(name) ?? 0)) {
          return name;
        }
      }
      return undefined;
    },
  };
};
