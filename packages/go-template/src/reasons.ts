/**
 * Go's error messages without the content of templates and data, which may be secret.
 *
 * Promises: a reason consists of words of this file only; what a message quotes becomes `…`. A
 * message that is not listed has a general reason.
 */

/** Where the parser stops; the words after "in". */
const CONTEXTS = [
  'input',
  'operand',
  'command',
  'parenthesized pipeline',
  'if',
  'with',
  'range',
  'end',
  'else',
  'define clause',
  'block clause',
  'template clause',
  '{{break}}',
  '{{continue}}',
];

/** Messages of the lexer, which may name the line on which the action began. */
const OF_LEXER = [
  'unclosed comment',
  'comment ends before closing delimiter',
  'unclosed left paren',
  'unclosed action',
  'expected :=',
  'unexpected right paren',
  'unterminated quoted string',
  'unterminated character constant',
  'unterminated raw quoted string',
  'unrecognized character in action',
  'bad character',
  'bad number syntax',
];

/** Messages of functions; Go puts `error calling NAME: ` before them. */
const OF_FUNCTIONS = [
  'cannot index slice/array with nil',
  'cannot index slice/array with type …',
  'index out of range: …',
  'reflect: slice index out of range',
  'reflect: string index out of range',
  'value is nil; should be of type string',
  'value has type …; should be string',
  'index of untyped nil',
  'index of nil pointer',
  "can't index item of type …",
  'slice of untyped nil',
  'too many slice indexes: …',
  "can't slice item of type …",
  'cannot 3-index slice a string',
  'invalid slice index: …',
  'len of nil pointer',
  'len of type …',
  'reflect: call of reflect.Value.Type on zero Value',
  'call of nil',
  'non-function …',
  'non-comparable types …',
  'non-comparable type …',
  'incompatible types for comparison: …',
  'missing argument for comparison',
  'invalid type for comparison',
];

const OTHERS = [
  'exceeded maximum template depth …',
  'exceeded maximum work …',
  'exceeded maximum output length …',
  'exceeded maximum string length …',
  "can't use … to iterate over more than one variable",
  "range can't iterate over …",
  'template … not defined',
  'template: multiple definition of template …',
  "can't give argument to non-function …",
  'nil is not a command',
  '… overflows int',
  'nil pointer evaluating …',
  'nil data; no entry for key …',
  '… has arguments but cannot be invoked as function',
  '… is not a method but has arguments',
  "can't evaluate field … in type …",
  '… is not a defined function',
  'wrong number of args for …',
  'invalid value; expected string',
  'wrong type for value; expected …',
  'cannot assign nil to string',
  'expected string; found …',
  'undefined variable: …',
  'undefined variable …',
  'function … not defined',
  'unexpected EOF',
  'unexpected {{end}}',
  'unexpected {{else}}',
  '{{break}} outside {{range}}',
  '{{continue}} outside {{range}}',
  'expected end; found {{else}}',
  'non executable command in pipeline stage …',
  'range can only initialize variables',
  'empty command',
  'unexpected . after term …',
  'max expression depth exceeded',
  'invalid syntax',
  'syntax error scanning complex number',
  'strconv.ParseFloat: parsing …: invalid syntax',
  'malformed character constant: …',
  'illegal number syntax: …',
  'integer overflow: …',
];

/** A reason, and the messages that it stands for. */
interface Known {
  readonly reason: string;
  readonly pattern: RegExp;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const known = (reason: string): Known => ({
  reason,
  pattern: new RegExp(`^${reason.split('…').map(escaped).join('[^]*')}$`),
});

const KNOWN: readonly Known[] = [
  ...OF_LEXER.map((reason) => ({ reason, pattern: new RegExp(`^${escaped(reason)}`) })),
  ...CONTEXTS.flatMap((context) =>
    [
      'unexpected {{else}} in',
      'unexpected EOF in',
      'unexpected … in',
      'missing value for',
      'too many declarations in',
    ].map((start) => known(`${start} ${context}`))
  ),
  ...OF_FUNCTIONS.map(known),
  ...OTHERS.map(known),
];

const OF_CALL = /^error calling [a-z]+: /;

/** For messages that are not listed. */
export const GENERAL_REASON = 'invalid template or data';

/** `message`, Go's words without name and place, as a reason without any content. */
export const reasonOf = (message: string): string => {
  const call = OF_CALL.exec(message)?.[0] ?? '';
  const inner = message.slice(call.length);
  return KNOWN.find(({ pattern }) => pattern.test(inner))?.reason ?? GENERAL_REASON;
};
