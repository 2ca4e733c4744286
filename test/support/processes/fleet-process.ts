/** `tidegate fleet` as a process of one test: see `fleet-child.ts`. */
import { fleetBy, type FleetOptions, type FleetProcess } from './fleet-child.ts';
import { startTidegate } from './tidegate-process.ts';

export type { FleetOptions, FleetProcess } from './fleet-child.ts';

/** Starts it and waits until it listens. Must be called inside a test, with which it ends. */
export const startFleet = (options: FleetOptions = {}): Promise<FleetProcess> =>
  fleetBy(startTidegate, options);
