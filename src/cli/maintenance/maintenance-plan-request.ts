/** The request of `tidegate maintenance plan`: flags and arguments as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
  switchFlag,
} from '../cluster-flags.ts';

/** Formats of the answer. */
export const MAINTENANCE_PLAN_FORMATS = ['table', 'json', 'yaml'] as const;
export type MaintenancePlanFormat = (typeof MAINTENANCE_PLAN_FORMATS)[number];

/** A request for a preview, not yet validated. */
export interface MaintenancePlanRequest {
  /** The path of a file, `-` for stdin, or the name of a NodeMaintenance. */
  readonly source: string;
  readonly format: string;
  readonly simulate: boolean;
  /** Go durations; without one, a pod takes its termination grace to stop. */
  readonly podStartup: string;
  readonly podShutdown: string | undefined;
  readonly nodeWork: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** How long images and probes take, when nobody says. */
const POD_STARTUP = '10s';
const NODE_WORK = '0s';

/** Its flags. */
export const MAINTENANCE_PLAN_FLAGS = {
  output: optionalText(
    'output',
    MAINTENANCE_PLAN_FORMATS.join('|'),
    'Format of the answer (default table)',
  ).pipe(Flag.withAlias('o')),
  simulate: switchFlag('simulate', 'Also play it on an embedded cluster, on simulated time'),
  podStartup: optionalText(
    'pod-startup',
    'DURATION',
    `How long a pod takes to become Ready (default ${POD_STARTUP})`,
  ),
  podShutdown: optionalText(
    'pod-shutdown',
    'DURATION',
    'How long a pod takes to stop (default its termination grace)',
  ),
  nodeWork: optionalText(
    'node-work',
    'DURATION',
    `How long the work on a drained node takes (default ${NODE_WORK})`,
  ),
  ...CLUSTER_FLAGS,
};

/** The parsed command line. */
export const maintenancePlanRequest = (
  { source, output, simulate, podStartup, podShutdown, nodeWork, ...cluster }: ParsedCluster & {
    readonly source: string;
    readonly output: Option.Option<string>;
    readonly simulate: boolean;
    readonly podStartup: Option.Option<string>;
    readonly podShutdown: Option.Option<string>;
    readonly nodeWork: Option.Option<string>;
  },
): MaintenancePlanRequest => ({
  source,
  format: Option.getOrElse(output, () => 'table'),
  simulate,
  podStartup: Option.getOrElse(podStartup, () => POD_STARTUP),
  podShutdown: Option.getOrUndefined(podShutdown),
  nodeWork: Option.getOrElse(nodeWork, () => NODE_WORK),
  ...chosenCluster(cluster),
});
