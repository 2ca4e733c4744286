/** The options of the stand-in fleet, like `operator-options.ts`. */
import { choice, defaulted, duration, file, listen, optional, whole } from './option-kinds.ts';

/** Every option of `tidegate fleet`, by the name of its setting. */
export const FLEET_OPTIONS = {
  listen: defaulted(listen, {
    name: 'listen',
    help: 'Address for operators; :PORT listens on all addresses',
    default: '127.0.0.1:7700',
  }),
  scriptListen: defaulted(listen, {
    name: 'script-listen',
    help:
      'Address of the HTTP interface for scripts; :PORT listens on all addresses, 0 disables it',
    default: '127.0.0.1:7701',
  }),
  bindingsFile: optional(file, {
    name: 'bindings-file',
    help: 'File that keeps machines and their clusters over a restart',
  }),
  seedMachines: defaulted(whole(0, 1_000_000), {
    name: 'seed-machines',
    help: 'Number of machines at the first start',
    default: '100',
  }),
  kubeconfig: optional(file, {
    name: 'kubeconfig',
    help: 'Cluster in which the fleet creates and deletes Nodes; without it, no Nodes',
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
    help: 'CA certificates of the operators (PEM)',
  }),
  cycleMs: defaulted(duration(10), {
    name: 'cycle-interval',
    help: 'Time between two allocations of machines to needs',
    default: '1s',
  }),
  helloMs: defaulted(duration(0), {
    name: 'hello-time',
    help: 'Time from a Hello to its acknowledgement',
    default: '0s',
  }),
  rollupMs: defaulted(duration(0), {
    name: 'rollup-time',
    help: 'Time from a roll-up to its acknowledgement; a newer one supersedes it',
    default: '20ms',
  }),
  bootstrapMs: defaulted(duration(1), {
    name: 'bootstrap-timeout',
    help: 'How long a bootstrap pull waits for its answer',
    default: '30s',
  }),
  bootstrapPauseMs: defaulted(duration(0), {
    name: 'bootstrap-pause',
    help: 'Pause after a failed pull, before its need gets another machine',
    default: '5s',
  }),
  creationMs: defaulted(duration(0), {
    name: 'creation-time',
    help: 'Time to create a machine',
    default: '2s',
  }),
  joiningMs: defaulted(duration(0), {
    name: 'joining-time',
    help: 'Time from a bootstrap answer to a running node',
    default: '500ms',
  }),
  drainingMs: defaulted(duration(0), {
    name: 'draining-time',
    help: "Time of the provider's own drain; at most the grace",
    default: '2s',
  }),
  deletionMs: defaulted(duration(0), {
    name: 'deletion-time',
    help: 'Time to delete a returned machine',
    default: '1s',
  }),
  emptyRollupGuard: defaulted(choice(['true', 'false']), {
    name: 'empty-rollup-guard',
    help: 'Whether a sudden loss of demand must be reported three times',
    default: 'true',
  }),
} as const;
