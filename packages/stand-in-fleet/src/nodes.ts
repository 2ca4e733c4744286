/**
 * Makes a Node of every machine that runs in the cluster, and takes it away again.
 *
 * Promises: works from what is wanted and not from what happened: it may be killed or cut off from
 * the API server at any time and catches up; it touches only Nodes that it made; with a kwok in the
 * cluster it leaves their heartbeats to it.
 */
import type { ApiServer } from './api-server.ts';
import type { FleetTime } from './fleet-time.ts';
import type { FleetMachine } from './inventory.ts';
import { MADE_BY, MADE_BY_LABEL, nodeName, nodeObject, readyCondition } from './node-object.ts';
import type { FleetLog } from './shard.ts';

/** Keeps Nodes in step with machines. */
export interface NodeKeeper {
  /** A machine is in this state now; undefined when the fleet owns it no more. */
  readonly observe: (before: FleetMachine | undefined, after: FleetMachine | undefined) => void;
  /** Takes up what an earlier run left: `machines` are all that there are. */
  readonly begin: (machines: Iterable<FleetMachine>) => void;
  readonly stop: () => Promise<void>;
}

/** What a keeper is made of. */
export interface NodeKeeperOptions {
  readonly api: ApiServer;
  readonly time: FleetTime;
  readonly log: FleetLog;
}

const AT_ONCE = 16;
const RETRY_MS = 1000;
const HEARTBEAT_MS = 15_000;

/** Whether a machine's Node stands in the cluster; that of a failed one stays as it was. */
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
  /** What should be, by name of the Node: a machine, or nothing. */
  readonly #wanted = new Map<string, FleetMachine | undefined>();
  readonly #running = new Map<string, FleetMachine>();
  readonly #timers = new Set<() => void>();
  /** Names that a call is under way for: one at a time each. */
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
      // What has been wanted since goes first.
      if (!this.#wanted.has(name) && this.#running.get(name) === machine) {
        this.#wanted.set(name, machine);
      }
      this.#work();
    });
  }

  /** Nodes that a killed run made and whose machines have left since; `spared` are none. */
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

  /** Writes the heartbeats of absent kubelets, unless leases show that a kwok does. */
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

/** A keeper without machines. */
export const keepNodes = (options: NodeKeeperOptions): NodeKeeper => new Keeper(options);
