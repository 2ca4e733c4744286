/** Reads a text file that a person maintains, without validating its content. */
import { readFile } from 'node:fs/promises';
import { Effect } from 'effect';
import type { TextReading } from '../domain/text-file.ts';
import { limitedRead } from './limited-read.ts';

/** A mounted ConfigMap is in memory; more time means a disk that does not answer. */
const READ_MS_MAX = 10_000;

/** The text of the file at `path`, or the problem. Never fails; create it once for each file. */
export const readTextFile = (path: string): Effect.Effect<TextReading> =>
  limitedRead({
    read: () => readFile(path, 'utf8'),
    limitMs: READ_MS_MAX,
    problemOf: (cause) => cause instanceof Error ? cause.message : String(cause),
  }).pipe(
    Effect.match({
      onSuccess: (text): TextReading => ({ _tag: 'Text', text }),
      onFailure: (problem): TextReading => ({
        _tag: 'Unreadable',
        problem: `Cannot read "${path}": ${problem}`,
      }),
    }),
  );
