/**
 * Maps readings of a file to changes.
 *
 * Promises: unchanged text emits nothing, and an invalid text never replaces a valid one; each
 * problem is emitted once; an emptied file counts once it is empty in two readings.
 */
import {
  defer,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  type OperatorFunction,
} from 'rxjs';
import type { Parsed, TextChange, TextReading } from '../domain/text-file.ts';

const same = (before: TextReading, now: TextReading): boolean =>
  before._tag === 'Text'
    ? now._tag === 'Text' && before.text === now.text
    : now._tag === 'Unreadable' && before.problem === now.problem;

const isEmpty = (reading: TextReading): boolean => reading._tag === 'Text' && reading.text === '';

/** Leaves out the first empty reading after another: a file that is written in place. */
const withoutBriefEmptiness = (readings: Observable<TextReading>): Observable<TextReading> =>
  defer(() => {
    let last: TextReading | undefined;
    return readings.pipe(filter((now) => {
      const isBrief = last !== undefined && isEmpty(now) && !isEmpty(last);
      last = now;
      return !isBrief;
    }));
  });

/** Keeps what is new in readings of a file, judged by `parse`. */
export const textChanges = <Value>(
  parse: (text: string) => Parsed<Value>,
): OperatorFunction<TextReading, TextChange<Value>> =>
(readings) =>
  withoutBriefEmptiness(readings).pipe(
    distinctUntilChanged(same),
    map((reading): TextChange<Value> => {
      if (reading._tag === 'Unreadable') return { _tag: 'Kept', problem: reading.problem };
      const parsed = parse(reading.text);
      return parsed._tag === 'Good'
        ? { _tag: 'Accepted', value: parsed.value }
        : { _tag: 'Kept', problem: parsed.problem };
    }),
  );
