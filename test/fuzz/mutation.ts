/**
 * What a mutation works with, and the mutation of any text.
 *
 * Promises: the same draws give the same text; a result has at most `CHARACTERS_MAX` characters.
 */
import { type Draw, drawBelow, drawOne } from '../support/draws.ts';

/** More than any object of the API server, or frame of the shard, may have. */
export const CHARACTERS_MAX = 1_600_000;

/** Inputs of a mutation. */
export interface Mutation {
  readonly draw: Draw;
  /** Another input, of which parts may be taken. */
  readonly other: string;
  /** Texts that mean something to the reader. */
  readonly words: readonly string[];
}

/** Turns one input into another. */
export type Mutate = (input: string, mutation: Mutation) => string;

/** Texts with which readers of any kind have trouble. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\n',
  '\u0000',
  '\u{1f600}',
  'e\u0301',
  '\ud800',
  '\u202e',
  '__proto__',
  'constructor',
  'toString',
  'length',
  'a/b',
  'a.b',
  '-',
  '0',
  '-1',
  '1e999999999',
  '9'.repeat(64),
  '9'.repeat(65),
  '2147483648',
  '9223372036854775808',
  'NaN',
  'null',
  '1.5Gi',
  '1n',
  '2026-11-23T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
];

/** Numbers of repetitions: few, and those around the bounds of the readers. */
const TIMES: readonly number[] = [2, 2, 2, 3, 3, 5, 16, 17, 32, 33, 64, 65, 100, 101, 317, 318];
const MANY_TIMES: readonly number[] = [1000, 1001, 4096, 32 * 1024, 32 * 1024 + 1, 100_000];
/** Of so many repetitions one is of many. */
const MANY_SHARE = 0.01;

/** How often something is repeated. */
export const drawTimes = (draw: Draw): number =>
  drawOne(draw, draw() < MANY_SHARE ? MANY_TIMES : TIMES) ?? 1;

/** `text` so many times, within the bound. */
export const repeatedText = (text: string, times: number): string =>
  text.repeat(Math.min(times, Math.floor(CHARACTERS_MAX / Math.max(1, text.length))));

const drawSpan = (text: string, draw: Draw): readonly [from: number, to: number] => {
  const from = drawBelow(draw, text.length + 1);
  const length = draw() < 0.8 ? drawBelow(draw, 8) : drawBelow(draw, text.length + 1);
  return [from, Math.min(text.length, from + length)];
};

const drawText = ({ draw, words }: Mutation): string =>
  drawOne(draw, draw() < 0.7 && words.length > 0 ? words : ODD_TEXTS) ?? '';

const EDITS: readonly Mutate[] = [
  // Something is put in.
  (text, mutation) => {
    const at = drawBelow(mutation.draw, text.length + 1);
    return text.slice(0, at) + drawText(mutation) + text.slice(at);
  },
  // Something takes the place of something.
  (text, mutation) => {
    const [from, to] = drawSpan(text, mutation.draw);
    return text.slice(0, from) + drawText(mutation) + text.slice(to);
  },
  // Something is left out.
  (text, { draw }) => {
    const [from, to] = drawSpan(text, draw);
    return text.slice(0, from) + text.slice(to);
  },
  // Something is repeated.
  (text, { draw }) => {
    const [from, to] = drawSpan(text, draw);
    return text.slice(0, from) + repeatedText(text.slice(from, to), drawTimes(draw)) +
      text.slice(to);
  },
  // A character is another.
  (text, { draw }) => {
    const at = drawBelow(draw, text.length);
    return text.slice(0, at) + String.fromCharCode(drawBelow(draw, 256)) + text.slice(at + 1);
  },
  // The end is that of another input.
  (text, { draw, other }) =>
    text.slice(0, drawBelow(draw, text.length + 1)) +
    other.slice(drawBelow(draw, other.length + 1)),
];

/** Edits a text; a result that would be too long is the text itself. */
export const mutateText: Mutate = (text, mutation) => {
  const edit = drawOne(mutation.draw, EDITS);
  const edited = edit?.(text, mutation) ?? text;
  return edited.length > CHARACTERS_MAX ? text : edited;
};
