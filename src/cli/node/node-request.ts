/** The requests of `tidegate node` as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
  requiredText,
  switchFlag,
} from '../cluster-flags.ts';
import type { ChosenCluster } from '../cluster-question.ts';

/** Formats of `node status`. */
export const NODE_FORMATS = ['table', 'name', 'json', 'yaml'] as const;

/** Formats of the commands that change a Node. */
export const NODE_CHANGE_FORMATS = ['text', 'json'] as const;

/** A request to show Nodes, not yet validated. */
export interface NodeStatusRequest extends ChosenCluster {
  /** Undefined: all of them. */
  readonly node: string | undefined;
  readonly format: string;
}

/** A request to change a Node, not yet validated. */
export interface NodeChangeRequest extends ChosenCluster {
  readonly node: string;
  readonly format: string;
}

/** A request to disable a Node. */
export interface NodeDisableRequest extends NodeChangeRequest {
  readonly why: string;
  /** Pods without a possible replacement leave, too (RS-16). */
  readonly acceptsDowntime: boolean;
}

/** A request to enable a Node. */
export type NodeEnableRequest = NodeChangeRequest;

/** A request to confirm that the machine of a Node is gone. */
export interface NodeGoneRequest extends NodeChangeRequest {
  readonly acceptsLocalLoss: boolean;
}

/** Flags of `node status`. */
export const NODE_STATUS_FLAGS = {
  output: optionalText('output', NODE_FORMATS.join('|'), 'Format of the answer (default table)')
    .pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

const CHANGE_FLAGS = {
  output: optionalText(
    'output',
    NODE_CHANGE_FORMATS.join('|'),
    'Format of the answer (default text)',
  ).pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

/** Flags of `node disable`. */
export const NODE_DISABLE_FLAGS = {
  why: requiredText('why', 'TEXT', 'The reason, for people; shown by "node status"'),
  acceptDowntime: switchFlag(
    'accept-downtime',
    'Evict pods of the node, within their budgets, also where no replacement is possible',
  ),
  ...CHANGE_FLAGS,
};

/** Flags of `node enable`. */
export const NODE_ENABLE_FLAGS = CHANGE_FLAGS;

/** Flags of `node confirm-gone`. */
export const NODE_GONE_FLAGS = {
  acceptLocalLoss: switchFlag(
    'accept-local-loss',
    'Go on although pods or data that exist only on the node are lost',
  ),
  ...CHANGE_FLAGS,
};

interface ParsedChange extends ParsedCluster {
  readonly node: string;
  readonly output: Option.Option<string>;
}

const changeOf = (parsed: ParsedChange): NodeChangeRequest => ({
  ...chosenCluster(parsed),
  node: parsed.node,
  format: Option.getOrElse(parsed.output, () => 'text'),
});

/** The parsed command line of `node status`. */
export const nodeStatusRequest = (
  parsed: ParsedCluster & {
    readonly node: Option.Option<string>;
    readonly output: Option.Option<string>;
  },
): NodeStatusRequest => ({
  ...chosenCluster(parsed),
  node: Option.getOrUndefined(parsed.node),
  format: Option.getOrElse(parsed.output, () => 'table'),
});

/** The parsed command line of `node disable`. */
export const nodeDisableRequest = (
  parsed: ParsedChange & { readonly why: string; readonly acceptDowntime: boolean },
): NodeDisableRequest => ({
  ...changeOf(parsed),
  why: parsed.why,
  acceptsDowntime: parsed.acceptDowntime,
});

/** The parsed command line of `node enable`. */
export const nodeEnableRequest = (parsed: ParsedChange): NodeEnableRequest => changeOf(parsed);

/** The parsed command line of `node confirm-gone`. */
export const nodeGoneRequest = (
  parsed: ParsedChange & { readonly acceptLocalLoss: boolean },
): NodeGoneRequest => ({
  ...changeOf(parsed),
  acceptsLocalLoss: parsed.acceptLocalLoss,
});
