/** Flags of `effect/cli` generated from a table of options; the table parses their values. */
import { Flag } from 'effect/cli';
import type { OptionFacts } from '../effects/option-kinds.ts';
import { type OptionTable, variableOf } from '../effects/options.ts';

/** The help facts of an option. */
type DocumentedOption = OptionTable[string];

const aboutAbsence = (option: DocumentedOption): string => {
  const { requiredBecause, requiredWith } = option;
  if (requiredWith !== undefined) return ` (required with ${requiredWith})`;
  if (requiredBecause !== undefined) return ' (required)';
  return option.default === undefined ? '' : ` (default ${option.default})`;
};

/** The help text of an option, with its default and its variable. */
const descriptionOf = (option: DocumentedOption, prefix: string): string =>
  `${option.help}${aboutAbsence(option)} [${variableOf(prefix, option.name)}]`;

const flagOf = (option: DocumentedOption): Flag.Flag<string> =>
  option.isSwitch === true
    ? Flag.Boolean(option.name).pipe(Flag.map(String))
    : Flag.String(option.name).pipe(Flag.withMetavar(option.placeholder));

/** A flag for each option, by its name without dashes. It may be repeated, as in Go. */
export const flagsOf = (
  table: OptionTable,
  prefix: string,
): Readonly<Record<string, Flag.Flag<readonly string[]>>> =>
  Object.fromEntries(
    Object.values(table).map((option) => [
      option.name,
      flagOf(option).pipe(
        Flag.withDescription(descriptionOf(option, prefix)),
        Flag.atLeast(0),
      ),
    ]),
  );

/** The given flags as input of the table: the last value of a repeated one, as in Go. */
export const givenFlags = (
  parsed: Readonly<Record<OptionFacts['name'], readonly string[]>>,
): Readonly<Record<string, string>> => {
  const given: [string, string][] = [];
  for (const [name, texts] of Object.entries(parsed)) {
    const last = texts.at(-1);
    if (last !== undefined) given.push([name, last]);
  }
  return Object.fromEntries(given);
};
