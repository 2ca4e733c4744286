/**
 * The help of a command.
 *
 * Promises: no line is wider than the terminal as long as no single word is; commands and flags are
 * in groups; commands that are broken into lines can be pasted.
 */
import { Option } from 'effect';
import type { HelpDoc } from 'effect/cli';
import {
  commandLines,
  type Definition,
  definitionLines,
  wrappedLines,
} from '../view/wrapped-text.ts';
import { groupedFlags } from './flag-groups.ts';

/** How help is laid out. */
export interface HelpLayout {
  readonly columns: number;
  readonly colors: boolean;
}

type Doc = HelpDoc.HelpDoc;
type FlagDoc = Doc['flags'][number];
type ExampleDoc = NonNullable<Doc['examples']>[number];

const BOLD = '\u001b[1m';
const CYAN = '\u001b[36m';
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';

const describedFlag = ({ name, aliases, type, description }: FlagDoc): Definition => ({
  term: [...aliases, `--${name}`].join(', ') + (type === 'boolean' ? '' : ` ${type}`),
  text: Option.getOrElse(description, () => ''),
});

const describedArguments = ({ args = [] }: Doc): readonly Definition[] =>
  args.map(({ name, variadic, required, description }) => ({
    term: `${name.toUpperCase()}${variadic ? '…' : ''}`,
    text: Option.getOrElse(description, () => '') + (required || variadic ? '' : ' (optional)'),
  }));

/** `tidegate explain KIND [NAME] [flags]`, as other command lines of Kubernetes write it. */
const usageOf = ({ usage, args = [] }: Doc): string => {
  const hasFlags = usage.includes(' [flags]');
  const plain = usage.replace(' [flags]', '').replace(
    '<subcommand>',
    args.length === 0 ? 'COMMAND' : '[COMMAND]',
  )
    .replaceAll(/<([a-z-]+)(\.\.\.)?>/g, (_, name: string, more = '') => name.toUpperCase() + more)
    .replaceAll('...', '…');
  return hasFlags ? `${plain} [flags]` : plain;
};

/** The lines of a help text, without their line breaks. */
const helpLines = (doc: Doc, { columns, colors }: HelpLayout): readonly string[] => {
  const paint = (code: string) => (text: string) => colors ? `${code}${text}${PLAIN}` : text;
  const defined = (definitions: readonly Definition[]) =>
    definitionLines(definitions, columns, paint(CYAN));
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', paint(BOLD)(`${title}:`), ...lines];
  const example = (
    { command, description }: ExampleDoc,
    index: number,
  ): readonly string[] => [
    ...(description === undefined || index === 0 ? [] : ['']),
    ...wrappedLines(description ?? '', columns - 4).map((line) => paint(DIM)(`  # ${line}`)),
    ...commandLines(command, columns - 2).map((line) => `  ${line}`),
  ];
  const commands = (doc.subcommands ?? []).flatMap(({ group = 'Commands', commands }) =>
    section(
      group,
      defined(commands.map(({ name, shortDescription, description }) => ({
        term: name,
        text: shortDescription ?? description,
      }))),
    )
  );
  return [
    ...wrappedLines(doc.description, columns),
    ...section('Usage', commandLines(usageOf(doc), columns - 2).map((line) => `  ${line}`)),
    ...section('Arguments', defined(describedArguments(doc))),
    ...commands,
    ...groupedFlags(doc.flags).flatMap(([heading, flags]) =>
      section(heading, defined(flags.map(describedFlag)))
    ),
    ...section('Global flags', defined((doc.globalFlags ?? []).map(describedFlag))),
    ...section('Examples', (doc.examples ?? []).flatMap(example)),
  ];
};

/** The help of a command, ending in a line break. */
export const helpText = (doc: Doc, layout: HelpLayout): string =>
  `${helpLines(doc, layout).join('\n')}\n`;
