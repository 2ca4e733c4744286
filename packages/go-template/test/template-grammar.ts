/**
 * Templates for fuzzing: texts that are made by the grammar of Go's text/template, so that most of
 * them parse, and texts that are broken on purpose.
 */
import fc from 'fast-check';
import type { PlainData } from '../src/values.ts';

/** Data that the grammar's templates look into. */
export const GRAMMAR_DATA: PlainData = {
  s: 'héllo <b>"w"\'s & co\\=',
  e: '',
  n: 42,
  z: 0,
  neg: -7,
  f: 1.5,
  big: 12345678.9,
  tiny: 0.000001234,
  t: true,
  no: false,
  nil: null,
  l: [1, 'two', 3.5, null, [4, 5], { k: 'v' }],
  el: [],
  m: { b: 2, a: 1, c: { d: 'deep', l: ['x', 'y'] } },
  em: {},
};

const oneOf = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

const field = oneOf(
  ...Object.keys(GRAMMAR_DATA ?? {}).map((key) => `.${key}`),
  '.m.a',
  '.m.c.d',
  '.m.c.l',
  '.missing',
  '.missing.deep',
  '.s.x',
  '.nil.x',
  '.n.x',
  '.ClusterID',
);

const variable = oneOf('$', '$x', '$y', '$i', '$.n', '$.m.c.d', '$x.k', '$undeclared');

const literal = oneOf(
  '0',
  '1',
  '2',
  '-1',
  '+3',
  '42',
  '007',
  '0x1F',
  '0b101',
  '0o17',
  '1_000',
  '1.5',
  '-0.25',
  '1e3',
  '.5',
  '1e100',
  '0x1p-2',
  '-0x1e',
  '9223372036854775807',
  '18446744073709551615',
  '99999999999999999999',
  '1+2i',
  '3i',
  '1e400',
  '089',
  '0x',
  '1__0',
  "'a'",
  "'\\n'",
  "'é'",
  "'\\x41'",
  "'\\u00e9'",
  "'ab'",
  "''",
  '""',
  '"a"',
  '"two words"',
  '"q\\"uote"',
  '"t\\tab"',
  '"\\u00e9"',
  '"\\xff"',
  '"\\z"',
  '`raw`',
  '`r\naw`',
  '"%d"',
  '"é"',
  'true',
  'false',
  'nil',
  '.',
);

const format = oneOf(
  '"%v"',
  '"%+v"',
  '"%#v"',
  '"%T"',
  '"%d"',
  '"%5d"',
  '"%-5d|"',
  '"%05d"',
  '"%+d"',
  '"% d"',
  '"%x"',
  '"%X"',
  '"%#x"',
  '"%o"',
  '"%O"',
  '"%#o"',
  '"%b"',
  '"%c"',
  '"%q"',
  '"%+q"',
  '"%#q"',
  '"%U"',
  '"%#U"',
  '"%t"',
  '"%s"',
  '"%10s"',
  '"%-10s|"',
  '"%.2s"',
  '"%010s"',
  '"%f"',
  '"%.2f"',
  '"%8.3f"',
  '"%08.3f"',
  '"%+.1f"',
  '"%e"',
  '"%E"',
  '"%g"',
  '"%G"',
  '"%.3g"',
  '"%#g"',
  '"%#.3x"',
  '"%x %X"',
  '"%6.2f%%"',
  '"%*d"',
  '"%.*f"',
  '"%[1]v %[1]T"',
  '"%[2]v %[1]v"',
  '"%[3]d"',
  '"%[]d"',
  '"%[x]d"',
  '"%z"',
  '"%!"',
  '"%"',
  '"%-"',
  '"%d %d"',
  '"no verb"',
  '"%w"',
  '"% x"',
  '"%# x"',
  '"%5t|"',
  '"%-8q|"',
  '"%08b"',
  '"%#b"',
  '"%.0f"',
  '"%.10g"',
  '"%v %v %v"',
  '"%99999999d"',
  '"%.3d"',
  '"%+.3e"',
  '"%5v|"',
  '"%-5v|"',
  '"%05v"',
  '"%é"',
);

const binary = oneOf(
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'index',
  'slice',
  'and',
  'or',
  'print',
  'println',
);
const unary = oneOf(
  'len',
  'not',
  'html',
  'js',
  'urlquery',
  'print',
  'println',
  'printf',
  'call',
  'index',
  'slice',
  'eq',
  'and',
);

const { pipeline } = fc.letrec<{ operand: string; command: string; pipeline: string }>(
  (tie) => ({
    operand: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      field,
      variable,
      literal,
      tie('pipeline').map((inner) => `(${inner})`),
      fc.tuple(tie('pipeline'), oneOf('.k', '.d', '.x.y')).map(([inner, name]) =>
        `(${inner})${name}`
      ),
    ),
    command: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('operand'),
      fc.tuple(unary, tie('operand')).map((words) => words.join(' ')),
      fc.tuple(binary, tie('operand'), tie('operand')).map((words) => words.join(' ')),
      fc.tuple(binary, tie('operand'), tie('operand'), tie('operand')).map((words) =>
        words.join(' ')
      ),
      fc.tuple(format, fc.array(tie('operand'), { maxLength: 3 }))
        .map(([text, operands]) => ['printf', text, ...operands].join(' ')),
      fc.tuple(tie('operand'), tie('operand')).map((words) => words.join(' ')),
      unary,
    ),
    pipeline: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('command'),
      fc.tuple(tie('command'), unary).map((words) => words.join(' | ')),
      fc.tuple(tie('command'), format).map(([command, text]) => `${command} | printf ${text}`),
      fc.tuple(tie('command'), tie('command')).map((words) => words.join(' | ')),
    ),
  }),
);

const open = oneOf('{{', '{{', '{{', '{{- ', '{{ ');
const close = oneOf('}}', '}}', '}}', ' -}}', ' }}');
const text = oneOf('', ' ', '\n', 'text', 'é\n', '  \n  ', 'a{b', '}} ');

const action = (inside: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(open, inside, close).map((parts) => parts.join(''));

const declaration = fc.tuple(
  oneOf('$x := ', '$y := ', '$x = ', '$i, $x := ', '$undeclared = ', '$x :='),
  pipeline,
).map((parts) => parts.join(''));

const header = fc.oneof(pipeline, declaration);

const { body } = fc.letrec<{ body: string; part: string }>((tie) => {
  const branch = (word: string) =>
    fc.tuple(
      action(header.map((inner) => `${word} ${inner}`)),
      tie('body'),
      fc.option(
        fc.tuple(
          action(fc.oneof(fc.constant('else'), pipeline.map((inner) => `else ${word} ${inner}`))),
          tie('body'),
        ),
        { nil: undefined },
      ),
      action(fc.constant('end')),
    ).map(([head, inner, otherwise, end]) => [head, inner, ...otherwise ?? [], end].join(''));
  return {
    body: fc.array(tie('part'), { maxLength: 3 }).map((parts) => parts.join('')),
    part: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text,
      action(pipeline),
      action(declaration),
      fc.constantFrom(
        '{{/* note */}}',
        '{{- /* note */ -}}',
        '{{break}}',
        '{{continue}}',
        '{{else}}',
        '{{end}}',
      ),
      branch('if'),
      branch('with'),
      branch('range'),
      fc.tuple(
        oneOf(
          '.l',
          '.m',
          '.m.c.l',
          '3',
          '.el',
          '.n',
          '$i, $x := .l',
          '$i, $x := .m',
          '$x := 2',
          '$i, $x = .l',
        ),
        tie('body'),
        oneOf('', '{{else}}none', '{{break}}', '{{continue}}x'),
      )
        .map(([over, inner, tail]) => `{{range ${over}}}${inner}${tail}{{end}}`),
      fc.tuple(
        oneOf('"one"', '"two"', '`one`', '"missing"', 'one'),
        fc.oneof(fc.constant(''), pipeline),
      )
        .map(([name, data]) => `{{template ${name} ${data}}}`),
      fc.tuple(oneOf('"one"', '"two"'), pipeline, tie('body'))
        .map(([name, data, inner]) => `{{block ${name} ${data}}}${inner}{{end}}`),
    ),
  };
});

const definition = fc.tuple(oneOf('"one"', '"two"', '"template"', '`three`'), body)
  .map(([name, inner]) => `{{define ${name}}}${inner}{{end}}`);

/** Whole templates, most of them well-formed. */
const grammarTemplate: fc.Arbitrary<string> = fc.tuple(
  oneOf('', '{{$x := .m}}{{$y := "why"}}{{$i := 1}}{{define "one"}}<{{.}}>{{end}}'),
  fc.array(
    fc.oneof({ weight: 4, arbitrary: body }, { weight: 1, arbitrary: definition }),
    { minLength: 1, maxLength: 4 },
  ),
).map(([prelude, parts]) => prelude + parts.join(''));

/** One action whose operands are likely to fit, for the depths of functions and formats. */
const plausibleTemplate: fc.Arbitrary<string> = fc.tuple(
  fc.oneof(
    fc.tuple(format, fc.array(fc.oneof(field, literal), { minLength: 1, maxLength: 3 }))
      .map(([directive, operands]) => ['printf', directive, ...operands].join(' ')),
    fc.tuple(binary, field, field).map((words) => words.join(' ')),
    fc.tuple(binary, field, literal).map((words) => words.join(' ')),
    fc.tuple(unary, field).map((words) => words.join(' ')),
    fc.tuple(oneOf('index', 'slice'), oneOf('.l', '.s', '.m.c.l', '.m'), literal, literal)
      .map((words) => words.join(' ')),
    literal,
  ),
  oneOf(
    '',
    '',
    ' | html',
    ' | js',
    ' | urlquery',
    ' | printf "%q"',
    ' | printf "%#v %T" .n',
    ' | len',
  ),
).map(([command, rest]) => `{{${command}${rest}}}`);

/** Well-formed templates with something cut out, put in or doubled. */
const brokenTemplate: fc.Arbitrary<string> = fc.tuple(
  grammarTemplate,
  fc.nat(),
  fc.nat(6),
  fc.oneof(
    oneOf(
      '{{',
      '}}',
      '"',
      "'",
      '(',
      ')',
      '|',
      '.',
      '$',
      ',',
      ':=',
      '{{end}}',
      '\n',
      '\0',
      '/*',
      'é',
      '`',
      '-',
    ),
    fc.string({ maxLength: 3 }),
  ),
).map(([whole, at, cut, put]) => {
  const place = at % (whole.length + 1);
  return whole.slice(0, place) + put + whole.slice(place + cut);
});

/** Any text, with more braces in it than most. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(
    fc.oneof(
      oneOf('{{', '}}', '.', '|', '(', ')', '"', 'if ', 'end', 'range ', '$x', ':=', ' ', '-'),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 20 },
  )
    .map((parts) => parts.join('')),
);

/** All of them. */
export const fuzzedTemplate: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: grammarTemplate },
  { weight: 5, arbitrary: plausibleTemplate },
  { weight: 2, arbitrary: brokenTemplate },
  { weight: 1, arbitrary: anyText },
);
