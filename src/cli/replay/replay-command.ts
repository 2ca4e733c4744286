/** The command `tidegate replay`. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import type { ExitCode } from '../exit-codes.ts';
import { REPLAY_FLAGS, type ReplayRequest, replayRequest } from './replay-request.ts';

/** The implementation. */
export interface ReplayRoles {
  readonly replay: (request: ReplayRequest) => Promise<ExitCode>;
}

/** The command. */
export const replayCommand = (roles: ReplayRoles, end: (code: ExitCode) => void) =>
  Command.make(
    'replay',
    {
      file: Argument.String('file').pipe(
        Argument.withDescription('Recording written with --record'),
      ),
      ...REPLAY_FLAGS,
    },
    (parsed) => Effect.promise(() => roles.replay(replayRequest(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Replays the recorded lifecycles of a process through the real statecharts, ' +
        'without a cluster: up to a moment, to print its states, or on the live page.',
    ),
    Command.withShortDescription('Replay a recording of lifecycles'),
    Command.withExamples([
      { command: 'tidegate replay report.jsonl', description: 'The states at the end' },
      { command: 'tidegate replay report.jsonl --until=90s --actor=nodeDrain/node-7' },
      { command: 'tidegate replay report.jsonl --inspect-addr=:8772 --speed=10' },
    ]),
  );
