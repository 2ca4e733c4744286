/**
 * Prints a requested eviction: what was done, and its progress.
 *
 * Promises: stdout has one line, or one document, for each change; the same progress is printed
 * once.
 */
import { stringify } from 'yaml';
import { listed, quoted } from '../../domain/text.ts';
import { rfc3339Seconds } from '../../domain/time.ts';
import type { RequesterChange } from '../../effects/eviction-requesters.ts';
import { type EvictionStatus, resourceName } from '../../view/eviction-status.ts';
import { oneLine } from '../../view/table.ts';
import type { EvictFormat } from './evictions-request.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Requesters that one line shows. */
const REQUESTERS_MAX = 5;

const VERBS: Readonly<Record<RequesterChange, string>> = {
  Created: 'created',
  Joined: 'joined',
  Replaced: 'replaced',
  AlreadyRequested: 'unchanged',
  Withdrawn: 'withdrawn',
};

const changeLine = (
  change: RequesterChange,
  { kind, namespace, name, pod, requesters }: EvictionStatus,
): string => {
  const asked = requesters.length === 0
    ? 'nobody asks any more'
    : `asked to leave by ${listed(requesters, REQUESTERS_MAX)}`;
  return `${kind.toLowerCase()}/${name} ${VERBS[change]}: pod ${quoted(`${namespace}/${pod}`)} ${
    requesters.length === 0 ? 'may stay, ' : 'is '
  }${asked}`;
};

/** Prints in one format. */
export interface EvictPrinter {
  readonly changed: (change: RequesterChange, status: EvictionStatus) => void;
  readonly progressed: (status: EvictionStatus, nowMs: number) => void;
}

const document = (format: 'json' | 'yaml', value: object): string =>
  format === 'json' ? `${JSON.stringify(value)}\n` : `---\n${stringify(value)}`;

/** A printer for this terminal. */
export const evictPrinter = (terminal: Terminal, format: EvictFormat): EvictPrinter => {
  let last = '';
  return {
    changed: (change, status) => {
      if (format === 'text') return terminal.print(`${changeLine(change, status)}\n`);
      if (format === 'name') return terminal.print(`${resourceName(status)}\n`);
      terminal.print(document(format, { outcome: change, ...status }));
    },
    progressed: (status, nowMs) => {
      const { phase, sentence, waitsFor } = status;
      const state = format === 'text' ? `${phase} ${sentence}` : JSON.stringify(status);
      if (state === last || format === 'name') return;
      last = state;
      const at = rfc3339Seconds(nowMs);
      const waits = waitsFor.startsWith('Nothing') ? '' : `. Waits for: ${waitsFor}`;
      terminal.print(
        format === 'text'
          ? `${at}  ${phase}  ${oneLine(`${sentence}${waits}`)}\n`
          : document(format, { at, ...status }),
      );
    },
  };
};
