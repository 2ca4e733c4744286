/** The table of everything that can be set about the stand-in fleet, like `operator-options.ts`. */
import { defaulted, duration, file, listen, optional, whole } from './option-kinds.ts';

/** Every option of `tidegate fleet`, by the name of its setting. */
export const FLEET_OPTIONS = {
  listen: defaulted(listen, {
    name: 'listen',
    help: 'Where operators dial',
    default: '127.0.0.1:7700',
  }),
  scriptListen: defaulted(listen, {
    name: 'script-listen',
    help: 'Where to serve the HTTP interface that scripts the fleet; 0 turns it off',
    default: '127.0.0.1:7701',
  }),
  bindingsFile: optional(file, {
    name: 'bindings-file',
    help: 'Where machines and their clusters are remembered over a restart',
  }),
  seedMachines: defaulted(whole(0, 1_000_000), {
    name: 'seed-machines',
    help: 'Machines that the fleet owns at its first start',
    default: '100',
  }),
  kubeconfig: optional(file, {
    name: 'kubeconfig',
    help: 'Cluster in which the fleet also makes and deletes the Nodes; without it, none',
  }),
  tlsCert: optional(file, {
    name: 'tls-cert',
    help: 'Server certificate (PEM); needs --tls-key and --tls-ca',
  }),
  tlsKey: optional(file, {
    name: 'tls-key',
    help: 'Private key of --tls-cert (PEM)',
  }),
  tlsCa: optional(file, {
    name: 'tls-ca',
    help: 'Certificates that may have signed those of the operators (PEM)',
  }),
  cycleIntervalMs: defaulted(duration(10), {
    name: 'cycle-interval',
    help: 'Time between two allocations of machines to needs',
    default: '1s',
  }),
} as const;
