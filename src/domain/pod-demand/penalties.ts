/**
 * The cost in dollars to the owner of a pod when it is interrupted and when its machine is
 * reclaimed.
 *
 * Promises: the pod's annotation, else the default of its PriorityClass, else nothing; each penalty
 * is independent of the other and of the priority (POD-02). An invalid amount is reported and
 * ignored.
 */
import { API_GROUP } from '../api-group.ts';
import { type Field, find } from '../demand/field.ts';
import { asRecord, type JsonRecord, textAt } from '../json.ts';
import { canonicalQuantity, parseQuantity } from '../quantity.ts';
import { quoted } from '../text.ts';

/** The two penalties; an absent one differs from $0. */
export interface Penalties {
  readonly interruptionPenalty?: string;
  readonly reclamationPenalty?: string;
}

/** Penalties by PriorityClass. */
export type PenaltyDefaults = ReadonlyMap<string, Penalties>;

/** Without a file. */
export const NO_DEFAULTS: PenaltyDefaults = new Map();

const ANNOTATIONS = {
  interruptionPenalty: `${API_GROUP}/interruption-penalty`,
  reclamationPenalty: `${API_GROUP}/reclamation-penalty`,
} as const;
type PenaltyName = keyof typeof ANNOTATIONS;
const NAMES: readonly PenaltyName[] = ['interruptionPenalty', 'reclamationPenalty'];

const REMEDY = 'Give dollars as a quantity such as "16" or "500m"';

/** The canonical amount, or the problem of the text. */
const dollarsOf = (
  text: string,
): { readonly amount: string } | { readonly problem: string } => {
  const reading = parseQuantity(text);
  if (reading._tag === 'Malformed') {
    return { problem: `is ${quoted(text)}, which ${reading.problem}` };
  }
  return reading.quantity.nanos < 0n
    ? { problem: `is ${quoted(text)}, which is negative` }
    : { amount: canonicalQuantity(reading.quantity) };
};

/** The penalties in the annotations of a pod. */
export const annotatedPenalties = (pod: unknown, findings: Field['findings']): Penalties => {
  const given: [PenaltyName, string][] = [];
  for (const name of NAMES) {
    const text = textAt(pod, 'metadata', 'annotations', ANNOTATIONS[name]);
    if (text === undefined) continue;
    const dollars = dollarsOf(text);
    if ('amount' in dollars) given.push([name, dollars.amount]);
    else {
      const path = `metadata.annotations[${quoted(ANNOTATIONS[name])}]`;
      find({ path, value: text, findings }, dollars.problem, REMEDY);
    }
  }
  return Object.fromEntries(given);
};

/** The penalties of a pod: from its annotations, and otherwise from its class. */
export const resolvedPenalties = (
  annotated: Penalties,
  priorityClass: string,
  defaults: PenaltyDefaults,
): Penalties => ({ ...defaults.get(priorityClass), ...annotated });

/**
 * The result of reading a defaults file. A problem has the path of its entry, and no content: the
 * file may be the wrong one, and secret.
 */
export type DefaultsReading<Value = PenaltyDefaults> =
  | { readonly _tag: 'Good'; readonly value: Value }
  | { readonly _tag: 'Bad'; readonly path: readonly string[]; readonly problem: string };

const bad = (path: readonly string[], problem: string): DefaultsReading<never> => ({
  _tag: 'Bad',
  path,
  problem,
});

const classIn = (name: string, raw: JsonRecord): DefaultsReading<Penalties> => {
  const given: [string, string][] = [];
  for (const [field, value] of Object.entries(raw)) {
    if (NAMES.every((known) => known !== field)) {
      return bad([name, field], `this penalty is unknown: use ${NAMES.join(' or ')}`);
    }
    if (value === null) continue;
    const dollars = dollarsOf(
      typeof value === 'string' || typeof value === 'number' ? String(value) : '',
    );
    if ('problem' in dollars) {
      return bad([name, field], `this is not an amount of zero or more. ${REMEDY}`);
    }
    given.push([field, dollars.amount]);
  }
  return { _tag: 'Good', value: Object.fromEntries(given) };
};

/**
 * Reads a parsed defaults file: PriorityClass → penalties (POD-05). All or nothing: half a file
 * would price half of the pods.
 */
export const parsePenaltyDefaults = (content: unknown): DefaultsReading => {
  const empty = content === null || content === undefined;
  const classes = empty ? {} : asRecord(content);
  if (classes === undefined) {
    return bad([], 'this is not a map of PriorityClasses to penalties');
  }
  const defaults = new Map<string, Penalties>();
  for (const [name, raw] of Object.entries(classes)) {
    const penalties = asRecord(raw ?? {});
    if (penalties === undefined) {
      return bad([name], 'this is not a map of penalties');
    }
    const parsed = classIn(name, penalties);
    if (parsed._tag === 'Bad') return parsed;
    defaults.set(name, parsed.value);
  }
  return { _tag: 'Good', value: defaults };
};
