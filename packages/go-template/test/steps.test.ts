/**
 * How many steps a rendering makes before the limit of work ends it. Cause: a step cost as much of
 * the limit as a byte, and takes ten times as long, so that a template that counts to a million
 * held up the process for 300 ms. How long steps take, `npm run fuzz` measures.
 */
import { describe, expect, it } from 'vitest';
import { evaluate } from '../src/evaluation.ts';
import { parseTemplate } from '../src/template.ts';
import { fromPlain } from '../src/values.ts';
import { boundedText, OUTPUT_BYTES_MAX, workMeter } from '../src/work-meter.ts';

/** How often the meter is charged until it refuses. */
const stepsOf = (text: string): number => {
  const parsed = parseTemplate('t', text);
  if (parsed._tag === 'Unparseable') throw new Error(parsed.message);
  const { name, trees } = parsed.template;
  const root = trees.get(name);
  if (root === undefined) throw new Error('The template is empty');
  const { charge } = workMeter();
  let steps = 0;
  const meter = {
    charge: (units: number) => {
      steps += 1;
      charge(units);
    },
  };
  const out = boundedText(meter, OUTPUT_BYTES_MAX, 'output length');
  expect(() => evaluate({ ...parsed.template, out, meter }, root, fromPlain({ s: 'x' })))
    .toThrow('exceeded maximum work');
  return steps;
};

describe('a template', () => {
  it.each([
    ['counts', 285_714, '{{range 1000000}}x{{end}}'],
    ['counts and says nothing', 200_001, '{{range 1000000}}{{end}}'],
    [
      'calls itself',
      200_001,
      '{{define "a"}}{{range 99}}{{template "b" .}}{{end}}{{end}}' +
      '{{define "b"}}{{range 9999}}{{end}}{{end}}{{range 999}}{{template "a"}}{{end}}',
    ],
    ['calculates', 53_833, '{{range 1000000}}{{if and (lt . 7) (eq . 3) (not .)}}{{end}}{{end}}'],
    ['prints numbers', 92_589, '{{range 1000000}}{{printf "%08.3f %q %x" 1.5 "ab" "cd"}}{{end}}'],
    ['builds long strings', 23, '{{range 99999}}{{$x := printf "%900000d" 1}}{{end}}'],
    [
      'escapes',
      60,
      '{{$x := printf "%100000d" 1}}{{range 99}}{{$x | html | js | urlquery}}{{end}}',
    ],
    ['declares', 200_001, '{{range 1000000}}{{$a := .}}{{$b := $a}}{{$a = $b}}{{end}}'],
    ['compares', 68, '{{$a := printf "%900000d" 1}}{{range 99999}}{{if eq $a $a}}{{end}}{{end}}'],
  ])('that %s without end is ended after %i steps', (_, steps, text) => {
    expect(stepsOf(text)).toBe(steps);
  });
});
