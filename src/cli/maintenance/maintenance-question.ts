/** Validates the requests of `tidegate maintenance start`, `cordon`, `drain` and `complete`. */
import { goDurationMs } from '../../domain/go-duration.ts';
import { NODE_MAINTENANCE_LIMITS } from '../../domain/node-maintenance/maintenance-limits.ts';
import { NAME_FIELD } from '../../domain/node-maintenance/node-selector.ts';
import { type Stage, STAGES } from '../../domain/node-maintenance/stage.ts';
import { POD_TYPES, type PodType } from '../../domain/node-maintenance/typed-pods.ts';
import { readSelector } from '../../domain/pod-demand/label-selector-text.ts';
import { quoted } from '../../domain/text.ts';
import { DRY_RUNS } from '../drain/drain-request.ts';
import { unknownWord, workedNodesProblem } from '../failures.ts';
import {
  CHANGE_FORMATS,
  type ChangeFormat,
  type MaintenanceMoveRequest,
  type MaintenanceStartRequest,
} from './maintenance-request.ts';

/** What is valid of every change. */
export interface ChangeQuestion {
  readonly name: string;
  readonly format: ChangeFormat;
  readonly isTrial: boolean;
  /** Undefined: without end. */
  readonly timeoutMs: number | undefined;
}

/** A valid request for a new maintenance: its spec. */
export interface StartQuestion extends ChangeQuestion {
  readonly spec: object;
  readonly stage: Stage;
}

type Change = Pick<MaintenanceMoveRequest, 'name' | 'format' | 'dryRun' | 'wait' | 'timeout'>;

/** A DNS subdomain, as names of objects are. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/u;

/** The length that is waited, or one line about its problem. */
export const timeoutOf = (timeout: string | undefined): number | undefined | string => {
  if (timeout === undefined) return undefined;
  const ms = goDurationMs(timeout);
  return ms === undefined || ms <= 0
    ? `Cannot use --timeout ${quoted(timeout)}: it is not a duration; write a number with its ` +
      'unit, such as 10m'
    : ms;
};

/** The common part, or one line about its problem. */
export const changeQuestion = (request: Change): ChangeQuestion | string => {
  const { name, dryRun, wait, timeout } = request;
  const format = CHANGE_FORMATS.find((candidate) => candidate === request.format);
  if (format === undefined) return unknownWord('--output', request.format, CHANGE_FORMATS);
  const knownDryRun = DRY_RUNS.find((candidate) => candidate === dryRun);
  if (knownDryRun === undefined) return unknownWord('--dry-run', dryRun, DRY_RUNS);
  if (!NAME.test(name)) {
    return `Cannot use <name> ${quoted(name)}: it is not the name of a NodeMaintenance; write ` +
      'lower-case letters, digits, "-" and "."';
  }
  const isTrial = knownDryRun === 'server';
  if (wait && isTrial) return 'Cannot use --wait with --dry-run: write one or the other';
  if (timeout !== undefined && !wait) return 'Cannot use --timeout without --wait: add --wait';
  const timeoutMs = timeoutOf(timeout);
  if (typeof timeoutMs === 'string') return timeoutMs;
  return { name, format, isTrial, timeoutMs };
};

const LIMITS = NODE_MAINTENANCE_LIMITS;

/** A node selector of these names: one term for each, because a field has one value. */
export const namedNodes = (names: readonly string[]): object => ({
  nodeSelectorTerms: names.map((name) => ({
    matchFields: [{ key: NAME_FIELD, operator: 'In', values: [name] }],
  })),
});

const labelledNodes = (selector: string): object | string => {
  const problem = workedNodesProblem(selector);
  if (problem !== undefined) return problem;
  const reading = readSelector(selector);
  const conditions = reading._tag === 'Selector' ? reading.conditions : [];
  return {
    nodeSelectorTerms: [{
      matchExpressions: conditions.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values.length === 0 ? {} : { values }),
      })),
    }],
  };
};

const wordsOf = (text: string): readonly string[] =>
  text.split(',').map((word) => word.trim()).filter((word) => word !== '');

const nodeSelectorOf = (
  { nodes, selector }: Pick<MaintenanceStartRequest, 'nodes' | 'selector'>,
): object | string => {
  if (nodes !== undefined && selector !== undefined) {
    return 'Cannot use --selector with --nodes: write one or the other';
  }
  if (selector !== undefined) return labelledNodes(selector);
  const names = [...new Set(wordsOf(nodes ?? ''))];
  if (names.length === 0) return 'Cannot start without nodes: write --nodes or --selector';
  return names.length > LIMITS.selectorTerms
    ? `Cannot use --nodes with ${names.length} names: a NodeMaintenance has at most ` +
      `${LIMITS.selectorTerms}; label the nodes and write --selector`
    : namedNodes(names);
};

const COUNT = /^([1-9]\d{0,8}|([1-9]\d?|100)%)$/u;

const countOf = (text: string): number | string => text.endsWith('%') ? text : Number(text);

const podTypesOf = (text: string): readonly PodType[] | string => {
  const words = wordsOf(text);
  const unknown = words.find((word) => !POD_TYPES.some((type) => type === word));
  if (unknown !== undefined || words.length === 0) {
    return unknownWord('--pod-types', unknown ?? text, POD_TYPES);
  }
  return POD_TYPES.filter((type) => words.includes(type));
};

/** The spec, or one line about its problem. */
const specOf = (request: MaintenanceStartRequest, stage: Stage): object | string => {
  const { reason, maxNodesAtOnce: count } = request;
  const nodeSelector = nodeSelectorOf(request);
  if (typeof nodeSelector === 'string') return nodeSelector;
  const podTypes = request.podTypes === undefined ? undefined : podTypesOf(request.podTypes);
  if (typeof podTypes === 'string') return podTypes;
  if (count !== undefined && !COUNT.test(count)) {
    return `Cannot use --max-nodes-at-once ${quoted(count)}: it is neither a number of nodes nor ` +
      'a percentage; write a whole number above 0 such as 2, or a percentage such as 10%';
  }
  if ((reason ?? '').length > LIMITS.reasonCharacters) {
    return `Cannot use --reason: it has more than ${LIMITS.reasonCharacters} characters; ` +
      'shorten it';
  }
  return {
    nodeSelector,
    stage,
    ...(reason === undefined ? {} : { reason }),
    ...(count === undefined ? {} : { maxNodesAtOnce: countOf(count) }),
    ...(podTypes === undefined ? {} : { podTypes }),
  };
};

/** The request, or one line about its problem. */
export const startQuestion = (request: MaintenanceStartRequest): StartQuestion | string => {
  const common = changeQuestion(request);
  if (typeof common === 'string') return common;
  const stage = STAGES.find((candidate) => candidate === request.stage);
  if (stage === undefined) return unknownWord('--stage', request.stage, STAGES);
  const spec = specOf(request, stage);
  return typeof spec === 'string' ? spec : { ...common, spec, stage };
};
