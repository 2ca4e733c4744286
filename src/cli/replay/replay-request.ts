/** The request of `tidegate replay`: flags and arguments as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import { optionalText } from '../cluster-flags.ts';

/** Output formats. */
export const REPLAY_FORMATS = ['table', 'json'] as const;

/** A request to replay a recording, not yet validated. */
export interface ReplayRequest {
  readonly file: string;
  /** A moment: RFC 3339, or a Go duration after the start. */
  readonly until: string | undefined;
  readonly actor: string | undefined;
  readonly format: string;
  /** The address of the page; undefined for no page. */
  readonly inspectAddress: string | undefined;
  readonly speed: string;
}

/** Flags of `replay`. */
export const REPLAY_FLAGS = {
  until: optionalText(
    'until',
    'MOMENT',
    'Stop there: RFC 3339, or a duration after the start such as 90s (default the end, just ' +
      'before the process stopped)',
  ),
  actor: optionalText('actor', 'ID', 'Show the path of one actor, such as nodeDrain/node-7'),
  output: optionalText('output', REPLAY_FORMATS.join('|'), 'Format of the answer (default table)')
    .pipe(Flag.withAlias('o')),
  inspectAddress: optionalText(
    'inspect-addr',
    'HOST:PORT',
    'Replay on the live page until a signal; :PORT listens on loopback only',
  ),
  speed: optionalText('speed', 'NUMBER', 'Speed relative to real time (default 1)'),
};

/** The parsed command line. */
export const replayRequest = (parsed: {
  readonly file: string;
  readonly until: Option.Option<string>;
  readonly actor: Option.Option<string>;
  readonly output: Option.Option<string>;
  readonly inspectAddress: Option.Option<string>;
  readonly speed: Option.Option<string>;
}): ReplayRequest => ({
  file: parsed.file,
  until: Option.getOrUndefined(parsed.until),
  actor: Option.getOrUndefined(parsed.actor),
  format: Option.getOrElse(parsed.output, () => 'table'),
  inspectAddress: Option.getOrUndefined(parsed.inspectAddress),
  speed: Option.getOrElse(parsed.speed, () => '1'),
});
