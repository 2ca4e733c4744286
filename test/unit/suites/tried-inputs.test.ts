/** Results that are not found again while nothing has changed that they depend on. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseJson } from '../../../src/domain/json.ts';
import { inputDigest, triedInputs, type Try } from '../../../tools/suites/tried-inputs.ts';

const BACKOFF: Try = { name: 'backoff', entries: ['src/domain/backoff.ts'] };
const DRAIN: Try = { name: 'drain', entries: ['src/machines/node-drain.ts'] };

const file = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-tried-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'tried.json');
};

const namesOf = (tries: readonly Try[]): readonly string[] => tries.map(({ name }) => name);

it('a digest depends on the entries, on what they import, and on further texts', () => {
  const digest = inputDigest(DRAIN);
  expect(inputDigest(DRAIN)).toBe(digest);
  expect(inputDigest({ ...DRAIN, entries: BACKOFF.entries })).not.toBe(digest);
  expect(inputDigest({ ...DRAIN, texts: ['a row'] })).not.toBe(digest);
  expect(inputDigest({ ...DRAIN, without: ['src/domain/'] })).not.toBe(digest);
  // A test by its path, a package by its name.
  const surge = ['src/actors/interceptors/interceptors-role.ts'];
  const packages = inputDigest({ name: 'surge', entries: surge });
  expect(inputDigest({ name: 'surge', entries: surge, without: ['packages/'] }))
    .not.toBe(packages);
});

it('a try without a record is made, and one with a record of the same inputs is not', () => {
  const path = file();
  expect(namesOf(triedInputs(path).changed([BACKOFF, DRAIN]))).toEqual(['backoff', 'drain']);
  triedInputs(path).record([BACKOFF, DRAIN], new Set(['backoff']));
  expect(namesOf(triedInputs(path).changed([BACKOFF, DRAIN]))).toEqual(['drain']);
  const changed = { ...BACKOFF, texts: ['changed'] };
  expect(namesOf(triedInputs(path).changed([changed]))).toEqual(['backoff']);
});

it('a try that failed is recorded no more, and others keep their records', () => {
  const path = file();
  triedInputs(path).record([BACKOFF, DRAIN], new Set(['backoff', 'drain']));
  triedInputs(path).record([DRAIN], new Set());
  expect(Object.keys(parseJson(readFileSync(path, 'utf8')) ?? {})).toEqual(['backoff']);
});
