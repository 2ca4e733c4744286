/**
 * The inventory that an allocation pass sees, including the machines that the last pass assigned.
 */
import { type AllocatableInventory, type Claim, claimKey } from './claims.ts';
import type { FleetMachine, Inventory } from './inventory.ts';

const grouped = (
  machines: Iterable<FleetMachine>,
  keyOf: (machine: FleetMachine) => string,
): Map<string, FleetMachine[]> => {
  const groups = new Map<string, FleetMachine[]>();
  for (const machine of machines) {
    const key = keyOf(machine);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [machine]);
    else group.push(machine);
  }
  return groups;
};

const byId = (left: FleetMachine, right: FleetMachine): number => left.id < right.id ? -1 : 1;

function* boundMachines(inventory: Inventory, clusters: Iterable<string>): Generator<FleetMachine> {
  for (const cluster of clusters) {
    for (const id of inventory.boundTo(cluster)) {
      const machine = inventory.get(id);
      if (machine !== undefined) yield machine;
    }
  }
}

/** The inputs of the view. */
export interface AllocatableInventoryOptions {
  readonly inventory: Inventory;
  /** Machines and the claims that they are assigned to. */
  readonly promises: ReadonlyMap<string, string>;
  readonly claims: readonly Claim[];
  /** Clusters with known demand. */
  readonly clusters: readonly string[];
}

/** The inventory as an allocation of these claims sees it. */
export const allocatableInventory = (
  { inventory, promises, claims, clusters }: AllocatableInventoryOptions,
): AllocatableInventory => {
  const serving = grouped(
    boundMachines(inventory, clusters),
    ({ cluster, need }) => claimKey(cluster, need),
  );
  for (const machines of serving.values()) machines.sort(byId);
  const promisedIds = [...promises].flatMap(([id]) => inventory.get(id) ?? []);
  const promised = grouped(promisedIds, ({ id }) => promises.get(id) ?? '');
  const priorities = new Map(
    claims.map(({ cluster, need }) => [claimKey(cluster, need.key), need.wire.priority]),
  );
  return {
    kinds: inventory.kinds,
    free: function* (kind, state) {
      for (const id of inventory.free(kind, state)) if (!promises.has(id)) yield id;
    },
    serving: (cluster, need) => serving.get(claimKey(cluster, need)) ?? [],
    promised: (claim) => promised.get(claim) ?? [],
    unwanted: function* () {
      for (const [key, machines] of serving) {
        const running = machines.filter(({ state, held }) => state === 'CONFIGURED' && !held);
        const cluster = running[0]?.cluster;
        if (cluster !== undefined && !priorities.has(key)) yield { cluster, machines: running };
      }
    },
    priorityOf: (id) => {
      const machine = inventory.get(id);
      return machine === undefined
        ? undefined
        : priorities.get(claimKey(machine.cluster, machine.need));
    },
  };
};
