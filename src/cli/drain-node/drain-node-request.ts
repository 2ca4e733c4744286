/** The request of `tidegate drain NODE…`: the flags of `kubectl drain`. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import type { DrainFilters } from '../../domain/drain/drain-filters.ts';
import type { LabelConditions } from '../../domain/label-selector.ts';
import { readSelector } from '../../domain/pod-demand/label-selector-text.ts';
import { quoted } from '../../domain/text.ts';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
  switchFlag,
} from '../cluster-flags.ts';
import { selectorProblem, unknownWord, workedNodesProblem } from '../failures.ts';
import { timeoutOf } from '../maintenance/maintenance-question.ts';

/** Whether anything is changed, as in kubectl. */
export const NODE_DRY_RUNS = ['none', 'client', 'server'] as const;
export type NodeDryRun = (typeof NODE_DRY_RUNS)[number];

/** A request to drain nodes, not yet validated. */
export interface DrainNodesRequest {
  readonly nodes: readonly string[];
  readonly selector: string | undefined;
  readonly podSelector: string | undefined;
  readonly force: boolean;
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  readonly disableEviction: boolean;
  readonly gracePeriod: string;
  /** A Go duration; 0: without end. */
  readonly timeout: string;
  readonly skipWaitSeconds: string;
  readonly chunkSize: string;
  readonly dryRun: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** Flags of `drain`, as in kubectl. */
export const DRAIN_FLAGS = {
  selector: optionalText('selector', 'SELECTOR', 'Label selector of the nodes, as in kubectl')
    .pipe(Flag.withAlias('l')),
  podSelector: optionalText(
    'pod-selector',
    'SELECTOR',
    'Label selector of the pods that leave; the others stay',
  ),
  force: switchFlag('force', 'Also pods without a controller, which nothing recreates'),
  ignoreDaemonSets: switchFlag('ignore-daemonsets', 'Leave the pods of DaemonSets there'),
  deleteEmptyDirData: switchFlag(
    'delete-emptydir-data',
    'Also pods with an emptyDir, whose content is lost',
  ),
  gracePeriod: optionalText(
    'grace-period',
    'SECONDS',
    'How long each pod gets to stop; -1, the default: its own grace',
  ),
  timeout: optionalText('timeout', 'DURATION', 'How long to wait; 0, the default: without end'),
  skipWaitSeconds: optionalText(
    'skip-wait-for-delete-timeout',
    'SECONDS',
    'Do not wait for pods that terminate for longer; 0, the default: wait for all',
  ),
  chunkSize: optionalText('chunk-size', 'NUMBER', 'Pods in one page of a list (default 500)'),
  disableEviction: switchFlag('disable-eviction', 'Refused: budgets hold in every drain'),
  dryRun: optionalText(
    'dry-run',
    NODE_DRY_RUNS.join('|'),
    'client: print what would leave; server: also let the API server check it (default none)',
  ),
  ...CLUSTER_FLAGS,
};

/** The parsed command line. */
export const drainNodesRequest = (
  parsed: ParsedCluster & {
    readonly nodes: readonly string[];
    readonly selector: Option.Option<string>;
    readonly podSelector: Option.Option<string>;
    readonly force: boolean;
    readonly ignoreDaemonSets: boolean;
    readonly deleteEmptyDirData: boolean;
    readonly disableEviction: boolean;
    readonly gracePeriod: Option.Option<string>;
    readonly timeout: Option.Option<string>;
    readonly skipWaitSeconds: Option.Option<string>;
    readonly chunkSize: Option.Option<string>;
    readonly dryRun: Option.Option<string>;
  },
): DrainNodesRequest => ({
  nodes: parsed.nodes,
  selector: Option.getOrUndefined(parsed.selector),
  podSelector: Option.getOrUndefined(parsed.podSelector),
  force: parsed.force,
  ignoreDaemonSets: parsed.ignoreDaemonSets,
  deleteEmptyDirData: parsed.deleteEmptyDirData,
  disableEviction: parsed.disableEviction,
  gracePeriod: Option.getOrElse(parsed.gracePeriod, () => '-1'),
  timeout: Option.getOrElse(parsed.timeout, () => '0'),
  skipWaitSeconds: Option.getOrElse(parsed.skipWaitSeconds, () => '0'),
  chunkSize: Option.getOrElse(parsed.chunkSize, () => '500'),
  dryRun: Option.getOrElse(parsed.dryRun, () => 'none'),
  ...chosenCluster(parsed),
});

/** A valid request. */
export interface DrainQuestion {
  /** Without `node/`; empty with a selector. */
  readonly nodes: readonly string[];
  readonly selector: string | undefined;
  readonly podSelector: string | undefined;
  /** The same, as conditions; empty: all pods. */
  readonly podConditions: LabelConditions;
  /** What each pod gets to stop; null: its own grace. */
  readonly graceSeconds: number | null;
  readonly filters: DrainFilters;
  /** Undefined: without end. */
  readonly timeoutMs: number | undefined;
  readonly chunkSize: number;
  readonly dryRun: NodeDryRun;
}

const PREFIX = /^(node|nodes|no)\//u;
const COUNT = /^\d{1,9}$/u;
const GRACE = /^-?\d{1,9}$/u;

const countProblem = (flag: string, text: string, example: string): string | undefined =>
  COUNT.test(text)
    ? undefined
    : `Cannot use ${flag} ${quoted(text)}: it is not a whole number; write one such as ${example}`;

const choiceProblem = ({ nodes, selector, podSelector }: DrainNodesRequest): string | undefined => {
  if (selector !== undefined && nodes.length > 0) {
    return 'Cannot use --selector with names of nodes: write one or the other';
  }
  if (selector === undefined && nodes.length === 0) {
    return 'Cannot start without <node>: name nodes, or write --selector; see "tidegate drain ' +
      '--help"';
  }
  const empty = nodes.find((node) => !/^[^/]+$/u.test(node.replace(PREFIX, '')));
  if (empty !== undefined) {
    return `Cannot drain ${quoted(empty)}: it is not the name of a node; write NODE or node/NODE`;
  }
  return workedNodesProblem(selector) ??
    selectorProblem(podSelector, 'app=web,tier!=test')?.replace('--selector', '--pod-selector');
};

/** Flags of kubectl that cannot be kept, or have no such value. */
const flagProblem = ({ disableEviction, gracePeriod }: DrainNodesRequest): string | undefined => {
  if (disableEviction) {
    return 'Cannot use --disable-eviction: pods leave by evictions, so that budgets hold; leave ' +
      'it out, or use kubectl drain';
  }
  if (/^0+$/u.test(gracePeriod)) {
    return 'Cannot use --grace-period "0": pods would be gone from the API server before their ' +
      'containers have stopped; write 1 for the shortest grace';
  }
  return GRACE.test(gracePeriod)
    ? undefined
    : `Cannot use --grace-period ${quoted(gracePeriod)}: it is not a number of seconds; write ` +
      'one such as 30, or -1 for the grace of each pod';
};

const conditionsOf = (podSelector: string | undefined): LabelConditions => {
  const reading = readSelector(podSelector ?? '');
  return reading._tag === 'Selector' ? reading.conditions : [];
};

/** The request, or one line about its problem. */
export const drainQuestion = (request: DrainNodesRequest): DrainQuestion | string => {
  const { nodes, selector, podSelector, timeout, chunkSize, skipWaitSeconds } = request;
  const dryRun = NODE_DRY_RUNS.find((candidate) => candidate === request.dryRun);
  if (dryRun === undefined) return unknownWord('--dry-run', request.dryRun, NODE_DRY_RUNS);
  const problem = choiceProblem(request) ?? flagProblem(request) ??
    countProblem('--skip-wait-for-delete-timeout', skipWaitSeconds, '30') ??
    countProblem('--chunk-size', chunkSize, '500');
  if (problem !== undefined) return problem;
  const timeoutMs = /^0[a-zµμ]*$/u.test(timeout) ? undefined : timeoutOf(timeout);
  if (typeof timeoutMs === 'string') return timeoutMs;
  const { force, ignoreDaemonSets, deleteEmptyDirData } = request;
  const graceSeconds = Number(request.gracePeriod);
  return {
    nodes: nodes.map((node) => node.replace(PREFIX, '')),
    selector,
    podSelector,
    podConditions: conditionsOf(podSelector),
    graceSeconds: graceSeconds < 0 ? null : graceSeconds,
    filters: {
      force,
      ignoreDaemonSets,
      deleteEmptyDirData,
      skipWaitSeconds: Number(skipWaitSeconds),
    },
    timeoutMs,
    chunkSize: Number(chunkSize),
    dryRun,
  };
};
