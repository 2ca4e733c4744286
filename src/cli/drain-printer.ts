/**
 * Prints changing drains on a terminal or into a pipe.
 *
 * Promises: a terminal shows the whole table on a screen of its own, and keeps the last one; a pipe
 * gets one line (JSON: one document per line) for each drain that is new, changed or gone, without
 * duplicates. Each says when.
 */
import { stringify } from 'yaml';
import { rfc3339 } from '../domain/time.ts';
import type { DrainStatus } from '../view/drain-status.ts';
import { statusColumns } from '../view/drain-status-table.ts';
import { type Column, columnWidths, headingLine, rowLine, tableText } from '../view/table.ts';
import type { StatusFormat } from './drain-request.ts';
import { makeScreen } from './screen.ts';
import type { Terminal } from './terminal.ts';

/** Receives all drains at a time. */
type PrintDrains = (drains: readonly DrainStatus[], nowMs: number) => void;

/** Prints changing drains. */
export interface DrainPrinter {
  readonly show: PrintDrains;
  /** One line for the user. */
  readonly report: (line: string) => void;
  readonly close: () => void;
}

/** The identity of a drain's state, without the remaining time. */
const identityOf = ({ secondsLeft: _, ...drain }: DrainStatus): string => JSON.stringify(drain);

const secondsText = (nowMs: number): string => `${rfc3339(nowMs).slice(0, 19)}Z`;

const drawing = (terminal: Terminal, wide: boolean): DrainPrinter => {
  const screen = makeScreen(terminal);
  const reported: string[] = [];
  let last = '';
  return {
    show: (drains, nowMs) => {
      last = drains.length === 0
        ? 'No node is drained\n'
        : tableText(statusColumns(nowMs, wide), drains);
      const heading = `${secondsText(nowMs)}  tidegate drain status --watch (Ctrl-C ends it)`;
      screen.show([heading, '', ...last.trimEnd().split('\n'), '', ...reported.slice(-1)]);
    },
    report: (line) => void reported.push(line),
    close: () => {
      screen.close();
      terminal.print(last);
      for (const line of reported) terminal.report(line);
    },
  };
};

/** A line for each drain; columns are as wide as the first drains need. */
const lining = (terminal: Terminal, wide: boolean): PrintDrains => {
  let widths: readonly number[] | undefined;
  return (drains, nowMs) => {
    const time: Column<DrainStatus> = { heading: 'TIME', cell: () => secondsText(nowMs) };
    const columns = [time, ...statusColumns(nowMs, wide)];
    if (widths === undefined) {
      widths = columnWidths(columns, drains);
      terminal.print(`${headingLine(columns, widths)}\n`);
    }
    for (const drain of drains) terminal.print(`${rowLine(columns, widths, drain)}\n`);
  };
};

const documents = (terminal: Terminal, format: 'json' | 'yaml'): PrintDrains => (drains, nowMs) => {
  for (const drain of drains) {
    const dated = { at: secondsText(nowMs), ...drain };
    terminal.print(format === 'json' ? `${JSON.stringify(dated)}\n` : `---\n${stringify(dated)}`);
  }
};

const names = (terminal: Terminal): PrintDrains => (drains) => {
  for (const { node } of drains) terminal.print(`node/${node}\n`);
};

/** Passes drains that are new, changed or, for a last time, gone. */
const changesOnly = (terminal: Terminal, print: PrintDrains): DrainPrinter => {
  let printed = new Map<string, { readonly drain: DrainStatus; readonly identity: string }>();
  return {
    show: (drains, nowMs) => {
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
    },
    report: terminal.report,
    close: () => {},
  };
};

/** A printer for this terminal. */
export const drainPrinter = (terminal: Terminal, format: StatusFormat): DrainPrinter => {
  const wide = format === 'wide';
  if (format === 'json' || format === 'yaml') {
    return changesOnly(terminal, documents(terminal, format));
  }
  if (format === 'name') return changesOnly(terminal, names(terminal));
  return terminal.interactive
    ? drawing(terminal, wide)
    : changesOnly(terminal, lining(terminal, wide));
};
