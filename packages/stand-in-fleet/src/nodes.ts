/**
 * Creates a Node for every machine that runs in the cluster, and deletes it afterwards.
 *
 * Promises: level-triggered: it catches up after a kill or an unreachable API server; it touches
 * only Nodes that it created; where kwok runs, kwok renews the heartbeats.
 */
import type { ApiServer } from './api-server.ts';
import type { FleetTime } from './fleet-time.ts';
import type { FleetMachine } from './inventory.ts';
import { MADE_BY, MADE_BY_LABEL, nodeName, nodeObject, readyCondition } from './node-object.ts';
import type { FleetLog } from './shard.ts';

/** Reconciles Nodes with machines. */
export interface NodeKeeper {
  /** Reports a machine's state; undefined when the fleet has released it. */
  readonly observe: (before: FleetMachine | undefined, after: FleetMachine | undefined) => void;
  /** Adopts what an earlier run left: `machines` is the complete list. */
  readonly begin: (machines: Iterable<FleetMachine>) => void;
  readonly stop: () => Promise<void>;
}

/** The dependencies of the reconciler. */
export interface NodeKeeperOptions {
  readonly api: ApiServer;
  readonly time: FleetTime;
  readonly log: FleetLog;
}

const AT_ONCE = 16;
const RETRY_MS = 1000;
const HEARTBEAT_MS = 15_000;

/** Whether a machine has a Node; a failed machine keeps the one that it had. */
const runs = (machine: FleetMachine | undefined): machine is FleetMachine =>
  machine?.state === 'CONFIGURED' || machine?.state === 'DRAINING';

const rfc3339 = (epochMs: number): string =>
  new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');

const namesIn = (list: unknown): readonly string[] => {
  if (typeof list !== 'object' || list === null || !('items' in list)) return [];
  const items: readonly unknown[] = Array.isArray(list.items) ? list.items : [];
  return items.flatMap((item) => {
    if (typeof item !== 'object' || item === null || !('metadata' in item)) return [];
    const { metadata } = item;
    return typeof metadata === 'object' && metadata !== null && 'name' in metadata
      ? [String(metadata.name)]
      : [];
  });
};

class Keeper implements NodeKeeper {
  readonly #options: NodeKeeperOptions;
  /** The wanted machine, or none, by Node name. */
  readonly #wanted = new Map<string, FleetMachine | undefined>();
  readonly #running = new Map<string, FleetMachine>();
  readonly #timers = new Set<() => void>();
  /** Node names with a request in flight: one at a time each. */
  readonly #busy = new Set<string>();
  #stopped = false;

  constructor(options: NodeKeeperOptions) {
    this.#options = options;
  }

  observe(before: FleetMachine | undefined, after: FleetMachine | undefined): void {
    const id = after?.id ?? before?.id ?? '';
    if (id === '' || after?.state === 'FAILED') return;
    const name = nodeName(id);
    if (runs(after) !== this.#running.has(name)) this.#want(name, runs(after) ? after : undefined);
  }

  begin(machines: Iterable<FleetMachine>): void {
    const failed = new Set<string>();
    for (const machine of machines) {
      if (runs(machine)) this.#want(nodeName(machine.id), machine);
      if (machine.state === 'FAILED') failed.add(nodeName(machine.id));
    }
    this.#collectOrphans(failed);
    this.#after(HEARTBEAT_MS, () => this.#beat());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#timers) cancel();
    await this.#options.api.close();
  }

  #want(name: string, machine: FleetMachine | undefined): void {
    if (machine === undefined) this.#running.delete(name);
    else this.#running.set(name, machine);
    this.#wanted.set(name, machine);
    this.#work();
  }

  #after(delayMs: number, run: () => void): void {
    if (this.#stopped) return;
    const cancel = this.#options.time.schedule(delayMs, () => {
      this.#timers.delete(cancel);
      if (!this.#stopped) run();
    });
    this.#timers.add(cancel);
  }

  #work(): void {
    for (const [name, machine] of this.#wanted) {
      if (this.#busy.size >= AT_ONCE || this.#stopped) return;
      if (this.#busy.has(name)) continue;
      this.#wanted.delete(name);
      this.#busy.add(name);
      this.#settle(name, machine).catch((cause: unknown) => this.#retry(name, machine, cause))
        .finally(() => {
          this.#busy.delete(name);
          this.#work();
        });
    }
  }

  async #settle(name: string, machine: FleetMachine | undefined): Promise<void> {
    const { api, time, log } = this.#options;
    const answer = machine === undefined
      ? await api.call('DELETE', `/api/v1/nodes/${name}`)
      : await api.call('POST', '/api/v1/nodes', nodeObject(machine, rfc3339(time.now())));
    const settled = machine === undefined ? answer.status === 404 : answer.status === 409;
    if (answer.status >= 300 && !settled) throw new Error(`HTTP ${answer.status}`);
    log(machine === undefined ? 'Deleted a Node' : 'Made a Node', { node: name });
  }

  #retry(name: string, machine: FleetMachine | undefined, cause: unknown): void {
    if (this.#stopped) return;
    this.#options.log('Cannot settle a Node', { node: name, why: String(cause) });
    this.#after(RETRY_MS, () => {
      // A newer wanted state replaces the retry.
      if (!this.#wanted.has(name) && this.#running.get(name) === machine) {
        this.#wanted.set(name, machine);
      }
      this.#work();
    });
  }

  /** Nodes of an earlier run whose machines have left since; `spared` are excluded. */
  #collectOrphans(spared: ReadonlySet<string>): void {
    const selector = encodeURIComponent(`${MADE_BY_LABEL}=${MADE_BY}`);
    this.#options.api.call('GET', `/api/v1/nodes?labelSelector=${selector}`).then(
      ({ status, body }) => {
        if (status !== 200) throw new Error(`HTTP ${status}`);
        for (const name of namesIn(body)) {
          if (!this.#running.has(name) && !spared.has(name)) this.#want(name, undefined);
        }
      },
    ).catch(() => this.#after(RETRY_MS, () => this.#collectOrphans(spared)));
  }

  /** Renews the heartbeats of Nodes without a kubelet, unless their leases show a kwok. */
  #beat(): void {
    const [first] = this.#running.keys();
    if (first === undefined) return this.#after(HEARTBEAT_MS, () => this.#beat());
    const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${first}`;
    this.#options.api.call('GET', lease)
      .then(({ status }) => status === 404 ? this.#beatAll() : undefined)
      .catch(() => {})
      .finally(() => this.#after(HEARTBEAT_MS, () => this.#beat()));
  }

  async #beatAll(): Promise<void> {
    const names = [...this.#running.keys()];
    const conditions = [readyCondition(rfc3339(this.#options.time.now()))];
    for (let from = 0; from < names.length; from += AT_ONCE) {
      if (this.#stopped) return;
      const batch = names.slice(from, from + AT_ONCE).map((name) =>
        this.#options.api.call('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } })
      );
      await Promise.allSettled(batch);
    }
  }
}

/** A reconciler without machines. */
export const keepNodes = (options: NodeKeeperOptions): NodeKeeper => new Keeper(options);
