/** The requests of `tidegate maintenance` as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import { CLUSTER_FLAGS, optionalText, switchFlag } from './cluster-flags.ts';

/** Formats of `maintenance list` and `maintenance status`. */
export const MAINTENANCE_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

interface OfCluster {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** A request to show maintenances, not yet validated. */
export interface MaintenanceShowRequest extends OfCluster {
  /** Undefined: all of them. */
  readonly name: string | undefined;
  readonly format: string;
  readonly watch: boolean;
}

/** Flags of `maintenance list` and `maintenance status`, as in kubectl. */
export const SHOW_FLAGS = {
  output: optionalText(
    'output',
    MAINTENANCE_FORMATS.join('|'),
    'Format of the answer (default table)',
  ).pipe(Flag.withAlias('o')),
  watch: switchFlag('watch', 'Keep watching and print changes').pipe(Flag.withAlias('w')),
  ...CLUSTER_FLAGS,
};

interface ParsedCluster {
  readonly kubeconfig: Option.Option<string>;
  readonly context: Option.Option<string>;
}

const clusterOf = ({ kubeconfig, context }: ParsedCluster): OfCluster => ({
  kubeconfig: Option.getOrUndefined(kubeconfig),
  context: Option.getOrUndefined(context),
});

/** The parsed command line of `maintenance list` and `maintenance status`. */
export const maintenanceShowRequest = (
  parsed: ParsedCluster & {
    readonly name?: string;
    readonly output: Option.Option<string>;
    readonly watch: boolean;
  },
): MaintenanceShowRequest => ({
  ...clusterOf(parsed),
  name: parsed.name,
  format: Option.getOrElse(parsed.output, () => 'table'),
  watch: parsed.watch,
});
