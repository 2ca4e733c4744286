/**
 * Go `text/template` as values: a text becomes a template or says what is wrong, a template with
 * data becomes text or says what is wrong.
 *
 * Promises: never throws, always answers: depth, work and output have limits (`work-meter.ts`).
 * Outputs and complaints are Go's, checked against Go's own engine; what differs: nesting is
 * limited more tightly, `%p` of lists and maps has no address to show, and bytes that are no UTF-8
 * come out as U+FFFD.
 */
import { fromBytes, toBytes } from './byte-strings.ts';
import { BUILTIN_NAMES } from './builtins.ts';
import { evaluate } from './evaluation.ts';
import { RenderFailure } from './frame.ts';
import { parseTrees, type TreeSet } from './parser.ts';
import { reasonOf } from './reasons.ts';
import { ParseFailure } from './token-reader.ts';
import { fromPlain, type PlainData, type Value } from './values.ts';
import { boundedText, OUTPUT_BYTES_MAX, workMeter } from './work-meter.ts';

/** A parsed template; only `renderTemplate` looks inside. */
export interface Template {
  readonly name: string;
  readonly text: string;
  readonly trees: TreeSet;
}

/** A place in a template's text, from 1, in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is wrong, and where. */
export interface TemplateFailure extends Place {
  /** Go's words, with name, place, and what they quote of the template and its data. */
  readonly message: string;
  /** Why, without any content of the template or its data: safe to log. */
  readonly reason: string;
}

/** What becomes of a text. */
export type ParseAnswer =
  | { readonly _tag: 'Parsed'; readonly template: Template }
  | ({ readonly _tag: 'Unparseable' } & TemplateFailure);

/** What becomes of a template and its data. */
export type RenderAnswer =
  | { readonly _tag: 'Rendered'; readonly text: string }
  | ({ readonly _tag: 'RenderFailed' } & TemplateFailure);

/** The error message when the runtime's own stack ends before our limits apply. */
const STACK_EXHAUSTED = 'exceeded maximum template depth (stack exhausted)';

const placeOf = (text: string, position: number): Place => {
  const lines = text.slice(0, position).split('\n');
  return { line: lines.length, column: fromBytes(lines.at(-1) ?? '').length + 1 };
};

/**
 * Reads `text` as a template that messages call `name`.
 *
 * @example
 * const answer = parseTemplate('bootstrap', 'cluster: {{.ClusterID}}');
 */
export const parseTemplate = (name: string, text: string): ParseAnswer => {
  const bytes = toBytes(text);
  const nameBytes = toBytes(name);
  try {
    const trees = parseTrees(nameBytes, bytes, BUILTIN_NAMES);
    return { _tag: 'Parsed', template: { name: nameBytes, text: bytes, trees } };
  } catch (problem) {
    if (problem instanceof RangeError) {
      return {
        _tag: 'Unparseable',
        line: 1,
        column: 1,
        message: `template: ${name}:1: ${STACK_EXHAUSTED}`,
        reason: STACK_EXHAUSTED,
      };
    }
    if (!(problem instanceof ParseFailure)) throw problem;
    const { column } = placeOf(bytes, problem.position);
    return {
      _tag: 'Unparseable',
      line: problem.line,
      column,
      message: fromBytes(problem.message),
      reason: reasonOf(problem.detail),
    };
  }
};

/** Renders over a value that was made by hand, such as a struct. */
export const renderValue = (template: Template, value: Value): RenderAnswer => {
  const { name, text, trees } = template;
  const root = trees.get(name);
  const meter = workMeter();
  const out = boundedText(meter, OUTPUT_BYTES_MAX, 'output length');
  try {
    if (root !== undefined) evaluate({ name, text, trees, out, meter }, root, value);
    return { _tag: 'Rendered', text: fromBytes(out.text()) };
  } catch (problem) {
    if (problem instanceof RangeError) {
      return {
        _tag: 'RenderFailed',
        line: 1,
        column: 1,
        message: `template: ${name}: ${STACK_EXHAUSTED}`,
        reason: STACK_EXHAUSTED,
      };
    }
    if (!(problem instanceof RenderFailure)) throw problem;
    return {
      _tag: 'RenderFailed',
      ...placeOf(text, problem.position),
      message: fromBytes(problem.message),
      reason: reasonOf(problem.detail),
    };
  }
};

/** Renders over plain data. */
export const renderTemplate = (template: Template, data: PlainData): RenderAnswer =>
  renderValue(template, fromPlain(data));
