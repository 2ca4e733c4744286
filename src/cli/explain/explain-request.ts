/** The request of `tidegate explain`: flags and arguments as a plain value. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
} from '../cluster-flags.ts';

/** The supported kinds, with their aliases. */
export const EXPLAINED_KINDS = {
  capacityrequest: ['capacityrequest', 'capacityrequests', 'cr', 'crs'],
  evictionrequest: ['evictionrequest', 'evictionrequests', 'evreq'],
  machine: ['machine', 'machines'],
  nodemaintenance: ['nodemaintenance', 'nodemaintenances', 'nm'],
  node: ['node', 'nodes', 'no'],
  pod: ['pod', 'pods', 'po'],
  poddisruptionbudget: ['poddisruptionbudget', 'poddisruptionbudgets', 'pdb', 'pdbs'],
  upcomingnode: ['upcomingnode', 'upcomingnodes', 'upn'],
} as const;

/** A supported kind. */
export type ExplainedKind = keyof typeof EXPLAINED_KINDS;

/** Output formats. */
export const FORMATS = ['text', 'json', 'yaml'] as const;

/** An output format. */
export type Format = (typeof FORMATS)[number];

/** A request, not yet validated. */
export interface ExplainRequest {
  readonly kind: string;
  /** Undefined: the argument in place of the kind is the name of a node. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly format: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** The flags, as in kubectl. */
export const EXPLAIN_FLAGS = {
  namespace: optionalText(
    'namespace',
    'NAME',
    'Namespace of a request, pod or budget named without one',
  )
    .pipe(Flag.withAlias('n')),
  output: optionalText('output', 'text|json|yaml', 'Format of the answer (default text)')
    .pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

/** The parsed flags and arguments. */
export const explainRequest = (
  parsed: ParsedCluster & {
    readonly kind: string;
    readonly name: Option.Option<string>;
    readonly namespace: Option.Option<string>;
    readonly output: Option.Option<string>;
  },
): ExplainRequest => ({
  kind: parsed.kind,
  name: Option.getOrUndefined(parsed.name),
  namespace: Option.getOrUndefined(parsed.namespace),
  format: Option.getOrElse(parsed.output, () => 'text'),
  ...chosenCluster(parsed),
});
