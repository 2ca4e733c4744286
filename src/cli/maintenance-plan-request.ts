/** The request of `tidegate maintenance plan`: flags and arguments as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import { CLUSTER_FLAGS, optionalText } from './cluster-flags.ts';

/** Formats of the answer. */
export const MAINTENANCE_PLAN_FORMATS = ['table', 'json', 'yaml'] as const;
export type MaintenancePlanFormat = (typeof MAINTENANCE_PLAN_FORMATS)[number];

/** A request for a preview, not yet validated. */
export interface MaintenancePlanRequest {
  /** The path of a file, `-` for stdin, or the name of a NodeMaintenance. */
  readonly source: string;
  readonly format: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** Its flags. */
export const MAINTENANCE_PLAN_FLAGS = {
  output: optionalText(
    'output',
    MAINTENANCE_PLAN_FORMATS.join('|'),
    'Format of the answer (default table)',
  ).pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

/** The parsed command line. */
export const maintenancePlanRequest = (
  { source, output, kubeconfig, context }: {
    readonly source: string;
    readonly output: Option.Option<string>;
    readonly kubeconfig: Option.Option<string>;
    readonly context: Option.Option<string>;
  },
): MaintenancePlanRequest => ({
  source,
  format: Option.getOrElse(output, () => 'table'),
  kubeconfig: Option.getOrUndefined(kubeconfig),
  context: Option.getOrUndefined(context),
});
