/** Flags of `effect/cli` made from a table of options; values stay text for the table to read. */
import { Flag } from 'effect/cli';
import type { OptionFacts } from '../effects/option-kinds.ts';
import { type OptionTable, variableOf } from '../effects/options.ts';

/** An option as help shows it. */
type DocumentedOption = OptionTable[string];

const aboutAbsence = (option: DocumentedOption): string => {
  const { requiredBecause, requiredWith } = option;
  if (requiredWith !== undefined) return ` (required with ${requiredWith})`;
  if (requiredBecause !== undefined) return ' (required)';
  return option.default === undefined ? '' : ` (default ${option.default})`;
};

/** What help says about an option, with its default and its variable. */
const descriptionOf = (option: DocumentedOption, prefix: string): string =>
  `${option.help}${aboutAbsence(option)} [${variableOf(prefix, option.name)}]`;

const flagOf = (option: DocumentedOption): Flag.Flag<string> =>
  option.isSwitch === true
    ? Flag.Boolean(option.name).pipe(Flag.map(String))
    : Flag.String(option.name).pipe(Flag.withMetavar(option.placeholder));

/** A flag for each option, by its name without dashes. It may be repeated, as Go allows. */
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

/** The flags that were given, as the table takes them: of a repeated one the last, as Go does. */
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
