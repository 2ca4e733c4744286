/**
 * Splits the bytes of a watch into lines, grouped by network chunk.
 *
 * Promises: a chunk without a complete line gives an empty list, so that progress is visible; a
 * line that is not a JSON object, exceeds the limit, or is truncated throws.
 */
import { asRecord, parseJson, textAt } from '../domain/json.ts';
import type { WatchLine } from './kube-api.ts';

/** etcd refuses objects far smaller than this. */
const WATCH_LINE_BYTES_MAX = 32 * 1024 * 1024;

const lineOf = (text: string): WatchLine => {
  const line = asRecord(parseJson(text));
  const type = textAt(line, 'type');
  if (line === undefined || type === undefined) {
    throw new Error('a line of the watch is not an event');
  }
  return { type, object: line['object'] };
};

/** The lines of `chunks`. */
export async function* watchLines(
  chunks: AsyncIterable<Uint8Array>,
  limit = WATCH_LINE_BYTES_MAX,
): AsyncGenerator<readonly WatchLine[]> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let pending = 0;
  for await (const chunk of chunks) {
    const texts = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = texts.pop() ?? '';
    const lines: WatchLine[] = [];
    for (const text of texts) {
      const whole = pieces.length === 0 ? text : pieces.join('') + text;
      pieces = [];
      pending = 0;
      if (whole.length > limit) throw new Error(`a line of the watch is longer than ${limit}`);
      if (whole !== '') lines.push(lineOf(whole));
    }
    if (rest !== '') pieces.push(rest);
    pending += rest.length;
    if (pending > limit) throw new Error(`a line of the watch is longer than ${limit}`);
    yield lines;
  }
  if (pending > 0) throw new Error('the watch ended in the middle of a line');
}
