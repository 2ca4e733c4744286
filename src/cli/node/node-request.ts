/** The requests of `tidegate node` as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import { CLUSTER_FLAGS, optionalText, switchFlag } from '../cluster-flags.ts';

/** Formats of `node status`. */
export const NODE_FORMATS = ['table', 'name', 'json', 'yaml'] as const;

interface OfCluster {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** A request to show Nodes, not yet validated. */
export interface NodeStatusRequest extends OfCluster {
  /** Undefined: all of them. */
  readonly node: string | undefined;
  readonly format: string;
}

/** A request to disable a Node. */
export interface NodeDisableRequest extends OfCluster {
  readonly node: string;
  readonly why: string;
}

/** A request to enable a Node. */
export interface NodeEnableRequest extends OfCluster {
  readonly node: string;
}

/** A request to confirm that the machine of a Node is gone. */
export interface NodeGoneRequest extends OfCluster {
  readonly node: string;
  readonly acceptsLocalLoss: boolean;
}

/** Flags of `node status`. */
export const NODE_STATUS_FLAGS = {
  output: optionalText('output', NODE_FORMATS.join('|'), 'Format of the answer (default table)')
    .pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

/** Flags of `node disable`. */
export const NODE_DISABLE_FLAGS = {
  why: Flag.String('why').pipe(
    Flag.withMetavar('TEXT'),
    Flag.withDescription('The reason, for people; shown by "node status"'),
  ),
  ...CLUSTER_FLAGS,
};

/** Flags of `node enable`. */
export const NODE_ENABLE_FLAGS = CLUSTER_FLAGS;

/** Flags of `node confirm-gone`. */
export const NODE_GONE_FLAGS = {
  acceptLocalLoss: switchFlag(
    'accept-local-loss',
    'Go on although pods or data that exist only on the node are lost',
  ),
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

/** The parsed command line of `node status`. */
export const nodeStatusRequest = (
  parsed: ParsedCluster & {
    readonly node: Option.Option<string>;
    readonly output: Option.Option<string>;
  },
): NodeStatusRequest => ({
  ...clusterOf(parsed),
  node: Option.getOrUndefined(parsed.node),
  format: Option.getOrElse(parsed.output, () => 'table'),
});

/** The parsed command line of `node disable`. */
export const nodeDisableRequest = (
  parsed: ParsedCluster & { readonly node: string; readonly why: string },
): NodeDisableRequest => ({ ...clusterOf(parsed), node: parsed.node, why: parsed.why });

/** The parsed command line of `node enable`. */
export const nodeEnableRequest = (
  parsed: ParsedCluster & { readonly node: string },
): NodeEnableRequest => ({ ...clusterOf(parsed), node: parsed.node });

/** The parsed command line of `node confirm-gone`. */
export const nodeGoneRequest = (
  parsed: ParsedCluster & { readonly node: string; readonly acceptLocalLoss: boolean },
): NodeGoneRequest => ({
  ...clusterOf(parsed),
  node: parsed.node,
  acceptsLocalLoss: parsed.acceptLocalLoss,
});
