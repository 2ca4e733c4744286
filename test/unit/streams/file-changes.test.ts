/** Files that people and mounts replace: of many readings only changes count. */
import fc from 'fast-check';
import { from, toArray } from 'rxjs';
import { expect, test } from 'vitest';
import type { CredentialsChange, CredentialsReading } from '../../../src/domain/credentials.ts';
import type { TextChange, TextReading } from '../../../src/domain/text-file.ts';
import { credentialChanges } from '../../../src/streams/credential-changes.ts';
import { textChanges } from '../../../src/streams/text-changes.ts';

/** Capital letters are invalid. */
const changesOf = (readings: readonly TextReading[]): readonly TextChange<string>[] => {
  let changes: readonly TextChange<string>[] = [];
  from(readings).pipe(
    textChanges((text) =>
      text === text.toLowerCase()
        ? { _tag: 'Good', value: `${text}!` }
        : { _tag: 'Bad', problem: `"${text}" is loud` }
    ),
    toArray(),
  ).subscribe((all) => (changes = all));
  return changes;
};

const textReading = fc.oneof(
  fc.constantFrom('a', 'b', 'A').map((text): TextReading => ({ _tag: 'Text', text })),
  fc.constantFrom('a', 'gone').map((problem): TextReading => ({ _tag: 'Unreadable', problem })),
);

const changeOf = (reading: TextReading): TextChange<string> => {
  if (reading._tag === 'Unreadable') return { _tag: 'Kept', problem: reading.problem };
  return reading.text === 'A'
    ? { _tag: 'Kept', problem: '"A" is loud' }
    : { _tag: 'Accepted', value: `${reading.text}!` };
};

test('a text file has one change for each reading that differs from the one before', () => {
  fc.assert(fc.property(fc.array(textReading), (readings) => {
    const differing = readings.filter((reading, index) =>
      JSON.stringify(reading) !== JSON.stringify(readings[index - 1])
    );
    expect(changesOf(readings)).toEqual(differing.map(changeOf));
  }));
});

test('a text file that is empty for one reading is written in place, and has not changed', () => {
  const full: TextReading = { _tag: 'Text', text: 'a' };
  const empty: TextReading = { _tag: 'Text', text: '' };
  expect(changesOf([full, empty, full])).toHaveLength(1);
  expect(changesOf([full, empty, empty]).at(-1)).toEqual({ _tag: 'Accepted', value: '!' });
  expect(changesOf([empty])).toHaveLength(1);
});

const pairOf = (fingerprint: string) => ({
  certificate: 'c',
  key: 'k',
  authority: 'a',
  fingerprint,
});
const keyReading = fc.oneof(
  fc.constantFrom('1', '2').map((fingerprint): CredentialsReading => ({
    _tag: 'Usable',
    pair: pairOf(fingerprint),
  })),
  fc.constantFrom('p', 'q').map((problem): CredentialsReading => ({ _tag: 'Unusable', problem })),
);

/** What a reader of all earlier readings would say of the last one. */
const keyChangeAt = (readings: readonly CredentialsReading[]): readonly CredentialsChange[] => {
  const earlier = readings.slice(0, -1);
  const last = readings.at(-1);
  const pair = earlier.findLast(({ _tag }) => _tag === 'Usable');
  if (last === undefined) return [];
  if (last._tag === 'Usable') {
    const isKnown = pair?._tag === 'Usable' && pair.pair.fingerprint === last.pair.fingerprint;
    return isKnown ? [] : [{ _tag: 'Accepted', pair: last.pair }];
  }
  const before = earlier.at(-1);
  if (before?._tag === 'Unusable' && before.problem === last.problem) return [];
  return [{ _tag: pair === undefined ? 'Refused' : 'Kept', problem: last.problem }];
};

test('wire 8: a key pair is accepted once, and kept whatever the files say later', () => {
  fc.assert(fc.property(fc.array(keyReading), (readings) => {
    let changes: readonly CredentialsChange[] = [];
    from(readings).pipe(credentialChanges(), toArray()).subscribe((all) => (changes = all));
    const expected = readings.flatMap((_, index) => keyChangeAt(readings.slice(0, index + 1)));
    expect(changes).toEqual(expected);
  }));
});
