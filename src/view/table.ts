/**
 * Tables as kubectl prints them: a heading line, then one line per record.
 *
 * Promises: a record never spans two lines; no trailing spaces; an empty cell prints as `-`, so
 * that programs can split lines into columns.
 */

import { cellWidth, paddedToCells } from './cell-width.ts';

/** A column: its heading and the cell of a record. */
export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
}

const GAP = '   ';
const NOTHING = '-';

/** Text of other origin must not move the cursor, change colours or begin a line. */
export const oneLine = (text: string): string =>
  // deno-lint-ignore no-control-regex
  text.replaceAll(/\s*[\r\n]+\s*/g, ' ').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');

const cellText = (text: string): string => oneLine(text) || NOTHING;

/** The minimum width of each column; a table printed line by line keeps it. */
export const columnWidths = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly number[] =>
  columns.map(({ heading, cell }) =>
    Math.max(heading.length, ...rows.map((row) => cellWidth(cellText(cell(row)))))
  );

const lineOf = (cells: readonly string[], widths: readonly number[]): string =>
  cells.map((cell, at) => paddedToCells(cell, widths[at] ?? 0)).join(GAP).trimEnd();

/** The heading line. */
export const headingLine = <Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
): string => lineOf(columns.map(({ heading }) => heading), widths);

/** The line of one record. */
export const rowLine = <Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  row: Row,
): string => lineOf(columns.map(({ cell }) => cellText(cell(row))), widths);

/** The whole table; every line ends in a line break. */
export const tableText = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string => {
  const widths = columnWidths(columns, rows);
  return [headingLine(columns, widths), ...rows.map((row) => rowLine(columns, widths, row)), '']
    .join('\n');
};
