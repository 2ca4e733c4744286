/**
 * A text file maintained by a person: read at start, and again when it changes.
 *
 * Promises: an invalid text at start is refused with its problem; later the last valid text stays
 * in use and the problem is reported once.
 */
import type { Effect } from 'effect';
import { exhaustMap, type Observable, ReplaySubject, skip, startWith, timer } from 'rxjs';
import type { Parsed, TextChange, TextReading } from '../domain/text-file.ts';
import { readTextFile } from '../effects/template-file.ts';
import { textChanges } from '../streams/text-changes.ts';
import type { ActorEnvironment } from './actor-environment.ts';
import { type RoleStart, STARTED } from './role.ts';

/** Polled, because a mounted ConfigMap swaps symbolic links under the name. */
const POLL_MS = 5_000;

type Parse<Value> = (text: string) => Parsed<Value>;

/** The file and its parser. */
export interface FollowedFileOptions<Value> {
  /** Such as `bootstrap template`. */
  readonly name: string;
  /** Undefined: `absent` is used. */
  readonly file: string | undefined;
  readonly absent: Value;
  /** Loaded only with a file: a parser of YAML takes time and memory. */
  readonly parser: () => Promise<Parse<Value>>;
  /** Called when the file changes after the start. */
  readonly onChange: (change: TextChange<Value>) => void;
}

/** The value in use. */
export interface FollowedFile<Value> {
  /** The value in use, from the start on, then every change. */
  readonly values: Observable<Value>;
  /** Reads the file and follows it. */
  readonly start: () => Promise<RoleStart>;
  readonly stop: () => void;
}

/** The value of a file; nothing is read before `start`. */
export const followedFile = <Value>(
  { runtime, scheduler }: ActorEnvironment<never>,
  { name, file, absent, parser, onChange }: FollowedFileOptions<Value>,
): FollowedFile<Value> => {
  const values = new ReplaySubject<Value>(1);
  let isStopped = false;
  let stop = (): void => {};
  const follow = (
    reading: Effect.Effect<TextReading>,
    parse: Parse<Value>,
    first: TextReading,
  ): void => {
    if (isStopped) return;
    const changes = timer(POLL_MS, POLL_MS, scheduler).pipe(
      exhaustMap(() => runtime.runPromise(reading)),
      startWith(first),
      textChanges(parse),
      skip(1),
    ).subscribe((change) => {
      if (change._tag === 'Accepted') values.next(change.value);
      onChange(change);
    });
    stop = () => changes.unsubscribe();
  };
  const start = async (): Promise<RoleStart> => {
    if (file === undefined) {
      values.next(absent);
      return STARTED;
    }
    const parse = await parser();
    const reading = readTextFile(file);
    const first = await runtime.runPromise(reading);
    const parsed = first._tag === 'Text'
      ? parse(first.text)
      : { _tag: 'Bad' as const, problem: first.problem };
    if (parsed._tag === 'Bad') {
      return { _tag: 'Refused', problem: `Cannot use the ${name} "${file}": ${parsed.problem}` };
    }
    values.next(parsed.value);
    follow(reading, parse, first);
    return STARTED;
  };
  return {
    values,
    start,
    stop: () => {
      isStopped = true;
      stop();
    },
  };
};
