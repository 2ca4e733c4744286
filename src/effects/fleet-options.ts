/** The table of everything that can be set about the stand-in fleet, like `operator-options.ts`. */
import { choice, defaulted, duration, file, listen, optional, whole } from './option-kinds.ts';

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
  cycleMs: defaulted(duration(10), {
    name: 'cycle-interval',
    help: 'Time between two allocations of machines to needs',
    default: '1s',
  }),
  helloMs: defaulted(duration(0), {
    name: 'hello-time',
    help: 'From a Hello to its acknowledgement',
    default: '0s',
  }),
  rollupMs: defaulted(duration(0), {
    name: 'rollup-time',
    help: 'From a roll-up to its acknowledgement; a newer one supersedes it meanwhile',
    default: '20ms',
  }),
  bootstrapMs: defaulted(duration(1), {
    name: 'bootstrap-timeout',
    help: 'How long a bootstrap pull waits for its answer',
    default: '30s',
  }),
  bootstrapPauseMs: defaulted(duration(0), {
    name: 'bootstrap-pause',
    help: 'Pause after a pull that failed, before its need gets another machine',
    default: '5s',
  }),
  creationMs: defaulted(duration(0), {
    name: 'creation-time',
    help: 'From a machine bought to a machine there',
    default: '2s',
  }),
  joiningMs: defaulted(duration(0), {
    name: 'joining-time',
    help: 'From a bootstrap answer to a running node',
    default: '500ms',
  }),
  drainingMs: defaulted(duration(0), {
    name: 'draining-time',
    help: "The provider's own drain; never longer than the grace",
    default: '2s',
  }),
  deletionMs: defaulted(duration(0), {
    name: 'deletion-time',
    help: 'From a machine given back to a machine gone',
    default: '1s',
  }),
  emptyRollupGuard: defaulted(choice(['true', 'false']), {
    name: 'empty-rollup-guard',
    help: 'Whether demand that vanishes at once must be said three times',
    default: 'true',
  }),
} as const;
