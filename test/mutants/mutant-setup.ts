/**
 * Set-up of a test file on instrumented sources: answers whether a mutation is the active one, and
 * records which mutations the file reaches.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { WHILE_LOADING } from './reach-marks.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The id of the active mutation; empty when the sources are as they are. */
    readonly activeMutant: string;
    /** Where the reached mutations of each test file are written; empty when nowhere. */
    readonly reachedFolder: string;
  }
}

/** A mutation that is asked for more often keeps the test in a loop. */
const QUESTIONS_MAX = 200_000;

const active = inject('activeMutant');
const folder = inject('reachedFolder');
const reached = new Set<string>();
/** Of a worker's files only the first to load a module reaches what runs while it loads. */
let whileLoading = WHILE_LOADING;
let questions = 0;

const isMutant = (id: string): boolean => {
  if (folder !== '') reached.add(`${whileLoading}${id}`);
  if (id !== active) return false;
  questions += 1;
  if (questions > QUESTIONS_MAX) throw new Error('The mutation does not end');
  return true;
};
Reflect.set(globalThis, 'isMutant', isMutant);

beforeAll(() => {
  whileLoading = '';
});

afterAll(() => {
  if (folder === '') return;
  const { testPath = '' } = expect.getState();
  writeFileSync(join(folder, encodeURIComponent(testPath)), [...reached].join('\n'));
});
