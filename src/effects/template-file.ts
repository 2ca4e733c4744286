/** Reads the bootstrap template's file without validating its content. */
import { readFile } from 'node:fs/promises';
import { Effect } from 'effect';
import type { TextReading } from '../domain/text-file.ts';

/** The text of the file at `path`, or the problem. Never fails. */
export const readTextFile = (path: string): Effect.Effect<TextReading> =>
  Effect.tryPromise({
    try: () => readFile(path, 'utf8'),
    catch: (cause) => cause instanceof Error ? cause.message : String(cause),
  }).pipe(
    Effect.match({
      onSuccess: (text): TextReading => ({ _tag: 'Text', text }),
      onFailure: (problem): TextReading => ({
        _tag: 'Unreadable',
        problem: `Cannot read "${path}": ${problem}`,
      }),
    }),
  );
