/** The request of `tidegate drain`: flags and arguments as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import { DEFAULT_INTERCEPTORS } from '../../effects/eviction-request-options.ts';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
  switchFlag,
} from '../cluster-flags.ts';
import { selectorProblem } from '../failures.ts';

/** Formats of `drain status`. */
export const STATUS_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;
export type StatusFormat = (typeof STATUS_FORMATS)[number];

/** Formats of `drain plan`. */
export const PLAN_FORMATS = ['table', 'json', 'yaml'] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

/** Formats of `drain acknowledge`. */
export const ACKNOWLEDGE_FORMATS = ['text', 'json'] as const;

/** Whether `drain plan` sends dry-run evictions to the API server. */
export const DRY_RUNS = ['none', 'server'] as const;
export type DryRun = (typeof DRY_RUNS)[number];

/** A request for drain status, not yet validated. */
export interface DrainStatusRequest {
  /** Empty: every node with a current or past drain. */
  readonly nodes: readonly string[];
  /** A label selector of Nodes, in the syntax of kubectl. */
  readonly selector: string | undefined;
  readonly format: string;
  readonly watch: boolean;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** A request for a drain preview, not yet validated. */
export interface DrainPlanRequest {
  readonly node: string;
  readonly format: string;
  /** A Go duration. */
  readonly grace: string | undefined;
  readonly dryRun: string;
  /** As the operator has it. */
  readonly defaultInterceptors: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** A request to let pods with local data stay, not yet validated. */
export interface DrainAcknowledgeRequest {
  readonly node: string;
  /** Empty without one. */
  readonly why: string;
  readonly format: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** Flags of `drain status`, as in kubectl. */
export const STATUS_FLAGS = {
  output: optionalText('output', STATUS_FORMATS.join('|'), 'Format of the answer (default table)')
    .pipe(Flag.withAlias('o')),
  selector: optionalText('selector', 'SELECTOR', 'Label selector of the nodes, as in kubectl')
    .pipe(Flag.withAlias('l')),
  watch: switchFlag('watch', 'Keep watching and print changes').pipe(Flag.withAlias('w')),
  ...CLUSTER_FLAGS,
};

/** Flags of `drain plan`. */
export const PLAN_FLAGS = {
  output: optionalText('output', PLAN_FORMATS.join('|'), 'Format of the answer (default table)')
    .pipe(Flag.withAlias('o')),
  grace: optionalText('grace', 'DURATION', 'Grace of the drain (default 30s)'),
  dryRun: optionalText(
    'dry-run',
    DRY_RUNS.join('|'),
    'server: also send each eviction as a dry run (default none)',
  ),
  defaultInterceptors: optionalText(
    'default-interceptors',
    DEFAULT_INTERCEPTORS.join('|'),
    'As the operator has it: adds these to the pods whose Deployment would lose availability',
  ),
  ...CLUSTER_FLAGS,
};

/** Flags of `drain acknowledge`. */
export const ACKNOWLEDGE_FLAGS = {
  why: optionalText('why', 'TEXT', 'The reason, for people; stored on the node'),
  output: optionalText('output', ACKNOWLEDGE_FORMATS.join('|'), 'Format of the answer').pipe(
    Flag.withAlias('o'),
  ),
  ...CLUSTER_FLAGS,
};

interface ParsedOutput extends ParsedCluster {
  readonly output: Option.Option<string>;
}

const commonOf = (parsed: ParsedOutput) => ({
  format: Option.getOrElse(parsed.output, () => 'table'),
  ...chosenCluster(parsed),
});

/** The parsed command line of `drain status`. */
export const drainStatusRequest = (
  parsed: ParsedOutput & {
    readonly nodes: readonly string[];
    readonly selector: Option.Option<string>;
    readonly watch: boolean;
  },
): DrainStatusRequest => ({
  ...commonOf(parsed),
  nodes: parsed.nodes,
  selector: Option.getOrUndefined(parsed.selector),
  watch: parsed.watch,
});

/** Why the label selector cannot be used; undefined when it can. */
export const statusSelectorProblem = (
  { nodes, selector }: Pick<DrainStatusRequest, 'nodes' | 'selector'>,
): string | undefined =>
  selector !== undefined && nodes.length > 0
    ? 'Cannot use --selector with names of nodes: write one or the other'
    : selectorProblem(selector, 'zone=a,pool!=spot');

/** The parsed command line of `drain plan`. */
export const drainPlanRequest = (
  parsed: ParsedOutput & {
    readonly node: string;
    readonly grace: Option.Option<string>;
    readonly dryRun: Option.Option<string>;
    readonly defaultInterceptors: Option.Option<string>;
  },
): DrainPlanRequest => ({
  ...commonOf(parsed),
  node: parsed.node,
  grace: Option.getOrUndefined(parsed.grace),
  dryRun: Option.getOrElse(parsed.dryRun, () => 'none'),
  defaultInterceptors: Option.getOrUndefined(parsed.defaultInterceptors),
});

/** The parsed command line of `drain acknowledge`. */
export const drainAcknowledgeRequest = (
  parsed: ParsedOutput & { readonly node: string; readonly why: Option.Option<string> },
): DrainAcknowledgeRequest => ({
  ...commonOf(parsed),
  format: Option.getOrElse(parsed.output, () => 'text'),
  node: parsed.node,
  why: Option.getOrElse(parsed.why, () => ''),
});
