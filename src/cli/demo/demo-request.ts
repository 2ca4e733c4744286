/** The request of `tidegate demo`: flags as plain values. */
import { Effect, Option } from 'effect';
import { Command } from 'effect/cli';
import { optionalText, switchFlag } from '../cluster-flags.ts';
import { DEMO_SCENARIOS } from './demo-scenarios.ts';
import type { ExitCode } from '../exit-codes.ts';

/** A demo request, not yet validated. */
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
    'NAME',
    `Scenario to run: ${Object.keys(DEMO_SCENARIOS).join(', ')} (default ${DEFAULT_SCENARIO})`,
  ),
  serve: switchFlag(
    'serve',
    'Keep everything running after the scenario, and print how to use kubectl',
  ),
  inspectAddress: optionalText(
    'inspect-addr',
    'HOST:PORT',
    "Serve the operator's live page there; :PORT listens on loopback only",
  ),
  whenWatched: switchFlag(
    'when-watched',
    'Begin when the live page is opened; requires --inspect-addr',
  ),
  recordFile: optionalText(
    'record',
    'FILE',
    'Record its statecharts, for tidegate replay',
  ),
};

/** The implementation. */
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
      'Runs a scenario on this machine: an embedded cluster, a stand-in fleet and the real ' +
        'operator, with nothing to install. Exits with 0 when the scenario succeeded.',
    ),
    Command.withShortDescription('Watch the operator in a scenario of a minute'),
    Command.withExamples([
      { command: 'tidegate demo', description: 'Unschedulable pods bring machines' },
      { command: 'tidegate demo --scenario=tight-budget' },
      { command: 'tidegate demo --serve --inspect-addr=:8772', description: 'Explore afterwards' },
      {
        command: 'tidegate demo --when-watched --inspect-addr=:8772',
        description: 'Wait for a viewer',
      },
    ]),
  );
