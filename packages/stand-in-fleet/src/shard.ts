/**
 * The stand-in shard: sessions, demand and machines, and the allocation cycle.
 *
 * Promises: records state before sending it; on connect it sends the `hello` ack, then every
 * machine bound to the cluster, and only then reads the cluster's frames; responses affect nothing
 * but a machine that waits for its bootstrap.
 */
import type { OperatorMessage } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { allocate, type Decision } from './allocation.ts';
import { bindingOf, type BindingStore } from './bindings.ts';
import { BootstrapPulls } from './bootstrap-pulls.ts';
import { capacityChanges } from './capacity-changes.ts';
import { type Claim, claimKey } from './claims.ts';
import { type Cluster, connected, newCluster } from './cluster.ts';
import type { FleetTime, FleetTiming } from './fleet-time.ts';
import { type History, history } from './history.ts';
import { type FleetMachine, Inventory } from './inventory.ts';
import { RollupIntake } from './rollup-intake.ts';
import { type Inbound, type Link, openSession, type Peer, type Session } from './session.ts';
import {
  ackFrame,
  machineFrame,
  pullFrame,
  type Reclaim,
  reclaimFrame,
  type ShardFrame,
  shardFrameBytes,
} from './shard-frames.ts';
import { allocatableInventory } from './allocatable-inventory.ts';

/** Writes a line of the fleet's log. */
export type FleetLog = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** The dependencies of a shard. */
export interface ShardOptions {
  readonly time: FleetTime;
  readonly timing: FleetTiming;
  readonly log: FleetLog;
  readonly store: BindingStore;
  /** Generates ids of this run; must differ between runs. */
  readonly seed: string;
  /** False disables the guard against vanishing demand. */
  readonly guarded: boolean;
  /** Called with every change of a machine, after it was recorded. */
  readonly observe: (before: FleetMachine | undefined, after: FleetMachine | undefined) => void;
}

/** A sent reclaim. */
export interface ReclaimRecord extends Reclaim {
  readonly cluster: string;
  readonly sentAt: number;
}

/** A received ReclaimAck; it has no effect. */
export interface ReclaimAckRecord {
  readonly cluster: string;
  readonly instructionId: string;
  readonly nodesStarted: number;
  readonly receivedAt: number;
}

const RECORDS_KEPT = 10_000;
/** For logs only. */
const COORDINATOR_TERM = 1;

/** The shard. Only scripts and transports use its fields. */
export class Shard {
  readonly inventory: Inventory;
  readonly clusters = new Map<string, Cluster>();
  readonly sessions = new Map<number, Session>();
  readonly rollups: RollupIntake;
  readonly bootstraps: BootstrapPulls;
  readonly reclaims: History<ReclaimRecord> = history(RECORDS_KEPT);
  readonly reclaimAcks: History<ReclaimAckRecord> = history(RECORDS_KEPT);
  timing: FleetTiming;
  cycles = 0;
  /** When the last cycle read the demand (wall-clock milliseconds). */
  computedAt = 0;
  readonly #options: ShardOptions;
  readonly #promises = new Map<string, string>();
  #sessionsOpened = 0;
  #reclaimed = 0;
  #dirty = true;
  #cancelCycle: () => void = () => {};

  constructor(options: ShardOptions) {
    this.#options = options;
    this.timing = options.timing;
    this.inventory = new Inventory({
      time: options.time,
      timing: () => this.timing,
      changed: (before, after) => this.#machineChanged(before, after),
    });
    this.bootstraps = new BootstrapPulls(options.seed);
    this.rollups = new RollupIntake({
      time: options.time,
      delayMs: () => this.timing.rollupMs,
      guarded: options.guarded,
      log: options.log,
      ack: (session) => {
        session.countAck();
        session.send(
          shardFrameBytes(ackFrame('rollup', COORDINATOR_TERM, session.report().number)),
        );
      },
      accepted: (cluster) => {
        this.#dirty = true;
        this.#pullForAll(cluster);
      },
    });
  }

  /** Activates the machines and starts the cycle. */
  start(): void {
    this.inventory.activate();
    this.#armCycle();
  }

  stop(): void {
    this.#cancelCycle();
    for (const session of [...this.sessions.values()]) session.cut();
    this.inventory.stop();
    this.#options.store.close();
  }

  /** Accepts a new stream. */
  connect(link: Link, peer: Peer): Inbound {
    this.#sessionsOpened += 1;
    const session = openSession({
      number: this.#sessionsOpened,
      link,
      peer,
      openedAt: this.#options.time.now(),
      hooks: {
        onHello: (session) => this.#onHello(session),
        onMessage: (session, message) => this.#onMessage(session, message),
        onEnded: (session, why) => this.#onEnded(session, why),
      },
    });
    this.sessions.set(this.#sessionsOpened, session);
    return session;
  }

  cluster(id: string): Cluster {
    const known = this.clusters.get(id) ?? newCluster(id);
    this.clusters.set(id, known);
    return known;
  }

  /** Sends a frame to a cluster; drops it when the cluster is disconnected. */
  send(clusterId: string, frame: ShardFrame): void {
    this.clusters.get(clusterId)?.live?.send(shardFrameBytes(frame));
  }

  /** Runs one allocation now. */
  cycle(): void {
    const { time } = this.#options;
    this.#dirty = false;
    this.cycles += 1;
    this.computedAt = time.now();
    const clusters = [...this.clusters.values()].filter(({ needs }) => needs !== undefined);
    const claims = clusters.flatMap((cluster) => this.#claimsOf(cluster));
    this.#dropStalePromises(
      new Set(claims.map(({ cluster, need }) => claimKey(cluster, need.key))),
    );
    const allocatable = allocatableInventory({
      inventory: this.inventory,
      promises: this.#promises,
      claims,
      clusters: clusters.map(({ id }) => id),
    });
    const { decisions, satisfied } = allocate(claims, allocatable);
    for (const cluster of clusters) {
      const keys = (cluster.needs ?? []).map(({ key }) => key);
      cluster.satisfied = new Set(keys.filter((key) => satisfied.has(claimKey(cluster.id, key))));
      if (cluster.satisfied.size < keys.length) this.#dirty = true;
    }
    for (const decision of decisions) this.#carryOut(decision);
    for (const cluster of clusters) this.#sendCapacity(cluster);
  }

  /** Sends a reclaim of a machine to its cluster, without starting the provider's drain. */
  instruct(machine: FleetMachine, reclaim: Partial<Reclaim>): Reclaim {
    this.#reclaimed += 1;
    const full: Reclaim = {
      instructionId: `reclaim-${this.#options.seed.slice(0, 8)}-${this.#reclaimed}`,
      node: machine.id,
      graceSeconds: 0,
      preemptorPriority: 0,
      ...reclaim,
    };
    const { cluster } = machine;
    this.reclaims.add({ ...full, cluster, sentAt: this.#options.time.now() });
    this.send(cluster, reclaimFrame(full));
    return full;
  }

  /** Requests a bootstrap blob from a cluster; undefined when it is disconnected. */
  pull(
    clusterId: string,
    machineId: string,
    requirements: Parameters<typeof pullFrame>[2],
  ): string | undefined {
    const cluster = this.clusters.get(clusterId);
    if (cluster === undefined || !connected(cluster)) return undefined;
    const pull = this.bootstraps.ask(clusterId, machineId, this.#options.time.now());
    this.send(clusterId, pullFrame(pull.requestId, clusterId, requirements));
    return pull.requestId;
  }

  #armCycle(): void {
    this.#cancelCycle = this.#options.time.schedule(this.timing.cycleMs, () => {
      this.#armCycle();
      if (!this.#dirty) return;
      const stalled = [...this.sessions.values()].find((session) => session.congested());
      if (stalled === undefined) return this.cycle();
      // Frames are written synchronously: a stalled reader delays the decisions.
      this.#options.log('A stalled reader holds up the cycle', { ...stalled.report() });
    });
  }

  #claimsOf(cluster: Cluster): readonly Claim[] {
    const now = this.#options.time.now();
    for (const [key, until] of cluster.pausedUntil) {
      if (until <= now) cluster.pausedUntil.delete(key);
    }
    const reachable = connected(cluster);
    return (cluster.needs ?? []).map((need) => ({
      cluster: cluster.id,
      need,
      ready: reachable && !cluster.pausedUntil.has(need.key),
    }));
  }

  #dropStalePromises(claims: ReadonlySet<string>): void {
    for (const [id, claim] of this.#promises) {
      if (!claims.has(claim) || this.inventory.get(id) === undefined) this.#promises.delete(id);
    }
  }

  #carryOut(decision: Decision): void {
    const { id } = decision;
    const machine = this.inventory.get(id);
    if (machine === undefined) return;
    switch (decision._tag) {
      case 'Unpromise':
        this.#promises.delete(id);
        return;
      case 'Bind':
        this.#promises.delete(id);
        return this.inventory.bind(id, decision.claim.cluster, decision.claim.need.key);
      case 'Reassign':
        return this.inventory.reassign(id, decision.claim.need.key);
      case 'Order':
        this.#promises.set(id, claimKey(decision.claim.cluster, decision.claim.need.key));
        return this.inventory.send(id, { type: 'machine.ordered' });
      case 'Preempt':
        this.#promises.set(id, claimKey(decision.claim.cluster, decision.claim.need.key));
        return this.#reclaim(machine, decision.graceSeconds, decision.claim.need.wire.priority);
      case 'Reclaim':
        return this.#reclaim(machine, decision.graceSeconds, 0);
    }
  }

  #reclaim(machine: FleetMachine, graceSeconds: number, preemptorPriority: number): void {
    this.instruct(machine, { graceSeconds, preemptorPriority });
    this.inventory.send(machine.id, { type: 'machine.reclaimed', graceMs: graceSeconds * 1000 });
  }

  #machineChanged(before: FleetMachine | undefined, after: FleetMachine | undefined): void {
    this.#dirty = true;
    if (after !== undefined) this.#options.store.record(bindingOf(after));
    else if (before !== undefined) {
      this.#options.store.record({ ...bindingOf(before), removed: true });
    }
    this.#options.observe(before, after);
    const cluster = after?.cluster || before?.cluster || '';
    if (after !== undefined && cluster !== '') this.send(cluster, machineFrame(after));
    if (before?.state === 'CONFIGURING' && after?.state !== 'CONFIGURING') {
      this.bootstraps.forget(before.id);
      if (after?.state !== 'CONFIGURED') this.#pause(before);
    }
    if (after?.state === 'CONFIGURING') this.#pullFor(after);
  }

  #pause({ cluster, need }: FleetMachine): void {
    const until = this.#options.time.now() + this.timing.bootstrapPauseMs;
    this.clusters.get(cluster)?.pausedUntil.set(need, until);
  }

  /**
   * Pulls bootstrap blobs for machines bound while their cluster was disconnected, once its needs
   * are known.
   */
  #pullForAll(cluster: Cluster): void {
    if (cluster.needs === undefined) return;
    for (const id of this.inventory.boundTo(cluster.id)) {
      const machine = this.inventory.get(id);
      if (machine?.state === 'CONFIGURING') this.#pullFor(machine);
    }
  }

  #pullFor(machine: FleetMachine): void {
    if (machine.held || this.bootstraps.asked(machine.id)) return;
    const need = this.clusters.get(machine.cluster)?.needs?.find(({ key }) => key === machine.need);
    this.pull(machine.cluster, machine.id, need?.wire.requirements ?? []);
  }

  #onHello(session: Session): void {
    const cluster = this.cluster(session.report().clusterId);
    cluster.live?.mute();
    cluster.live = session;
    cluster.reportedCapacity.clear();
    this.#dirty = true;
    this.#options.log('Cluster connected', { ...session.report() });
    const welcome = (): void => {
      session.send(shardFrameBytes(ackFrame('hello', COORDINATOR_TERM, session.report().number)));
      this.#replay(cluster, session);
      session.readOn();
    };
    if (this.timing.helloMs <= 0) welcome();
    else this.#options.time.schedule(this.timing.helloMs, welcome);
  }

  #replay(cluster: Cluster, session: Session): void {
    const machines = [...this.inventory.boundTo(cluster.id)]
      .flatMap((id) => this.inventory.get(id) ?? []);
    for (const machine of machines) session.send(shardFrameBytes(machineFrame(machine)));
    this.#pullForAll(cluster);
  }

  #onMessage(session: Session, { payload }: OperatorMessage): void {
    const { clusterId } = session.report();
    const now = this.#options.time.now();
    switch (payload.case) {
      case 'rollup':
        return this.rollups.receive(this.cluster(clusterId), session, payload.value);
      case 'bootstrapResponse': {
        const pull = this.bootstraps.answer(clusterId, payload.value, now);
        if (pull === undefined || pull.machineId === '') return;
        const { error } = payload.value;
        return this.inventory.send(
          pull.machineId,
          error === '' ? { type: 'bootstrap.answered' } : { type: 'bootstrap.refused', error },
        );
      }
      case 'reclaimAck': {
        const { instructionId, nodesStarted } = payload.value;
        return this.reclaimAcks.add({
          cluster: clusterId,
          instructionId,
          nodesStarted,
          receivedAt: now,
        });
      }
      default:
        this.#options.log('Unexpected message from a cluster', { case: payload.case ?? 'nothing' });
    }
  }

  #onEnded(session: Session, why: string): void {
    const { number, clusterId } = session.report();
    this.sessions.delete(number);
    const cluster = this.clusters.get(clusterId);
    // A muted session that outlives its successor stays muted.
    if (cluster?.live === session) cluster.live = undefined;
    this.#options.log('Session ended', { session: number, cluster: clusterId, why });
  }

  #sendCapacity(cluster: Cluster): void {
    if (!connected(cluster)) return;
    for (const frame of capacityChanges(cluster, this.inventory)) this.send(cluster.id, frame);
  }
}
