/**
 * Prints changing drains on a terminal or into a pipe.
 *
 * Promises: a terminal shows the whole table, redrawn in place; a pipe gets one line (JSON: one
 * document per line) for each drain that is new, changed or gone, without duplicates.
 */
import { stringify } from 'yaml';
import type { DrainStatus } from '../view/drain-status.ts';
import { statusColumns } from '../view/drain-status-table.ts';
import { columnWidths, headingLine, rowLine, tableText } from '../view/table.ts';
import type { StatusFormat } from './drain-request.ts';
import type { Terminal } from './terminal.ts';

/** Receives all drains at a time. */
export type DrainPrinter = (drains: readonly DrainStatus[], nowMs: number) => void;

/** Moves the cursor to the top and clears the screen below. */
const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

/** The identity of a drain's state, without the remaining time. */
const identityOf = ({ secondsLeft: _, ...drain }: DrainStatus): string => JSON.stringify(drain);

const drawing = (terminal: Terminal, wide: boolean): DrainPrinter => (drains, nowMs) => {
  const table = drains.length === 0
    ? 'No node is drained\n'
    : tableText(statusColumns(nowMs, wide), drains);
  terminal.print(`${CLEAR}${table}`);
};

/** A line for each drain; columns are as wide as the first drains need. */
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

/** Passes drains that are new, changed or, for a last time, gone. */
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

/** A printer for this terminal. */
export const drainPrinter = (terminal: Terminal, format: StatusFormat): DrainPrinter => {
  const wide = format === 'wide';
  if (format === 'json' || format === 'yaml') return changesOnly(documents(terminal, format));
  return terminal.interactive ? drawing(terminal, wide) : changesOnly(lining(terminal, wide));
};
