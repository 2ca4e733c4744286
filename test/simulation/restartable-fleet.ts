/**
 * The stand-in fleet of a simulated world, which can be killed and restarted.
 *
 * Promises: a restarted fleet has the bindings recorded before the kill, less those that a scenario
 * removed meanwhile; while it is down it refuses sessions, and its Nodes do not change.
 */
import type { Time } from '../../src/domain/time.ts';
import type { ApiServer } from '../../packages/stand-in-fleet/src/api-server.ts';
import type { Binding, BindingStore } from '../../packages/stand-in-fleet/src/bindings.ts';
import { startFleet } from '../../packages/stand-in-fleet/src/fleet.ts';
import type { FleetTiming } from '../../packages/stand-in-fleet/src/fleet-time.ts';
import { keepNodes, type NodeKeeper } from '../../packages/stand-in-fleet/src/nodes.ts';
import type { ShardOptions } from '../../packages/stand-in-fleet/src/shard.ts';

/** The inputs of a fleet. */
export interface RestartableFleetOptions {
  /** The cluster for its Nodes; without one it creates none. */
  readonly api: ApiServer | undefined;
  readonly time: Time;
  /** The number of machines, before recorded ones are restored. */
  readonly machines: number;
  /** The number of the start, from 0: derives the ids of that run. */
  readonly seed: (start: number) => string;
  readonly timing: Partial<FleetTiming>;
  readonly observe: ShardOptions['observe'];
}

/** What survives a kill. */
const journal = () => {
  const lines = new Map<string, Binding>();
  return {
    store: (): BindingStore => ({
      bindings: [...lines.values()],
      record: (binding) => void lines.set(binding.id, binding),
      close: () => {},
    }),
    forget: (ids: readonly string[]): void => ids.forEach((id) => void lines.delete(id)),
  };
};

const NO_KEEPER: NodeKeeper = {
  observe: () => {},
  begin: () => {},
  stop: () => Promise.resolve(),
};

/** The fleet, started. */
export const restartableFleet = (options: RestartableFleetOptions) => {
  const { api, time, machines, seed, timing, observe } = options;
  const book = journal();
  const sessions: string[] = [];
  let starts = 0;
  const start = (change: Partial<FleetTiming> = {}) => {
    const keeper = api === undefined ? NO_KEEPER : keepNodes({ api, time, log: () => {} });
    const script = startFleet({
      time,
      seedMachines: machines,
      seed: seed(starts),
      timing: { ...timing, ...change },
      store: book.store(),
      log: (message, { why }) => {
        if (message === 'Cluster connected') sessions.push('connected');
        if (message === 'Session ended') sessions.push(`ended: ${String(why)}`);
      },
      observe: (before, after) => {
        keeper.observe(before, after);
        observe(before, after);
      },
    });
    keeper.begin(script.shard.inventory.values());
    starts += 1;
    return { script, keeper };
  };
  let running = start();
  const stop = async (): Promise<void> => {
    running.script.admission.refuse = true;
    running.script.shard.stop();
    await running.keeper.stop();
  };
  return {
    script: () => running.script,
    /** Starts and ends of sessions, as it logs them. */
    sessions: (): readonly string[] => sessions,
    /** As by SIGKILL. */
    kill: stop,
    /** Removes machines from the recorded bindings. */
    forget: book.forget,
    restart: (change?: Partial<FleetTiming>): void => {
      running = start(change);
    },
    stop,
  };
};
