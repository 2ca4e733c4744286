/**
 * The machines that the fleet owns, each with its record and, while it has something to do, its
 * statechart.
 *
 * Promises: a record changes before the change is reported; every change goes through `changed`
 * exactly once; a machine without anything to do costs its record only.
 */
import { type Actor, createActor } from 'xstate';
import { type FleetTime, type FleetTiming, machineClock } from './fleet-time.ts';
import { fleetMachine, type FleetMachineState, type MachineEvent } from './machine.ts';
import type { MachineKind } from './machine-kind.ts';

/** The record of a machine. */
export interface FleetMachine {
  readonly id: string;
  readonly kind: MachineKind;
  /** The provider's name for the host. */
  readonly providerId: string;
  readonly state: FleetMachineState;
  /** The cluster it is bound to; empty for none. */
  readonly cluster: string;
  /** Key of the need that it serves; empty for none. */
  readonly need: string;
  readonly lastError: string;
  /** A script put it where it is: the fleet leaves it alone. */
  readonly held: boolean;
}

/** A change of a machine; undefined where it was not, or is no more. */
export type MachineChanged = (
  before: FleetMachine | undefined,
  after: FleetMachine | undefined,
) => void;

/** What an inventory is made of. */
export interface InventoryOptions {
  readonly time: FleetTime;
  readonly timing: () => FleetTiming;
  readonly changed: MachineChanged;
}

/** The fleet's machines. */
export interface Inventory {
  readonly size: () => number;
  readonly get: (id: string) => FleetMachine | undefined;
  readonly values: () => Iterable<FleetMachine>;
  readonly kinds: () => Iterable<MachineKind>;
  /** Free machines of a kind, in the order in which they became free. */
  readonly free: (kind: MachineKind, state: 'IDLE' | 'SPECULATIVE') => ReadonlySet<string>;
  readonly boundTo: (cluster: string) => ReadonlySet<string>;
  /** Takes a machine in without reporting a change: it was there before. */
  readonly restore: (machine: FleetMachine) => void;
  /** Takes a machine in, or puts it where a script wants it. */
  readonly put: (machine: FleetMachine) => void;
  readonly remove: (id: string) => void;
  /** Starts the statecharts of restored machines that have something to do. */
  readonly activate: () => void;
  readonly bind: (id: string, cluster: string, need: string) => void;
  readonly reassign: (id: string, need: string) => void;
  readonly send: (id: string, event: MachineEvent) => void;
  readonly stop: () => void;
}

const UNALLOCATED: ReadonlySet<FleetMachineState> = new Set(['IDLE', 'SPECULATIVE']);

/** Sets by key that vanish when they are empty. */
interface SetsByKey {
  readonly of: (key: string) => ReadonlySet<string>;
  readonly add: (key: string, member: string) => void;
  readonly remove: (key: string, member: string) => void;
}

const NOTHING: ReadonlySet<string> = new Set();

const setsByKey = (): SetsByKey => {
  const sets = new Map<string, Set<string>>();
  return {
    of: (key) => sets.get(key) ?? NOTHING,
    add: (key, member) => {
      const set = sets.get(key) ?? new Set();
      sets.set(key, set.add(member));
    },
    remove: (key, member) => {
      const set = sets.get(key);
      set?.delete(member);
      if (set?.size === 0) sets.delete(key);
    },
  };
};

const freeKey = ({ kind, state }: Pick<FleetMachine, 'kind' | 'state'>): string =>
  `${state} ${kind.key}`;

/** Records and their indexes; independent of statecharts. */
const machineRecords = () => {
  const records = new Map<string, FleetMachine>();
  const kinds = new Map<string, MachineKind>();
  const free = setsByKey();
  const bound = setsByKey();

  const unindex = (machine: FleetMachine): void => {
    if (machine.cluster !== '') bound.remove(machine.cluster, machine.id);
    if (UNALLOCATED.has(machine.state)) free.remove(freeKey(machine), machine.id);
  };
  const index = (machine: FleetMachine): void => {
    kinds.set(machine.kind.key, machine.kind);
    if (machine.cluster !== '') bound.add(machine.cluster, machine.id);
    if (UNALLOCATED.has(machine.state) && !machine.held) free.add(freeKey(machine), machine.id);
  };
  return {
    records,
    kinds,
    free,
    bound,
    set: (machine: FleetMachine): FleetMachine | undefined => {
      const before = records.get(machine.id);
      if (before !== undefined) unindex(before);
      const kind = kinds.get(machine.kind.key) ?? machine.kind;
      const kept = kind === machine.kind ? machine : { ...machine, kind };
      records.set(machine.id, kept);
      index(kept);
      return before;
    },
    delete: (id: string): FleetMachine | undefined => {
      const before = records.get(id);
      if (before !== undefined) unindex(before);
      records.delete(id);
      return before;
    },
  };
};

/** An inventory without machines. */
export const inventory = ({ time, timing, changed }: InventoryOptions): Inventory => {
  const { records, kinds, free, bound, ...indexed } = machineRecords();
  const actors = new Map<string, Actor<typeof fleetMachine>>();
  const clock = machineClock(time);

  const retire = (id: string): void => {
    actors.get(id)?.stop();
    actors.delete(id);
  };

  /** Follows a statechart: its state becomes the record's, and the change is reported. */
  const follow = (id: string, state: FleetMachineState, lastError: string): void => {
    const before = records.get(id);
    if (before === undefined || (before.state === state && before.lastError === lastError)) return;
    const free = UNALLOCATED.has(state);
    const after = {
      ...before,
      state,
      lastError,
      ...(free ? { cluster: '', need: '' } : {}),
    };
    indexed.set(after);
    if (free) retire(id);
    changed(before, after);
  };

  const actorOf = (machine: FleetMachine): Actor<typeof fleetMachine> => {
    const existing = actors.get(machine.id);
    if (existing !== undefined) return existing;
    const { id, state, lastError } = machine;
    const actor = createActor(fleetMachine, {
      id,
      clock,
      input: { state, lastError, timing: timing() },
    });
    actors.set(id, actor);
    actor.subscribe((snapshot) => {
      const meta = Object.values(snapshot.getMeta()).find((one) => one !== undefined);
      if (meta !== undefined) follow(id, meta.machineState, snapshot.context.lastError);
    });
    return actor.start();
  };

  const send = (id: string, event: MachineEvent): void => {
    const machine = records.get(id);
    if (machine !== undefined && !machine.held) actorOf(machine).send(event);
  };
  const edit = (id: string, change: Partial<FleetMachine>): void => {
    const machine = records.get(id);
    if (machine !== undefined) indexed.set({ ...machine, ...change });
  };

  return {
    size: () => records.size,
    get: (id) => records.get(id),
    values: () => records.values(),
    kinds: () => kinds.values(),
    free: (kind, state) => free.of(freeKey({ kind, state })),
    boundTo: (cluster) => bound.of(cluster),
    restore: (machine) => {
      indexed.set(machine);
    },
    put: (machine) => {
      retire(machine.id);
      const before = indexed.set(machine);
      changed(before, machine);
    },
    remove: (id) => {
      retire(id);
      const before = indexed.delete(id);
      if (before !== undefined) changed(before, undefined);
    },
    activate: () => {
      for (const machine of records.values()) {
        if (!machine.held && !UNALLOCATED.has(machine.state)) actorOf(machine);
      }
    },
    bind: (id, cluster, need) => {
      edit(id, { cluster, need });
      send(id, { type: 'machine.bound' });
    },
    reassign: (id, need) => edit(id, { need }),
    send,
    stop: () => {
      for (const id of [...actors.keys()]) retire(id);
    },
  };
};
