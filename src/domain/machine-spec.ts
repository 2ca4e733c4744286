/**
 * The spec of an UpcomingNode as canonical text, so that equal specs are equal strings: cheap to
 * keep, share and compare.
 */
import { REQUEST_LIMITS } from './demand/request-limits.ts';
import type { MachineObservation } from './frames.ts';
import { type JsonRecord, listOrEmptyAt, recordAt, textAt, textRecordOrEmptyAt } from './json.ts';
import { parseQuantity } from './quantity.ts';
import type { Taint } from './resources.ts';
import { cutText, quoted } from './text.ts';

/**
 * JSON of `labels`, `resources` and `taints` with sorted keys; empty labels and taints omitted.
 */
export type SpecText = string;

const sorted = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const names = Object.keys(record);
  // As the API server returns them.
  if (names.every((name, at) => (names[at - 1] ?? '') <= name)) return record;
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
};

const plainTaint = ({ key, value, effect }: Taint): Taint =>
  value === undefined || value === '' ? { effect, key } : { effect, key, value };

/** The canonical spec of a reported machine. */
export const specText = (
  { labels, resources, taints }: Pick<MachineObservation, 'labels' | 'resources' | 'taints'>,
): SpecText =>
  JSON.stringify({
    labels: Object.keys(labels).length === 0 ? undefined : sorted(labels),
    resources: sorted(resources),
    taints: taints.length === 0 ? undefined : taints.map(plainTaint),
  });

/** The maximum length of the text about malformed fields; an Event has 1024 bytes. */
const LEFT_OUT_CHARS_MAX = 800;

/** A frame without the fields that the API server would reject the whole object for. */
export interface WellFormed {
  readonly machine: MachineObservation;
  /** What was left out, and why; empty when nothing was. */
  readonly leftOut: string;
}

/** The problem with the text of a quantity; its CRD allows fewer characters than its reader. */
const textProblem = (text: string): string | undefined => {
  const max = REQUEST_LIMITS.quantityCharacters;
  if (text.length > max) return `is longer than ${max} characters`;
  const reading = parseQuantity(text);
  return reading._tag === 'Quantity' ? undefined : reading.problem;
};

/** The problem with a quantity; `undefined` when it is valid. */
const quantityProblem = (name: string, text: string): string | undefined => {
  const problem = textProblem(text);
  return problem && `the quantity of ${quoted(name)}, ${quoted(text)}, ${problem}`;
};

/** The problem with a taint; `undefined` when it is valid. */
const taintProblem = ({ key, effect }: Taint): string | undefined => {
  if (key === '') return 'a taint has no key';
  return effect === '' ? `the taint ${quoted(key)} has no effect` : undefined;
};

/** Leaves out malformed quantities and taints. */
export const wellFormed = (machine: MachineObservation): WellFormed => {
  const quantityProblems = Object.entries(machine.resources)
    .flatMap(([name, text]) => quantityProblem(name, text) ?? []);
  const problems = [
    ...quantityProblems,
    ...machine.taints.flatMap((taint) => taintProblem(taint) ?? []),
  ];
  if (problems.length === 0) return { machine, leftOut: '' };
  return {
    machine: {
      ...machine,
      resources: Object.fromEntries(
        Object.entries(machine.resources)
          .filter(([name, text]) => quantityProblem(name, text) === undefined),
      ),
      taints: machine.taints.filter((taint) => taintProblem(taint) === undefined),
    },
    leftOut: cutText(problems.join('; '), LEFT_OUT_CHARS_MAX, '…'),
  };
};

/** Quantities may be numbers in an object from another client. */
const quantities = (record: JsonRecord): Readonly<Record<string, string>> => {
  const texts: [string, string][] = [];
  for (const [name, value] of Object.entries(record)) {
    if (typeof value === 'string' || typeof value === 'number') texts.push([name, String(value)]);
  }
  return Object.fromEntries(texts);
};

/** The canonical spec of an object as the API server returns it. Total. */
export const specOf = (spec: unknown): SpecText =>
  specText({
    labels: textRecordOrEmptyAt(spec, 'labels'),
    resources: quantities(recordAt(spec, 'resources') ?? {}),
    taints: listOrEmptyAt(spec, 'taints').map((taint) => ({
      key: textAt(taint, 'key') ?? '',
      value: textAt(taint, 'value') ?? '',
      effect: textAt(taint, 'effect') ?? '',
    })),
  });
