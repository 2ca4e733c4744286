/** Prints explanations: the summary first, then its details. */
import { WHO } from '../domain/reason.ts';
import { quoted } from '../domain/text.ts';
import { age, type Explanation, isOurs, type TimelineEntry } from './explanation.ts';
import { oneLine } from './table.ts';
import { sentenceLines } from './wrapped-text.ts';

/** Print options. */
export interface TextOptions {
  readonly nowMs: number;
  readonly colors: boolean;
  /** The width to wrap at; by default lines are as long as their texts. */
  readonly columns?: number;
}

/** A narrower column is no help. */
const TEXT_MIN = 30;

const BOLD = '\u001b[1m';
const YELLOW = '\u001b[33m';
const PLAIN = '\u001b[0m';

const INDENT = '  ';
const GAP = '  ';

/** Names in a column, and their texts, wrapped, in the next. */
const rows = (
  pairs: readonly (readonly [string, string])[],
  columns: number,
): readonly string[] => {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  const left = INDENT.length + width + GAP.length;
  return pairs.flatMap(([name, text]) => {
    const line = oneLine(text);
    const room = Math.max(TEXT_MIN, columns - left);
    const [first = '', ...more] = line.length <= room ? [line] : sentenceLines(line, room);
    return [
      `${INDENT}${name.padEnd(width)}${GAP}${first}`,
      ...more.map((line) => ' '.repeat(left) + line),
    ];
  });
};

const timelineRow = (event: TimelineEntry, nowMs: number): readonly [string, string] => {
  const ago = age(event.time, nowMs);
  const times = event.count > 1 ? ` (${event.count} times)` : '';
  const when = ago === undefined ? 'some time ago' : `${ago} ago`;
  const by = isOurs(event) ? '' : ` from ${quoted(event.reporter)}`;
  return [when, `${event.type} ${event.reason}${times}${by}: ${event.note}`];
};

/** The explanation as text that ends in a line break. */
export const explanationText = (explanation: Explanation, options: TextOptions): string => {
  const { columns = Number.POSITIVE_INFINITY } = options;
  const paint = (code: string, text: string) => options.colors ? `${code}${text}${PLAIN}` : text;
  const { kind, name, state, canAct, action, runbook, problems, details, events } = explanation;
  const who = canAct === 'nobody' ? WHO.nobody : `${WHO[canAct]}: ${action}`;
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', paint(BOLD, title), ...lines];
  return [
    `${paint(BOLD, `${kind} ${oneLine(name)}`)}: ${paint(BOLD, oneLine(state))}`,
    ...rows([
      ['What', explanation.what],
      ['Why', explanation.why],
      ['Waits for', explanation.waitsFor],
      ['Can act', who],
      ...(runbook === '' ? [] : [['Runbook', runbook] as const]),
    ], columns),
    ...section(
      'Fields to correct',
      problems.map(({ field, problem, remedy }) =>
        `  ${paint(YELLOW, oneLine(field))} ${oneLine(problem)}. ${oneLine(remedy)}`
      ),
    ),
    ...section('Details', rows(details.map(({ name, value }) => [name, value]), columns)),
    ...section(
      'Events, newest first',
      rows(events.map((event) => timelineRow(event, options.nowMs)), columns),
    ),
    '',
  ].join('\n');
};
