/**
 * Script actions on the fleet, behind the HTTP routes and for in-process tests.
 *
 * Promises: each action is immediate and complete; a machine that a script placed is held, and
 * allocation ignores it.
 */
import { create, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { ShardMessageSchema } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import type { FleetTiming } from './fleet-time.ts';
import type { FleetMachine } from './inventory.ts';
import type { FleetMachineState } from './machine.ts';
import { CATALOGUE, type MachineKind } from './machine-kind.ts';
import { type OddFrame, oddFrame } from './odd-frames.ts';
import { ScriptError } from './request-fields.ts';
import type { Session, Status } from './session.ts';
import type { Shard } from './shard.ts';
import type { Reclaim } from './shard-frames.ts';

/** Machines to add. */
export interface NewMachines {
  readonly count: number;
  readonly prefix: string;
  readonly kind: MachineKind;
  readonly state: FleetMachineState;
}

/** The state to set. Omitted fields keep their values. */
export interface Placement {
  readonly state: FleetMachineState;
  readonly cluster?: string;
  readonly lastError?: string;
  readonly providerId?: string;
}

/** Moves many machines through several states. */
export interface MassTransition {
  readonly cluster: string;
  readonly count: number;
  readonly prefix: string;
  readonly states: readonly FleetMachineState[];
  /** `state`: all machines through the first state, then the second; `machine`: one by one. */
  readonly order: 'state' | 'machine';
}

/** How to end a session. */
export interface Ending {
  /** Undefined: resets the connection without a status. */
  readonly status: Status | undefined;
  readonly message: string;
}

/** How transports treat new streams. */
export interface AdmissionFaults {
  /** New sessions are refused. */
  refuse: boolean;
}

/** A machine with only a kind. */
export const freshMachine = (
  id: string,
  kind: MachineKind,
  state: FleetMachineState,
): FleetMachine => ({
  id,
  kind,
  providerId: `host-${id}`,
  state,
  cluster: '',
  need: '',
  lastError: '',
  held: false,
});

const firstKind = (): MachineKind => {
  const kind = CATALOGUE[0];
  if (kind === undefined) throw new Error('The catalogue of machines is empty');
  return kind;
};

const numbered = (prefix: string, number: number): string =>
  `${prefix}${String(number).padStart(6, '0')}`;

/** The actions. */
export class Script {
  readonly shard: Shard;
  readonly admission: AdmissionFaults = { refuse: false };
  #added = 0;

  constructor(shard: Shard) {
    this.shard = shard;
  }

  machine(id: string): FleetMachine {
    const machine = this.shard.inventory.get(id);
    if (machine === undefined) throw new ScriptError(404, `There is no machine "${id}"`);
    return machine;
  }

  /** The session that frames to a cluster go to. */
  session(cluster: string): Session {
    const live = this.shard.clusters.get(cluster)?.live;
    if (live === undefined) throw new ScriptError(404, `Cluster "${cluster}" has no session`);
    return live;
  }

  /** Adds machines and returns their ids. */
  addMachines({ count, prefix, kind, state }: NewMachines): readonly string[] {
    return Array.from({ length: count }, () => {
      this.#added += 1;
      const id = numbered(prefix, this.#added);
      this.shard.inventory.put(freshMachine(id, kind, state));
      return id;
    });
  }

  /** Sets the state of a known or new machine and sends it to its cluster. */
  place(id: string, placement: Placement): FleetMachine {
    const { inventory } = this.shard;
    const known = inventory.get(id) ?? freshMachine(id, firstKind(), 'IDLE');
    const machine = { ...known, ...placement, held: true };
    if (machine.state !== 'IDLE') {
      inventory.put(machine);
      return machine;
    }
    // An idle machine has no cluster; the one it was bound to gets a frame about it.
    if (machine.cluster !== known.cluster) {
      inventory.restore({ ...known, cluster: machine.cluster });
    }
    const idle = { ...machine, cluster: '', need: '' };
    inventory.put(idle);
    return idle;
  }

  /** Releases a held or failed machine, idle. */
  repair(id: string): FleetMachine {
    const machine = this.machine(id);
    if (machine.held) {
      const idle = { state: 'IDLE', held: false, lastError: '', cluster: '', need: '' } as const;
      this.shard.inventory.put({ ...machine, ...idle });
    } else this.shard.inventory.send(id, { type: 'machine.repaired' });
    return this.machine(id);
  }

  /** Returns an idle machine to the provider; it is speculative afterwards. */
  release(id: string): FleetMachine {
    this.machine(id);
    this.shard.inventory.send(id, { type: 'machine.released' });
    return this.machine(id);
  }

  /** Removes a machine without a frame. */
  forget(id: string): void {
    this.machine(id);
    this.shard.inventory.remove(id);
  }

  mass({ cluster, count, prefix, states, order }: MassTransition): readonly string[] {
    const ids = Array.from({ length: count }, (_, index) => numbered(prefix, index + 1));
    const place = (id: string, state: FleetMachineState): void => {
      this.place(id, { state, cluster });
    };
    if (order === 'machine') { for (const id of ids) for (const state of states) place(id, state); }
    else for (const state of states) for (const id of ids) place(id, state);
    return ids;
  }

  /** Sends raw bytes as a frame. */
  sendBytes(cluster: string, frame: Uint8Array): void {
    this.session(cluster).send(frame);
  }

  /** Sends a `ShardMessage` in protobuf's JSON. */
  sendJson(cluster: string, json: JsonValue): void {
    try {
      this.sendBytes(cluster, toBinary(ShardMessageSchema, fromJson(ShardMessageSchema, json)));
    } catch (cause) {
      if (cause instanceof ScriptError) throw cause;
      throw new ScriptError(400, `The frame is no ShardMessage: ${String(cause)}`);
    }
  }

  /** Sends an odd frame. */
  sendOdd(cluster: string, kind: OddFrame): void {
    this.sendBytes(cluster, oddFrame(kind));
  }

  /** Sends a reclaim; with `drain`, the provider starts its own drain as well. */
  reclaim(id: string, reclaim: Partial<Reclaim>, drain: boolean): Reclaim {
    const machine = this.machine(id);
    if (machine.cluster === '') {
      throw new ScriptError(409, `Machine "${id}" is bound to no cluster`);
    }
    const sent = this.shard.instruct(machine, reclaim);
    const graceMs = sent.graceSeconds * 1000;
    if (drain) this.shard.inventory.send(id, { type: 'machine.reclaimed', graceMs });
    return sent;
  }

  /** Requests a bootstrap blob from a cluster and returns the request id. */
  pull(cluster: string, requirements: JsonValue): string {
    const request = fromJson(ShardMessageSchema, { bootstrapRequest: { requirements } });
    const parsed = request.payload.case === 'bootstrapRequest'
      ? request.payload.value.requirements
      : [];
    const requestId = this.shard.pull(cluster, '', parsed);
    if (requestId === undefined) throw new ScriptError(404, `Cluster "${cluster}" has no session`);
    return requestId;
  }

  end(cluster: string, { status, message }: Ending): void {
    const session = this.session(cluster);
    if (status === undefined) session.cut();
    else session.end(status, message);
  }

  setTiming(change: Partial<FleetTiming>): FleetTiming {
    this.shard.timing = { ...this.shard.timing, ...change };
    return this.shard.timing;
  }

  /** An empty frame: a `ShardMessage` without a payload. */
  sendNothing(cluster: string): void {
    this.sendBytes(cluster, toBinary(ShardMessageSchema, create(ShardMessageSchema)));
  }
}
