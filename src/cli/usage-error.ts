/**
 * The problem of a command line, in one line.
 *
 * Promises: names the flag or argument, the value, and the remedy; never the whole help, which
 * would hide the one line that matters.
 */
import type { CliError } from 'effect/cli';
import { quoted } from '../domain/text.ts';

const perhaps = (suggestions: readonly string[]): string =>
  suggestions.length === 0 ? '' : `did you mean ${suggestions[0]}? `;

const sentence = (error: CliError.CliError): string => {
  switch (error._tag) {
    case 'UnrecognizedOption':
      return `Cannot use ${error.option}: no such flag; ${perhaps(error.suggestions)}`;
    case 'UnknownSubcommand':
      return `Cannot run "${error.subcommand}": no such command; ${perhaps(error.suggestions)}`;
    case 'MissingOption':
      return `Cannot start without --${error.option}: it is required; `;
    case 'MissingArgument':
      return `Cannot start without <${error.argument}>: it is required; `;
    case 'UnexpectedArgument':
      return `Cannot use ${
        error.arguments.map((argument) => quoted(argument)).join(' and ')
      }: no argument is expected there; `;
    case 'InvalidValue': {
      const name = error.kind === 'flag' ? `--${error.option}` : `<${error.option}>`;
      return error.value === ''
        ? `Cannot use ${name}: it has no value; `
        : `Cannot use ${name} ${quoted(error.value)}: ${lowerFirst(error.expected)}; `;
    }
    default:
      return `Cannot read the command line: ${lowerFirst(error.message)}; `;
  }
};

const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** The first error as a line that ends with a pointer to the help. */
export const usageError = (
  errors: readonly CliError.CliError[],
  commandPath: readonly string[],
): string => {
  const first = errors[0];
  const what = first === undefined ? 'Cannot read the command line; ' : sentence(first);
  return `${what}see "${commandPath.join(' ')} --help"`.replaceAll(/\s*[\r\n]+\s*/g, ' ');
};
