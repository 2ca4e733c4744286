/** `tidegate replay` on the command line. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import type { ExitCode } from './exit-codes.ts';
import { REPLAY_FLAGS, type ReplayRequest, replayRequest } from './replay-request.ts';

/** What stands behind it. */
export interface ReplayRoles {
  readonly replay: (request: ReplayRequest) => Promise<ExitCode>;
}

/** The command. */
export const replayCommand = (roles: ReplayRoles, end: (code: ExitCode) => void) =>
  Command.make(
    'replay',
    {
      file: Argument.String('file').pipe(
        Argument.withDescription('Recording that a process made with --record'),
      ),
      ...REPLAY_FLAGS,
    },
    (parsed) => Effect.promise(() => roles.replay(replayRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Plays what happened to the lifecycles of a process again, through the real statecharts ' +
        'and without a cluster: to a moment, to print the states of then, or on the live page.',
    ),
    Command.withShortDescription('Play a recording of lifecycles again'),
    Command.withExamples([
      { command: 'tidegate replay report.jsonl', description: 'The states at the end' },
      { command: 'tidegate replay report.jsonl --until=90s --actor=nodeDrain/node-7' },
      { command: 'tidegate replay report.jsonl --inspect-addr=:8772 --speed=10' },
    ]),
  );
