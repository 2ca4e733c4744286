/** What `tidegate demo` is asked: flags as plain values. */
import { Effect, Option } from 'effect';
import { Command, Flag } from 'effect/cli';
import { optionalText } from './cluster-flags.ts';
import { DEMO_SCENARIOS } from './demo-scenarios.ts';
import type { ExitCode } from './exit-codes.ts';

/** A demo, not yet checked. */
export interface DemoRequest {
  readonly scenario: string;
  readonly serve: boolean;
  readonly inspectAddress: string | undefined;
  readonly whenWatched: boolean;
  readonly recordFile: string | undefined;
}

const DEFAULT_SCENARIO = 'scale-up';

const FLAGS = {
  scenario: optionalText(
    'scenario',
    Object.keys(DEMO_SCENARIOS).join('|'),
    `Which story is told (default ${DEFAULT_SCENARIO})`,
  ),
  serve: Flag.Boolean('serve').pipe(
    Flag.withDescription('Keep everything up after the story, and print how kubectl reaches it'),
    Flag.withDefault(false),
  ),
  inspectAddress: optionalText(
    'inspect-addr',
    'HOST:PORT',
    "Serve the operator's live page there, to watch the story as statecharts",
  ),
  whenWatched: Flag.Boolean('when-watched').pipe(
    Flag.withDescription('Begin when somebody has opened the live page; asks for --inspect-addr'),
    Flag.withDefault(false),
  ),
  recordFile: optionalText(
    'record',
    'FILE',
    'Write down what its statecharts went through, for tidegate replay',
  ),
};

/** What stands behind it. */
export interface DemoRoles {
  readonly demo: (request: DemoRequest) => Promise<ExitCode>;
}

/** The command. */
export const demoCommand = (roles: DemoRoles, end: (code: ExitCode) => void) =>
  Command.make(
    'demo',
    FLAGS,
    ({ scenario, serve, inspectAddress, whenWatched, recordFile }) =>
      Effect.promise(() =>
        roles.demo({
          scenario: Option.getOrElse(scenario, () => DEFAULT_SCENARIO),
          serve,
          inspectAddress: Option.getOrUndefined(inspectAddress),
          whenWatched,
          recordFile: Option.getOrUndefined(recordFile),
        }).then(end)
      ),
  ).pipe(
    Command.withDescription(
      'Tells a story on this machine: an embedded cluster, a stand-in fleet and the real ' +
        'operator, with nothing to install. Ends by itself, with 0 when the story came true.',
    ),
    Command.withShortDescription('Watch the operator in a story of half a minute'),
    Command.withExamples([
      { command: 'tidegate demo', description: 'Pods that fit nowhere bring machines' },
      { command: 'tidegate demo --scenario=tight-budget' },
      { command: 'tidegate demo --serve --inspect-addr=:8772', description: 'Look around after' },
      { command: 'tidegate demo --when-watched --inspect-addr=:8772', description: 'Miss nothing' },
    ]),
  );
