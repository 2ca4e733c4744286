/**
 * The size that a CapacityRequest may have, for its CRD and for its reader.
 *
 * Promises: work in the size of the object, and little of it. Every tenant may write
 * CapacityRequests, and a cluster may have an older CRD, so the reader checks the size before it
 * reads anything else.
 */
import { asList, asRecord, asText, valueAt } from '../json.ts';
import { child, type Field, find, type Problem } from './field.ts';

/** The bounds of one CapacityRequest. */
export const REQUEST_LIMITS = {
  resources: 64,
  requirements: 100,
  /** Of one requirement. */
  values: 1000,
  /** Labels of a selector. */
  labels: 100,
  spreads: 32,
  /** Of a label key: a DNS name of 253, a slash and a name of 63. Also of other texts. */
  textCharacters: 317,
  quantityCharacters: 64,
  /** Of the whole spec as JSON. */
  specCharacters: 128 * 1024,
} as const;

const FEWER = 'Split the request or shorten it';

const checkCount = (field: Field, count: number, max: number): void => {
  if (count > max) find(field, `has ${count} entries, more than ${max}`, FEWER);
};

const checkLength = (
  field: Field,
  [what, length, max]: readonly [string, number, number],
): void => {
  if (length > max) find(field, `has ${what} of ${length} characters, more than ${max}`, FEWER);
};

const checkText = (field: Field, max: number = REQUEST_LIMITS.textCharacters): void => {
  const length = asText(field.value)?.length ?? 0;
  if (length > max) find(field, `has ${length} characters, more than ${max}`, FEWER);
};

const longest = (texts: readonly unknown[]): number =>
  texts.reduce<number>((most, text) => Math.max(most, asText(text)?.length ?? 0), 0);

/** One problem for all entries: their paths would fill an Event. */
const checkMap = (field: Field, [countMax, valueMax]: readonly [number, number]): void => {
  const record = asRecord(field.value) ?? {};
  const keys = Object.keys(record);
  checkCount(field, keys.length, countMax);
  // The entries of a map of any size take longer than may be spent on one request.
  if (keys.length > countMax) return;
  checkLength(field, ['a key', longest(keys), REQUEST_LIMITS.textCharacters]);
  checkLength(field, ['a value', longest(Object.values(record)), valueMax]);
};

const listIn = (field: Field, max: number): readonly Field[] => {
  const list = asList(field.value) ?? [];
  checkCount(field, list.length, max);
  return list.slice(0, max).map((value, index) => ({
    ...field,
    path: `${field.path}[${index}]`,
    value,
  }));
};

const checkRequirements = (field: Field): void => {
  for (const requirement of listIn(field, REQUEST_LIMITS.requirements)) {
    checkText(child(requirement, 'key'));
    checkText(child(requirement, 'operator'));
    listIn(child(requirement, 'values'), REQUEST_LIMITS.values).forEach((value) =>
      checkText(value)
    );
  }
};

const checkCoLocation = (field: Field): void => {
  const selector = child(field, 'labelSelector');
  const { labels, textCharacters } = REQUEST_LIMITS;
  checkText(child(field, 'topologyKey'));
  checkMap(child(selector, 'matchLabels'), [labels, textCharacters]);
  checkRequirements(child(selector, 'matchExpressions'));
};

const checkFields = (spec: Field): void => {
  const { resources, quantityCharacters, spreads } = REQUEST_LIMITS;
  checkMap(child(spec, 'resources'), [resources, quantityCharacters]);
  checkRequirements(child(spec, 'requirements'));
  checkCoLocation(child(spec, 'coLocation'));
  for (const spread of listIn(child(spec, 'topologySpread'), spreads)) {
    checkText(child(spread, 'topologyKey'));
  }
  checkText(child(spec, 'interruptionPenalty'), quantityCharacters);
  checkText(child(spec, 'reclamationPenalty'), quantityCharacters);
};

/** True when a spec names so many resources that even its text would take too long. */
export const namesTooManyResources = (spec: unknown): boolean =>
  Object.keys(asRecord(valueAt(spec, 'resources')) ?? {}).length > REQUEST_LIMITS.resources;

/** What is too large in a spec; none when it may be read. */
export const sizeProblems = (value: unknown): readonly Problem[] => {
  const findings: Problem[] = [];
  const spec: Field = { path: 'spec', value, findings };
  checkFields(spec);
  const characters = findings.length > 0 ? 0 : (JSON.stringify(value) ?? '').length;
  const max = REQUEST_LIMITS.specCharacters;
  if (characters > max) find(spec, `has ${characters} characters, more than ${max}`, FEWER);
  return findings;
};
