/**
 * Drains that change, on a terminal or down a pipe.
 *
 * Promises: a person sees the whole table, drawn over the one before; a program gets one line
 * (JSON: one document a line) for each drain that is new, changed or gone, and none twice.
 */
import { stringify } from 'yaml';
import type { DrainStatus } from '../view/drain-status.ts';
import { statusColumns } from '../view/drain-status-table.ts';
import { columnWidths, headingLine, rowLine, tableText } from '../view/table.ts';
import type { StatusFormat } from './drain-request.ts';
import type { Terminal } from './terminal.ts';

/** Takes all drains as they are at a time. */
export type DrainPrinter = (drains: readonly DrainStatus[], nowMs: number) => void;

/** Cursor to the top, and nothing below it. */
const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

/** What makes a drain another one; the time that is left does not. */
const identityOf = ({ secondsLeft: _, ...drain }: DrainStatus): string => JSON.stringify(drain);

const drawing = (terminal: Terminal, wide: boolean): DrainPrinter => (drains, nowMs) => {
  const table = drains.length === 0
    ? 'No node is drained\n'
    : tableText(statusColumns(nowMs, wide), drains);
  terminal.print(`${CLEAR}${table}`);
};

/** A line for each drain; the columns are as wide as the first drains need. */
const lining = (terminal: Terminal, wide: boolean) => {
  let widths: readonly number[] | undefined;
  return (drains: readonly DrainStatus[], nowMs: number): void => {
    const columns = statusColumns(nowMs, wide);
    if (widths === undefined) {
      widths = columnWidths(columns, drains);
      terminal.print(`${headingLine(columns, widths)}\n`);
    }
    for (const drain of drains) terminal.print(`${rowLine(columns, widths, drain)}\n`);
  };
};

const documents = (terminal: Terminal, format: 'json' | 'yaml'): DrainPrinter => (drains) => {
  for (const drain of drains) {
    terminal.print(format === 'json' ? `${JSON.stringify(drain)}\n` : `---\n${stringify(drain)}`);
  }
};

/** Lets through what is new, what changed and, for a last time, what is gone. */
const changesOnly = (print: DrainPrinter): DrainPrinter => {
  let printed = new Map<string, { readonly drain: DrainStatus; readonly identity: string }>();
  return (drains, nowMs) => {
    const now = new Map(
      drains.map((drain) => [drain.node, { drain, identity: identityOf(drain) }]),
    );
    const changed = drains.filter(({ node }) =>
      now.get(node)?.identity !== printed.get(node)?.identity
    );
    const gone = [...printed.values()].filter(({ drain }) => !now.has(drain.node))
      .map(({ drain }): DrainStatus => ({ ...drain, state: 'Gone', secondsLeft: null }));
    printed = now;
    if (changed.length + gone.length > 0) print([...changed, ...gone], nowMs);
  };
};

/** A printer for the terminal at hand. */
export const drainPrinter = (terminal: Terminal, format: StatusFormat): DrainPrinter => {
  const wide = format === 'wide';
  if (format === 'json' || format === 'yaml') return changesOnly(documents(terminal, format));
  return terminal.interactive ? drawing(terminal, wide) : changesOnly(lining(terminal, wide));
};
