/**
 * The penalties by PriorityClass in use: read at start, and again when their file changes.
 *
 * Promises: a bad file at start is refused with its problem; a bad one later keeps the last good
 * one, and is told once in log, metric and Event.
 */
import { BehaviorSubject, exhaustMap, type Observable, of, skip, startWith, timer } from 'rxjs';
import { NO_DEFAULTS, type PenaltyDefaults } from '../../domain/pod-demand/penalties.ts';
import type { TextReading } from '../../domain/text-file.ts';
import { readPenaltyDefaults } from '../../effects/penalty-defaults-text.ts';
import { readTextFile } from '../../effects/template-file.ts';
import { textChanges } from '../../streams/text-changes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Polled, because a mounted ConfigMap swaps symbolic links under the name. */
const POLL_MS = 5_000;

/** The penalties in use. */
export interface PenaltyDefaultsInUse {
  /** Says at once what is in use, then every change. */
  readonly defaults: Observable<PenaltyDefaults>;
  readonly stop: () => void;
}

/** Penalties in use, or why there are none to start with. */
export type PenaltyDefaultsStart =
  | { readonly _tag: 'Started'; readonly inUse: PenaltyDefaultsInUse }
  | { readonly _tag: 'Refused'; readonly problem: string };

/** Which file, and who is told of a reading that cannot be used. */
export interface PenaltyDefaultsOptions {
  /** Undefined: no PriorityClass has penalties. */
  readonly file: string | undefined;
  readonly refused: (problem: string) => void;
}

type FollowedFile = PenaltyDefaultsOptions & { readonly file: string };

/** Follows the file from its first reading, which was good. */
const follow = (
  { telemetry, runtime, scheduler }: ActorEnvironment<never>,
  { file, refused }: FollowedFile,
  { text, value }: { readonly text: string; readonly value: PenaltyDefaults },
): PenaltyDefaultsInUse => {
  const defaults = new BehaviorSubject(value);
  const changes = timer(POLL_MS, POLL_MS, scheduler).pipe(
    exhaustMap(() => runtime.runPromise(readTextFile(file))),
    startWith<TextReading>({ _tag: 'Text', text }),
    textChanges(readPenaltyDefaults),
    skip(1),
  ).subscribe((change) => {
    if (change._tag === 'Accepted') {
      defaults.next(change.value);
      telemetry.log('info', 'Penalty defaults in use', { file, classes: change.value.size });
      return;
    }
    const { problem } = change;
    telemetry.count('tidegate_penalty_defaults_refused_total', 1);
    telemetry.log('warn', 'Penalty defaults not usable, the last good ones stay', {
      file,
      problem,
    });
    refused(`Cannot use the penalty defaults "${file}": ${problem}`);
  });
  return { defaults, stop: () => changes.unsubscribe() };
};

/** Reads the penalties and follows their file; without a file no class has any. */
export const startPenaltyDefaults = async (
  environment: ActorEnvironment<never>,
  { file, refused }: PenaltyDefaultsOptions,
): Promise<PenaltyDefaultsStart> => {
  if (file === undefined) {
    return { _tag: 'Started', inUse: { defaults: of(NO_DEFAULTS), stop: () => {} } };
  }
  const reading = await environment.runtime.runPromise(readTextFile(file));
  const judged = reading._tag === 'Text'
    ? readPenaltyDefaults(reading.text)
    : { _tag: 'Bad' as const, problem: reading.problem };
  if (judged._tag === 'Bad' || reading._tag !== 'Text') {
    const problem = judged._tag === 'Bad' ? judged.problem : '';
    return {
      _tag: 'Refused',
      problem: `Cannot use the penalty defaults "${file}": ${problem}`,
    };
  }
  const first = { text: reading.text, value: judged.value };
  return { _tag: 'Started', inUse: follow(environment, { file, refused }, first) };
};
