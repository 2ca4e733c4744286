/**
 * The fleet's machines: a record each, and a statechart while it is active.
 *
 * Promises: a record changes before the change is reported; every change is reported through
 * `changed` exactly once; an inactive machine costs its record only.
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
  /** The cluster it is bound to; empty if none. */
  readonly cluster: string;
  /** Key of the need that it serves; empty if none. */
  readonly need: string;
  readonly lastError: string;
  /** A script set its state: allocation ignores it. */
  readonly held: boolean;
}

/** A change of a machine; undefined before its creation and after its removal. */
export type MachineChanged = (
  before: FleetMachine | undefined,
  after: FleetMachine | undefined,
) => void;

/** The dependencies of an inventory. */
export interface InventoryOptions {
  readonly time: FleetTime;
  readonly timing: () => FleetTiming;
  readonly changed: MachineChanged;
}

const UNALLOCATED: ReadonlySet<FleetMachineState> = new Set(['IDLE', 'SPECULATIVE']);
const NOTHING: ReadonlySet<string> = new Set();

/** Sets by key; empty sets are removed. */
class SetsByKey {
  readonly #sets = new Map<string, Set<string>>();

  of(key: string): ReadonlySet<string> {
    return this.#sets.get(key) ?? NOTHING;
  }

  add(key: string, member: string): void {
    const set = this.#sets.get(key) ?? new Set();
    this.#sets.set(key, set.add(member));
  }

  remove(key: string, member: string): void {
    const set = this.#sets.get(key);
    set?.delete(member);
    if (set?.size === 0) this.#sets.delete(key);
  }
}

const freeKey = ({ kind, state }: Pick<FleetMachine, 'kind' | 'state'>): string =>
  `${state} ${kind.key}`;

/** Records and their indexes, without statecharts. */
class MachineRecords {
  readonly #records = new Map<string, FleetMachine>();
  readonly #kinds = new Map<string, MachineKind>();
  readonly #free = new SetsByKey();
  readonly #bound = new SetsByKey();

  get size(): number {
    return this.#records.size;
  }

  get(id: string): FleetMachine | undefined {
    return this.#records.get(id);
  }

  values(): Iterable<FleetMachine> {
    return this.#records.values();
  }

  kinds(): Iterable<MachineKind> {
    return this.#kinds.values();
  }

  free(kind: MachineKind, state: 'IDLE' | 'SPECULATIVE'): ReadonlySet<string> {
    return this.#free.of(freeKey({ kind, state }));
  }

  boundTo(cluster: string): ReadonlySet<string> {
    return this.#bound.of(cluster);
  }

  /** Returns the replaced record. */
  set(machine: FleetMachine): FleetMachine | undefined {
    const before = this.#records.get(machine.id);
    if (before !== undefined) this.#unindex(before);
    const kind = this.#kinds.get(machine.kind.key) ?? machine.kind;
    const kept = kind === machine.kind ? machine : { ...machine, kind };
    this.#records.set(machine.id, kept);
    this.#index(kept);
    return before;
  }

  /** Returns the removed record. */
  delete(id: string): FleetMachine | undefined {
    const before = this.#records.get(id);
    if (before !== undefined) this.#unindex(before);
    this.#records.delete(id);
    return before;
  }

  #unindex(machine: FleetMachine): void {
    if (machine.cluster !== '') this.#bound.remove(machine.cluster, machine.id);
    if (UNALLOCATED.has(machine.state)) this.#free.remove(freeKey(machine), machine.id);
  }

  #index(machine: FleetMachine): void {
    this.#kinds.set(machine.kind.key, machine.kind);
    if (machine.cluster !== '') this.#bound.add(machine.cluster, machine.id);
    if (!UNALLOCATED.has(machine.state) || machine.held) return;
    this.#free.add(freeKey(machine), machine.id);
  }
}

/** An empty inventory. */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #clock: ReturnType<typeof machineClock>;
  readonly #records = new MachineRecords();
  readonly #actors = new Map<string, Actor<typeof fleetMachine>>();

  constructor(options: InventoryOptions) {
    this.#options = options;
    this.#clock = machineClock(options.time);
  }

  readonly size = (): number => this.#records.size;
  readonly get = (id: string): FleetMachine | undefined => this.#records.get(id);
  readonly values = (): Iterable<FleetMachine> => this.#records.values();
  readonly kinds = (): Iterable<MachineKind> => this.#records.kinds();

  /** Free machines of a kind, in the order in which they became free. */
  readonly free = (kind: MachineKind, state: 'IDLE' | 'SPECULATIVE'): ReadonlySet<string> =>
    this.#records.free(kind, state);

  readonly boundTo = (cluster: string): ReadonlySet<string> => this.#records.boundTo(cluster);

  /** Adds a restored machine without reporting a change. */
  readonly restore = (machine: FleetMachine): void => void this.#records.set(machine);

  /** Adds a machine, or sets its state for a script. */
  readonly put = (machine: FleetMachine): void => {
    this.#retire(machine.id);
    const before = this.#records.set(machine);
    this.#options.changed(before, machine);
  };

  readonly remove = (id: string): void => {
    this.#retire(id);
    const before = this.#records.delete(id);
    if (before !== undefined) this.#options.changed(before, undefined);
  };

  /** Starts the statecharts of restored machines that are active. */
  readonly activate = (): void => {
    for (const machine of this.#records.values()) {
      if (!machine.held && !UNALLOCATED.has(machine.state)) this.#actorOf(machine);
    }
  };

  readonly bind = (id: string, cluster: string, need: string): void => {
    this.#edit(id, { cluster, need });
    this.send(id, { type: 'machine.bound' });
  };

  readonly reassign = (id: string, need: string): void => this.#edit(id, { need });

  readonly send = (id: string, event: MachineEvent): void => {
    const machine = this.#records.get(id);
    if (machine !== undefined && !machine.held) this.#actorOf(machine).send(event);
  };

  readonly stop = (): void => {
    for (const id of [...this.#actors.keys()]) this.#retire(id);
  };

  #edit(id: string, change: Partial<FleetMachine>): void {
    const machine = this.#records.get(id);
    if (machine !== undefined) this.#records.set({ ...machine, ...change });
  }

  #retire(id: string): void {
    this.#actors.get(id)?.stop();
    this.#actors.delete(id);
  }

  /** Mirrors a statechart into its record and reports the change. */
  #follow(id: string, state: FleetMachineState, lastError: string): void {
    const before = this.#records.get(id);
    if (before === undefined || (before.state === state && before.lastError === lastError)) return;
    const free = UNALLOCATED.has(state);
    const after = { ...before, state, lastError, ...(free ? { cluster: '', need: '' } : {}) };
    this.#records.set(after);
    if (free) this.#retire(id);
    this.#options.changed(before, after);
  }

  #actorOf({ id, state, lastError }: FleetMachine): Actor<typeof fleetMachine> {
    const existing = this.#actors.get(id);
    if (existing !== undefined) return existing;
    const input = { state, lastError, timing: this.#options.timing() };
    const actor = createActor(fleetMachine, { id, clock: this.#clock, input });
    this.#actors.set(id, actor);
    actor.subscribe((snapshot) => {
      const meta = Object.values(snapshot.getMeta()).find((one) => one !== undefined);
      if (meta !== undefined) this.#follow(id, meta.machineState, snapshot.context.lastError);
    });
    return actor.start();
  }
}
