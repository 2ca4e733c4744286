/**
 * Prints changing records on a terminal or into a pipe.
 *
 * Promises: a terminal shows the whole table on a screen of its own, and keeps the last one; a pipe
 * gets one line (JSON: one document per line) for each record that is new, changed or gone, without
 * duplicates. Each says when.
 */
import { stringify } from 'yaml';
import { rfc3339Seconds } from '../../domain/time.ts';
import { type Column, columnWidths, headingLine, rowLine, tableText } from '../../view/table.ts';
import { jsonText } from './json-text.ts';
import { makeScreen } from './screen.ts';
import type { Terminal } from './terminal.ts';

/** Formats of records. */
export type RecordFormat = 'table' | 'wide' | 'name' | 'json' | 'yaml';

/** Receives all records at a time. */
type PrintRecords<Row> = (rows: readonly Row[], nowMs: number) => void;

/** The record of an object that exists and is in no row; undefined when it does not exist. */
type Unlisted<Row> = (key: string) => Row | undefined;

/** Prints changing records. */
export interface RecordPrinter<Row> {
  readonly show: (rows: readonly Row[], nowMs: number, unlisted?: Unlisted<Row>) => void;
  /** One line for the user. */
  readonly report: (line: string) => void;
  readonly close: () => void;
}

/** One kind of records. */
export interface RecordKind<Row> {
  /** Such as `tidegate drain status --watch`: above the table of a terminal. */
  readonly command: string;
  /** Printed in place of an empty table. */
  readonly empty: string;
  readonly columns: (nowMs: number, wide: boolean) => readonly Column<Row>[];
  /** The object of a record. */
  readonly keyOf: (row: Row) => string;
  /** The state of a record: the same text means that nothing has changed. */
  readonly stateOf: (row: Row) => string;
  /** The record of an object that is gone, from its last one. */
  readonly gone: (last: Row) => Row;
  /** As `kubectl -o name` prints it. */
  readonly nameOf: (row: Row) => string;
}

const drawing = <Row>(
  terminal: Terminal,
  kind: RecordKind<Row>,
  wide: boolean,
): RecordPrinter<Row> => {
  const screen = makeScreen(terminal);
  const drawn: string[] = [];
  let heading = '';
  let last = '';
  // The message is above the table, which may be longer than the terminal.
  const draw = (): void =>
    screen.show([heading, ...drawn.slice(-1), '', ...last.trimEnd().split('\n')]);
  return {
    show: (rows, nowMs) => {
      last = rows.length === 0 ? `${kind.empty}\n` : tableText(kind.columns(nowMs, wide), rows);
      heading = `${rfc3339Seconds(nowMs)}  ${kind.command} (Ctrl-C ends it)`;
      draw();
    },
    report: (line) => {
      // Without a table to be above, it is all that there is to see.
      if (heading === '') return terminal.report(line);
      drawn.push(line);
      draw();
    },
    close: () => {
      screen.close();
      terminal.print(last);
      for (const line of drawn) terminal.report(line);
    },
  };
};

/** A line for each record; columns are as wide as the first records need. */
const lining = <Row>(
  terminal: Terminal,
  kind: RecordKind<Row>,
  wide: boolean,
): PrintRecords<Row> => {
  let widths: readonly number[] | undefined;
  return (rows, nowMs) => {
    const time: Column<Row> = { heading: 'TIME', cell: () => rfc3339Seconds(nowMs) };
    const columns = [time, ...kind.columns(nowMs, wide)];
    if (widths === undefined) {
      widths = columnWidths(columns, rows);
      terminal.print(`${headingLine(columns, widths)}\n`);
    }
    for (const row of rows) terminal.print(`${rowLine(columns, widths, row)}\n`);
  };
};

const documents =
  <Row>(terminal: Terminal, format: 'json' | 'yaml'): PrintRecords<Row> => (rows, nowMs) => {
    for (const row of rows) {
      const dated = { at: rfc3339Seconds(nowMs), ...row };
      terminal.print(format === 'json' ? `${JSON.stringify(dated)}\n` : `---\n${stringify(dated)}`);
    }
  };

/** Passes records that are new, changed or, for a last time, no longer in the rows or gone. */
const changesOnly = <Row>(
  terminal: Terminal,
  { keyOf, stateOf, gone }: RecordKind<Row>,
  print: PrintRecords<Row>,
): RecordPrinter<Row> => {
  let printed = new Map<string, { readonly row: Row; readonly state: string }>();
  return {
    show: (rows, nowMs, unlisted) => {
      const now = new Map(rows.map((row) => [keyOf(row), { row, state: stateOf(row) }]));
      const changed = rows.filter((row) =>
        now.get(keyOf(row))?.state !== printed.get(keyOf(row))?.state
      );
      const left = [...printed].filter(([key]) => !now.has(key))
        .map(([key, { row }]) => unlisted?.(key) ?? gone(row));
      printed = now;
      if (changed.length + left.length > 0) print([...changed, ...left], nowMs);
    },
    report: terminal.report,
    close: () => {},
  };
};

/** A printer for this terminal. */
export const recordPrinter = <Row>(
  terminal: Terminal,
  kind: RecordKind<Row>,
  format: RecordFormat,
): RecordPrinter<Row> => {
  const wide = format === 'wide';
  if (format === 'json' || format === 'yaml') {
    return changesOnly(terminal, kind, documents(terminal, format));
  }
  if (format === 'name') {
    return changesOnly(terminal, kind, (rows) => {
      for (const row of rows) terminal.print(`${kind.nameOf(row)}\n`);
    });
  }
  return terminal.interactive
    ? drawing(terminal, kind, wide)
    : changesOnly(terminal, kind, lining(terminal, kind, wide));
};

/** Records printed once. */
export const recordsText = <Row>(
  rows: readonly Row[],
  kind: Pick<RecordKind<Row>, 'columns' | 'nameOf'>,
  { format, nowMs }: { readonly format: RecordFormat; readonly nowMs: number },
): string => {
  if (format === 'json') return jsonText({ items: rows });
  if (format === 'yaml') return stringify({ items: rows });
  if (format === 'name') return rows.map((row) => `${kind.nameOf(row)}\n`).join('');
  return tableText(kind.columns(nowMs, format === 'wide'), rows);
};
