/** What no template can do: run for ever, fill the memory, or exhaust the stack. */
import { describe, expect, it } from 'vitest';
import { parseTemplate, renderTemplate } from '../src/template.ts';
import {
  EVALUATION_DEPTH_MAX,
  NESTING_DEPTH_MAX,
  OUTPUT_BYTES_MAX,
  STRING_BYTES_MAX,
  WORK_UNITS_MAX,
} from '../src/work-meter.ts';

const answer = (text: string) => {
  const parsed = parseTemplate('t', text);
  return parsed._tag === 'Parsed' ? renderTemplate(parsed.template, { s: 'x' }) : parsed;
};

describe('a template', () => {
  it.each([
    ['counts to a trillion', '{{range 1000000000000}}{{end}}'],
    ['counts to a trillion thrice', '{{range 1000000000000}}{{range 9}}{{continue}}{{end}}{{end}}'],
    [
      'compares long strings',
      '{{$a := printf "%900000d" 1}}{{$b := print $a}}{{range 99999}}{{if eq $a $b}}{{end}}{{end}}',
    ],
    ['throws long strings away', '{{range 99999}}{{$x := printf "%900000d" 1}}{{end}}'],
    [
      'calls without end',
      '{{define "a"}}{{range 9}}{{template "b"}}{{end}}{{end}}' +
      '{{define "b"}}{{range 99999999}}{{end}}{{end}}{{template "a"}}',
    ],
  ])('that %s ends at the limit of work', (_, text) => {
    expect(answer(text)).toMatchObject({
      _tag: 'RenderFailed',
      message: expect.stringContaining(`exceeded maximum work (${WORK_UNITS_MAX} units)`),
    });
  });

  it('that doubles a string ends at the limit of strings', () => {
    expect(answer('{{$x := printf "%600000d" 1}}{{$x = print $x $x}}')).toMatchObject({
      _tag: 'RenderFailed',
      message: expect.stringContaining(
        `exceeded maximum string length (${STRING_BYTES_MAX} bytes)`,
      ),
    });
  });

  it('that prints without end ends at the limit of output', () => {
    const text = `{{range 99999}}${'-'.repeat(1000)}{{end}}`;
    expect(answer(text)).toMatchObject({
      _tag: 'RenderFailed',
      message: expect.stringContaining(
        `exceeded maximum output length (${OUTPUT_BYTES_MAX} bytes)`,
      ),
    });
  });

  it('that calls itself endlessly fails at the call, with its line', () => {
    expect(answer('{{define "a"}}\n{{template "a" .}}{{end}}{{template "a"}}')).toMatchObject({
      _tag: 'RenderFailed',
      line: 2,
      message: 'template: t:2:11: executing "a" at <{{template "a" .}}>: ' +
        `exceeded maximum template depth (${EVALUATION_DEPTH_MAX})`,
    });
  });

  it.each([
    ['parentheses', (depth: number) => `{{${'('.repeat(depth)}1${')'.repeat(depth)}}}`],
    ['blocks', (depth: number) => '{{if .}}'.repeat(depth) + '{{end}}'.repeat(depth)],
    ['else ifs', (depth: number) => `{{if 0}}${'{{else if 0}}'.repeat(depth)}{{end}}`],
  ])('nests %s up to a limit and no further', (_, nested) => {
    expect(answer(nested(NESTING_DEPTH_MAX - 2))._tag).toBe('Rendered');
    for (const depth of [NESTING_DEPTH_MAX + 1, 100_000]) {
      expect(answer(nested(depth))).toMatchObject({
        _tag: 'Unparseable',
        message: 'template: t:1: max expression depth exceeded',
      });
    }
  });

  it('of a megabyte is parsed in linear time', () => {
    const long = '{{if .s}}{{printf "%s|" .s}}{{end}} text\n'.repeat(25_000);
    expect(parseTemplate('t', long)._tag).toBe('Parsed');
    expect(answer(`{{${'1'.repeat(1 << 20)}}}`)._tag).toBe('Unparseable');
    expect(answer(`{{"${'\\x41'.repeat(1 << 18)}"}}`)._tag).toBe('Rendered');
    expect(answer('{{'.repeat(1 << 19))._tag).toBe('Unparseable');
  });
});

describe('the position of an error', () => {
  it('is counted from 1, in characters, where Go counts bytes', () => {
    expect(answer('é\néé {{.s.x}}')).toMatchObject({
      line: 2,
      column: 8,
      message: expect.stringContaining('t:2:9: '),
    });
  });

  it('of an invalid template is where parsing stopped', () => {
    expect(answer('a\n  {{.s}} {{nope}}')).toMatchObject({
      _tag: 'Unparseable',
      line: 2,
      column: 12,
    });
    expect(answer('{{.s}}\n{{"open}}')).toMatchObject({ _tag: 'Unparseable', line: 2, column: 3 });
  });
});
