/**
 * A stand-in for a fleet autoscaler's shard and its machines: over gRPC, scripted over HTTP, or in
 * the process of a test. README.md has examples.
 */
export { type FleetRunOptions, runFleet, type RunningFleet } from './src/run.ts';
export { type FleetOptions, startFleet } from './src/fleet.ts';
export { DEFAULT_TIMING, type FleetTime, type FleetTiming } from './src/fleet-time.ts';
export { bindingsFile, type BindingStore, noBindings } from './src/bindings.ts';
export type { FleetMachine } from './src/inventory.ts';
export { fleetMachine, type FleetMachineState } from './src/machine.ts';
export type { FleetLog } from './src/shard.ts';
export { Script } from './src/script.ts';
export { dialMessages, type OperatorFrame, StreamRefused } from './src/in-process.ts';
export type { BoundAddress } from './src/sockets.ts';
