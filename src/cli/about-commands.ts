/** The commands about this program itself: `completion` and `version`. */
import process from 'node:process';
import { Effect, Option } from 'effect';
import { Argument, Command, Completions } from 'effect/cli';
import { Flag } from 'effect/cli';
import { optionalText } from './cluster-flags.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { unknownWord } from './failures.ts';
import { jsonText } from './terminal/json-text.ts';
import type { Terminal } from './terminal/terminal.ts';
import { VERSION } from './version.ts';

type Ending = (code: ExitCode) => void;

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** A script that completes the commands of `root` in one of the shells. */
export const completionCommand = (
  root: () => Command.Command.Any,
  terminal: Terminal,
  end: Ending,
) =>
  Command.make(
    'completion',
    {
      shell: Argument.String('shell').pipe(
        Argument.withDescription(`Shell to complete commands in: ${SHELLS.join(', ')}`),
      ),
    },
    ({ shell: given }) =>
      Effect.sync(() => {
        const shell = SHELLS.find((one) => one === given);
        if (shell === undefined) {
          terminal.report(unknownWord('<shell>', given, SHELLS));
          return end(EXIT.usage);
        }
        const descriptor = Completions.fromCommand(root());
        terminal.print(`${Completions.generate('tidegate', shell, descriptor).trimEnd()}\n`);
      }),
  ).pipe(
    Command.withDescription(
      'Prints a script that completes the commands and flags of this program in a shell.',
    ),
    Command.withShortDescription('Print a completion script for a shell'),
    Command.withExamples([
      { command: 'source <(tidegate completion bash)', description: 'In this shell' },
      {
        command: 'tidegate completion zsh > "${fpath[1]}/_tidegate"',
        description: 'In every shell',
      },
      { command: 'tidegate completion fish > ~/.config/fish/completions/tidegate.fish' },
    ]),
  );

const FORMATS = ['text', 'json'] as const;

const runtime = (): string => {
  const { deno, node } = process.versions;
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`;
};

/** The version of this program and of what runs it. */
export const versionCommand = (terminal: Terminal, end: Ending) =>
  Command.make(
    'version',
    {
      output: optionalText('output', FORMATS.join('|'), 'Format of the answer (default text)')
        .pipe(Flag.map(Option.getOrElse(() => 'text')), Flag.withAlias('o')),
    },
    ({ output }) =>
      Effect.sync(() => {
        if (!FORMATS.some((format) => format === output)) {
          terminal.report(unknownWord('--output', output, FORMATS));
          return end(EXIT.usage);
        }
        const facts = {
          version: VERSION,
          runtime: runtime(),
          platform: `${process.platform}/${process.arch}`,
        };
        terminal.print(
          output === 'json'
            ? jsonText(facts)
            : `tidegate ${facts.version} (${facts.runtime}, ${facts.platform})\n`,
        );
      }),
  ).pipe(
    Command.withDescription('Prints the version of this program, its runtime and its platform.'),
    Command.withShortDescription('Print the version'),
    Command.withExamples([{ command: 'tidegate version -o json' }]),
  );
