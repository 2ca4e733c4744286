/**
 * Maps readings of a file to changes.
 *
 * Promises: unchanged text emits nothing, and an invalid text never replaces a valid one; each
 * problem is emitted once.
 */
import { distinctUntilChanged, map, type OperatorFunction } from 'rxjs';
import type { Parsed, TextChange, TextReading } from '../domain/text-file.ts';

const same = (before: TextReading, now: TextReading): boolean =>
  before._tag === 'Text'
    ? now._tag === 'Text' && before.text === now.text
    : now._tag === 'Unreadable' && before.problem === now.problem;

/** Keeps what is new in readings of a file, judged by `parse`. */
export const textChanges = <Value>(
  parse: (text: string) => Parsed<Value>,
): OperatorFunction<TextReading, TextChange<Value>> =>
(readings) =>
  readings.pipe(
    distinctUntilChanged(same),
    map((reading): TextChange<Value> => {
      if (reading._tag === 'Unreadable') return { _tag: 'Kept', problem: reading.problem };
      const parsed = parse(reading.text);
      return parsed._tag === 'Good'
        ? { _tag: 'Accepted', value: parsed.value }
        : { _tag: 'Kept', problem: parsed.problem };
    }),
  );
