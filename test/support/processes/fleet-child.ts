/** `tidegate fleet` as a child process, always on Node, with its scripting interface. */
import { accepts, freePort } from '../../../tools/testbed/ports.ts';
import { eventually } from '../eventually.ts';
import type { StartTidegate, TidegateProcess } from './tidegate-child.ts';
import { unpooledFetch } from './unpooled-fetch.ts';

export interface FleetOptions {
  readonly isSource?: boolean;
  readonly seedMachines?: number;
  readonly bindingsFile?: string;
  /** Kubeconfig with which it makes and deletes the Nodes; without it, none. */
  readonly kubeconfig?: string;
  /** Take the ports of a fleet that was there before. */
  readonly ports?: FleetPorts;
  /** Further flags, by name without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
}

export interface FleetPorts {
  readonly shard: number;
  readonly script: number;
}

/** A running fleet. */
export interface FleetProcess extends TidegateProcess {
  readonly ports: FleetPorts;
  /** `host:port` for `--shard-addr`. */
  readonly address: string;
  /** Calls the scripting interface; rejects with its error message. */
  readonly script: (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<unknown>;
}

const optionalFlags = (options: FleetOptions): Readonly<Record<string, string>> => ({
  ...(options.bindingsFile === undefined ? {} : { 'bindings-file': options.bindingsFile }),
  ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
  ...options.flags,
});

const parsed = (text: string): unknown => text === '' ? undefined : JSON.parse(text);

/** Starts it by `start`, and waits until it listens. */
export const fleetBy = async (
  start: StartTidegate,
  options: FleetOptions,
): Promise<FleetProcess> => {
  const ports = options.ports ?? { shard: await freePort(), script: await freePort() };
  const flags = {
    'listen': `127.0.0.1:${ports.shard}`,
    'script-listen': `127.0.0.1:${ports.script}`,
    'seed-machines': String(options.seedMachines ?? 20),
    'cycle-interval': '100ms',
    ...optionalFlags(options),
  };
  const child = start({
    name: 'fleet',
    // A gRPC server that requests client certificates does not work on Deno.
    runtime: 'node',
    ...(options.isSource === undefined ? {} : { isSource: options.isSource }),
    args: ['fleet', ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)],
  });
  await eventually(async () => await accepts(ports.shard) && await accepts(ports.script), {
    what: 'the fleet to listen',
    hopeless: () => child.isRunning() ? undefined : 'it has ended',
  });
  return {
    ...child,
    ports,
    // By name: gRPC on Deno takes no IP address as the name of a TLS server.
    address: `localhost:${ports.shard}`,
    script: async (method, path, body) => {
      const answer = await unpooledFetch(`http://127.0.0.1:${ports.script}${path}`, {
        method,
        ...(body === undefined ? {} : {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`Cannot ${method} ${path}: ${answer.status} ${text}`);
      return parsed(text);
    },
  };
};
