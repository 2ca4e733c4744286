/** The requests of `tidegate maintenance` as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import { STAGES } from '../../domain/node-maintenance/stage.ts';
import { POD_TYPES } from '../../domain/node-maintenance/typed-pods.ts';
import { DRY_RUNS } from '../drain/drain-request.ts';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
  switchFlag,
} from '../cluster-flags.ts';
import type { ChosenCluster } from '../cluster-question.ts';

/** Formats of `maintenance list` and `maintenance status`. */
export const MAINTENANCE_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

/** Formats of the verbs that change a maintenance. */
export const CHANGE_FORMATS = ['text', 'name', 'json', 'yaml'] as const;
export type ChangeFormat = (typeof CHANGE_FORMATS)[number];

/** Verbs that move a maintenance to the stage of their name. */
export const STAGE_VERBS = { cordon: 'Cordon', drain: 'Drain', complete: 'Complete' } as const;
export type StageVerb = keyof typeof STAGE_VERBS;

/** A request to show maintenances, not yet validated. */
export interface MaintenanceShowRequest extends ChosenCluster {
  /** Undefined: all of them. */
  readonly name: string | undefined;
  readonly format: string;
  readonly watch: boolean;
}

/** What all verbs that change a maintenance have, not yet validated. */
interface MaintenanceChange extends ChosenCluster {
  readonly name: string;
  readonly format: string;
  readonly dryRun: string;
  readonly wait: boolean;
  /** A Go duration. */
  readonly timeout: string | undefined;
}

/** A request to move a maintenance to another stage, not yet validated. */
export interface MaintenanceMoveRequest extends MaintenanceChange {
  readonly verb: StageVerb;
}

/** A request to create a maintenance, not yet validated. */
export interface MaintenanceStartRequest extends MaintenanceChange {
  /** Names, separated by commas. */
  readonly nodes: string | undefined;
  /** A label selector of Nodes, in the syntax of kubectl. */
  readonly selector: string | undefined;
  readonly stage: string;
  readonly reason: string | undefined;
  /** A number or a percentage. */
  readonly maxNodesAtOnce: string | undefined;
  /** Separated by commas. */
  readonly podTypes: string | undefined;
}

const CHANGE_FLAGS = {
  dryRun: optionalText(
    'dry-run',
    DRY_RUNS.join('|'),
    'server: the API server checks it and stores nothing (default none)',
  ),
  wait: switchFlag('wait', 'Wait until the work of the stage is done, and print the progress'),
  timeout: optionalText('timeout', 'DURATION', 'How long to wait (default without end)'),
  output: optionalText('output', CHANGE_FORMATS.join('|'), 'Format of the answer (default text)')
    .pipe(Flag.withAlias('o')),
  ...CLUSTER_FLAGS,
};

/** Flags of `maintenance cordon`, `drain` and `complete`. */
export const MOVE_FLAGS = CHANGE_FLAGS;

/** Flags of `maintenance start`. */
export const START_FLAGS = {
  nodes: optionalText('nodes', 'NODE,…', 'Names of the nodes, separated by commas'),
  selector: optionalText('selector', 'SELECTOR', 'Label selector of the nodes, as in kubectl')
    .pipe(Flag.withAlias('l')),
  stage: optionalText('stage', STAGES.join('|'), 'First stage (default Idle)'),
  reason: optionalText('reason', 'TEXT', 'Reason, for people'),
  maxNodesAtOnce: optionalText(
    'max-nodes-at-once',
    'NUMBER|PERCENT',
    'How many nodes are cordoned and drained at once (default all)',
  ),
  podTypes: optionalText(
    'pod-types',
    'TYPE,…',
    `Types of pods that leave, of ${POD_TYPES.join(', ')} (default all)`,
  ),
  ...CHANGE_FLAGS,
};

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

/** The parsed command line of `maintenance list` and `maintenance status`. */
export const maintenanceShowRequest = (
  parsed: ParsedCluster & {
    readonly name?: string;
    readonly output: Option.Option<string>;
    readonly watch: boolean;
  },
): MaintenanceShowRequest => ({
  ...chosenCluster(parsed),
  name: parsed.name,
  format: Option.getOrElse(parsed.output, () => 'table'),
  watch: parsed.watch,
});

interface ParsedChange extends ParsedCluster {
  readonly name: string;
  readonly dryRun: Option.Option<string>;
  readonly wait: boolean;
  readonly timeout: Option.Option<string>;
  readonly output: Option.Option<string>;
}

const changeOf = (parsed: ParsedChange): MaintenanceChange => ({
  ...chosenCluster(parsed),
  name: parsed.name,
  format: Option.getOrElse(parsed.output, () => 'text'),
  dryRun: Option.getOrElse(parsed.dryRun, () => 'none'),
  wait: parsed.wait,
  timeout: Option.getOrUndefined(parsed.timeout),
});

/** The parsed command line of `maintenance cordon`, `drain` and `complete`. */
export const maintenanceMoveRequest = (
  verb: StageVerb,
  parsed: ParsedChange,
): MaintenanceMoveRequest => ({ ...changeOf(parsed), verb });

/** The parsed command line of `maintenance start`. */
export const maintenanceStartRequest = (
  parsed: ParsedChange & {
    readonly nodes: Option.Option<string>;
    readonly selector: Option.Option<string>;
    readonly stage: Option.Option<string>;
    readonly reason: Option.Option<string>;
    readonly maxNodesAtOnce: Option.Option<string>;
    readonly podTypes: Option.Option<string>;
  },
): MaintenanceStartRequest => ({
  ...changeOf(parsed),
  nodes: Option.getOrUndefined(parsed.nodes),
  selector: Option.getOrUndefined(parsed.selector),
  stage: Option.getOrElse(parsed.stage, () => 'Idle'),
  reason: Option.getOrUndefined(parsed.reason),
  maxNodesAtOnce: Option.getOrUndefined(parsed.maxNodesAtOnce),
  podTypes: Option.getOrUndefined(parsed.podTypes),
});
