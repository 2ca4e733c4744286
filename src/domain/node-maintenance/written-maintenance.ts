/**
 * A NodeMaintenance that a person wrote into a file: what the API server would refuse.
 *
 * Promises: the first problem only, with its field and what to write instead; accepts whatever the
 * schema of `src/api/node-maintenance.ts` accepts.
 */
import { LIFECYCLE_GROUP_VERSION } from '../api-group.ts';
import {
  asList,
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../json.ts';
import { labelSelectorOf } from '../label-selector.ts';
import { cutText, quoted } from '../text.ts';
import { planEntriesOf, rankOf } from './drain-plan.ts';
import { nodeSelectorOf } from './node-selector.ts';
import { RELEASES } from './observed-maintenance.ts';
import { STAGES } from './stage.ts';
import { POD_TYPES } from './typed-pods.ts';

/** Why an object is refused. */
export interface WrittenProblem {
  /** Such as `spec.stage`. */
  readonly field: string;
  readonly problem: string;
  readonly remedy: string;
}

/** Whether the value has the kind and the version of a NodeMaintenance. */
export const isMaintenance = (raw: unknown): raw is JsonRecord =>
  textAt(raw, 'kind') === 'NodeMaintenance' &&
  textAt(raw, 'apiVersion') === LIFECYCLE_GROUP_VERSION;

const FIELDS = [
  'nodeSelector',
  'stage',
  'drainPlan',
  'podTypes',
  'podSelector',
  'gracePeriodSeconds',
  'reason',
  'maxNodesAtOnce',
  'topologyKey',
  'releaseWhen',
  'window',
];

/** The longest value in a message. */
const VALUE_CHARACTERS = 80;

const oneOf = (words: readonly string[]): string => `write one of ${words.join(', ')}`;

const valueText = (value: unknown): string =>
  typeof value === 'string'
    ? quoted(value)
    : cutText(JSON.stringify(value) ?? '', VALUE_CHARACTERS, '…');

const problemOf = (field: string, problem: string, remedy: string): WrittenProblem => ({
  field: `spec.${field}`,
  problem,
  remedy,
});

const unknownField = (spec: JsonRecord): WrittenProblem | undefined => {
  const unknown = Object.keys(spec).find((field) => !FIELDS.includes(field));
  return unknown === undefined
    ? undefined
    : problemOf(unknown, 'it is no field of a NodeMaintenance', oneOf(FIELDS));
};

const wrongWord = (
  spec: JsonRecord,
  field: string,
  words: readonly string[],
): WrittenProblem | undefined => {
  const value = valueAt(spec, field);
  if (value === undefined || words.some((word) => word === value)) return undefined;
  return problemOf(field, `${valueText(value)} is unknown`, oneOf(words));
};

const selectorProblem = (spec: JsonRecord): WrittenProblem | undefined => {
  const example = 'write nodeSelectorTerms, as in a PersistentVolume, that select the nodes';
  const selector = recordAt(spec, 'nodeSelector');
  if (selector === undefined) return problemOf('nodeSelector', 'it is required', example);
  const terms = listOrEmptyAt(selector, 'nodeSelectorTerms');
  if (terms.length === 0) {
    return problemOf('nodeSelector', 'without terms it selects nothing', example);
  }
  const wrong = terms.findIndex((term) =>
    nodeSelectorOf({ nodeSelectorTerms: [term] }).length === 0
  );
  return wrong < 0 ? undefined : problemOf(
    `nodeSelector.nodeSelectorTerms[${wrong}]`,
    'it has an invalid condition, or none',
    'write matchExpressions of key, operator and values, or matchFields of metadata.name',
  );
};

const PERCENT = /^([1-9][0-9]?|100)%$/u;

const countProblem = (spec: JsonRecord): WrittenProblem | undefined => {
  const value = valueAt(spec, 'maxNodesAtOnce');
  if (value === undefined) {
    return valueAt(spec, 'topologyKey') === undefined ? undefined : problemOf(
      'topologyKey',
      'it needs maxNodesAtOnce',
      'add maxNodesAtOnce, which then holds for each value of the label',
    );
  }
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 1;
  if (isCount || (typeof value === 'string' && PERCENT.test(value))) return undefined;
  const remedy = 'write a number from 1, or a percentage such as 25%';
  return problemOf('maxNodesAtOnce', `${valueText(value)} is no count`, remedy);
};

const planProblem = (spec: JsonRecord): WrittenProblem | undefined => {
  const written = valueAt(spec, 'drainPlan');
  if (written === undefined) return undefined;
  const entries = asList(written) ?? [written];
  const wrong = entries.findIndex((entry) =>
    planEntriesOf([entry]).length === 0 || !Number.isInteger(numberAt(entry, 'podPriority'))
  );
  if (wrong >= 0) {
    return problemOf(
      `drainPlan[${wrong}]`,
      'it is no entry of a plan',
      `write podPriority, and if need be podType (${POD_TYPES.join(', ')}) and podSelector`,
    );
  }
  const ranks = planEntriesOf(entries).map(rankOf);
  const late = ranks.findIndex((rank, index) => rank < (ranks[index - 1] ?? rank));
  return late < 0 ? undefined : problemOf(
    `drainPlan[${late}]`,
    'it comes after an entry that follows it',
    'order entries by podType (Default, DaemonSet, Static), then by podPriority, then those with ' +
      'a podSelector first',
  );
};

const typesProblem = (spec: JsonRecord): WrittenProblem | undefined => {
  const written = valueAt(spec, 'podTypes');
  if (written === undefined) return undefined;
  const types = asList(written) ?? [];
  const areKnown = types.length > 0 && types.every((type) => POD_TYPES.some((one) => one === type));
  return areKnown
    ? undefined
    : problemOf('podTypes', `${valueText(written)} is no list of types`, oneOf(POD_TYPES));
};

const podSelectorProblem = (spec: JsonRecord): WrittenProblem | undefined => {
  const written = valueAt(spec, 'podSelector');
  if (written === undefined) return undefined;
  return (labelSelectorOf(asRecord(written)) ?? []).length > 0 ? undefined : problemOf(
    'podSelector',
    'it has an invalid condition, or none',
    'write matchLabels, or matchExpressions of key, operator and values; leave it out for all pods',
  );
};

const graceProblem = (spec: JsonRecord): WrittenProblem | undefined => {
  const written = valueAt(spec, 'gracePeriodSeconds');
  if (written === undefined) return undefined;
  const isGrace = typeof written === 'number' && Number.isInteger(written) && written >= 1;
  return isGrace ? undefined : problemOf(
    'gracePeriodSeconds',
    `${valueText(written)} is no grace`,
    'write seconds from 1, such as 30; leave it out for the grace of each pod',
  );
};

/** What the API server would refuse; undefined when nothing is known to. */
export const writtenProblem = (raw: JsonRecord): WrittenProblem | undefined => {
  if ((textAt(raw, 'metadata', 'name') ?? '') === '') {
    return { field: 'metadata.name', problem: 'it is required', remedy: 'name the maintenance' };
  }
  const spec = asRecord(valueAt(raw, 'spec')) ?? {};
  return unknownField(spec) ?? selectorProblem(spec) ?? wrongWord(spec, 'stage', STAGES) ??
    wrongWord(spec, 'releaseWhen', RELEASES) ?? countProblem(spec) ?? planProblem(spec) ??
    typesProblem(spec) ?? podSelectorProblem(spec) ?? graceProblem(spec);
};
