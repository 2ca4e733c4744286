/** Drains as records: their columns, and what counts as a change of one. */
import { drainVerdict } from '../../domain/drain/verdict.ts';
import type { DrainStatus } from '../../view/drain-status.ts';
import { statusColumns } from '../../view/drain-status-table.ts';
import type { StatusFormat } from './drain-request.ts';
import { type RecordKind, type RecordPrinter, recordPrinter } from '../terminal/record-printer.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Prints changing drains. */
export type DrainPrinter = RecordPrinter<DrainStatus>;

/** Nothing holds the pods of a Node that was deleted; `left` is how many were on it. */
const goneDrain = (last: DrainStatus): DrainStatus => ({
  ...last,
  state: 'Gone',
  secondsLeft: null,
  pods: { left: last.pods.left, leaving: 0, blocked: 0 },
  tiers: [],
  budgets: [],
  blockers: [],
  waits: [],
  verdict: drainVerdict({
    state: 'Gone',
    left: last.pods.left,
    leaving: 0,
    blocked: [],
    lastError: '',
    schedulable: false,
    cordonedByPerson: false,
  }),
});

/** The records of `tidegate drain status`. */
export const DRAIN_RECORDS: RecordKind<DrainStatus> = {
  command: 'tidegate drain status --watch',
  empty: 'No node is drained',
  columns: statusColumns,
  keyOf: ({ node }) => node,
  // Without the times that always change: what remains, and how long a pod has been terminating.
  stateOf: ({ secondsLeft: _, ...drain }) =>
    JSON.stringify(drain).replaceAll(/terminating for \d+ s/gu, 'terminating'),
  gone: goneDrain,
  nameOf: ({ node }) => `node/${node}`,
};

/** A printer for this terminal. */
export const drainPrinter = (terminal: Terminal, format: StatusFormat): DrainPrinter =>
  recordPrinter(terminal, DRAIN_RECORDS, format);
