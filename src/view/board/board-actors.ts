/**
 * The actors of a process as the drain board needs them.
 *
 * Promises: one pass over all actors; total, because the data of a recording may be of another
 * version.
 */
import type { ActorBoard, ActorRow } from '../../api/actor-board.ts';
import { REASONS } from '../../api/reasons.ts';
import { type Budget, isProcessed } from '../../domain/drain/budget.ts';
import { neverAllows } from '../../domain/drain/closed-budget.ts';
import { severityOf } from '../../domain/drain/verdict.ts';
import { listOrEmptyAt, numberAt, textAt, valueAt } from '../../domain/json.ts';
import { needsPerson } from './board-verdict.ts';

/** The rows and the data of all actors. */
export type BoardSource = Pick<ActorBoard, 'rows' | 'context'>;

/** An actor with its data. */
export interface BoardActor extends ActorRow {
  readonly context: unknown;
}

/** A pod that must leave, or has left. */
export interface BoardPod {
  readonly id: string;
  readonly uid: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly node: string;
  /** The key of the budget that it needs a slot of; empty without one. */
  readonly budget: string;
  readonly row: ActorRow;
}

/** A budget and its queue. */
export interface BoardBudget {
  readonly row: ActorRow;
  readonly budget: Budget;
  readonly queue: readonly string[];
  /** Slots that evictions hold beyond the status of the budget. */
  readonly reservations: number;
  /** It is closed until a person changes it. */
  readonly neverAllows: boolean;
}

/** The actors of the board, by kind. */
export interface BoardActors {
  readonly drains: readonly BoardActor[];
  readonly podsByNode: ReadonlyMap<string, readonly BoardPod[]>;
  readonly podsByUid: ReadonlyMap<string, BoardPod>;
  readonly budgets: ReadonlyMap<string, BoardBudget>;
  readonly machines: readonly BoardActor[];
  readonly evictionRequests: readonly BoardActor[];
  /** Those that a process has one or few of, and others with a problem and no card of their own. */
  readonly others: readonly BoardActor[];
}

const TEXTS = ['key', 'namespace', 'name'];
const NUMBERS = [
  ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
  ...['generation', 'observedGeneration'],
];

const isBudget = (value: unknown): value is Budget =>
  TEXTS.every((field) => textAt(value, field) !== undefined) &&
  NUMBERS.every((field) => numberAt(value, field) !== undefined) &&
  textAt(value, 'syncProblem') !== undefined && valueAt(value, 'limit') !== undefined;

/** The budget in the data of its actor; `undefined` without one. */
export const budgetIn = (context: unknown): Budget | undefined => {
  const found = valueAt(context, 'budget');
  return isBudget(found) ? found : undefined;
};

/** The key of the budget that the pod of an eviction needs a slot of; empty without one. */
export const neededBudget = (context: unknown): string =>
  valueAt(context, 'facts', 'need', '_tag') === 'One'
    ? textAt(context, 'facts', 'need', 'budget') ?? ''
    : '';

const podOf = (row: ActorRow, context: unknown): BoardPod => ({
  id: row.id,
  uid: textAt(context, 'uid') ?? '',
  key: textAt(context, 'key') ?? row.id,
  node: textAt(context, 'node') ?? '',
  budget: neededBudget(context),
  row,
});

const budgetOf = (row: ActorRow, context: unknown): BoardBudget | undefined => {
  const budget = budgetIn(context);
  if (budget === undefined) return undefined;
  return {
    row,
    budget,
    queue: listOrEmptyAt(context, 'queue').filter((uid) => typeof uid === 'string'),
    reservations: listOrEmptyAt(context, 'reservations').length,
    neverAllows: isProcessed(budget) && neverAllows(budget),
  };
};

/** Their health is there without a problem, too. */
const ALWAYS: ReadonlySet<string> = new Set(['fleetSession', 'leadership', 'operator']);

/** Their problems are on the cards of drains and budgets. */
const WITH_CARDS: ReadonlySet<string> = new Set(['nodeDrain', 'podEviction', 'budget']);

/** Of thousands of Nodes, few have failed. */
const hasFailed = ({ kind, state }: ActorRow): boolean =>
  kind === 'nodeAvailability' && /availability\.(offline|degraded)/.test(state);

const hasProblem = ({ kind, reason }: ActorRow): boolean =>
  reason !== null && !WITH_CARDS.has(kind) && needsPerson(severityOf(REASONS[reason]));

const concernsHealth = (row: ActorRow): boolean =>
  row.status === 'active' && (ALWAYS.has(row.kind) || hasFailed(row) || hasProblem(row));

/** Sorts the actors of a process. */
export const boardActors = (source: BoardSource): BoardActors => {
  const drains: BoardActor[] = [];
  const machines: BoardActor[] = [];
  const evictionRequests: BoardActor[] = [];
  const others: BoardActor[] = [];
  const podsByNode = new Map<string, BoardPod[]>();
  const podsByUid = new Map<string, BoardPod>();
  const budgets = new Map<string, BoardBudget>();
  const addPod = (pod: BoardPod): void => {
    podsByUid.set(pod.uid, pod);
    const group = podsByNode.get(pod.node);
    if (group === undefined) podsByNode.set(pod.node, [pod]);
    else group.push(pod);
  };
  for (const row of source.rows()) {
    const withContext = (): BoardActor => ({ ...row, context: source.context(row.id) });
    if (row.kind === 'podEviction') addPod(podOf(row, source.context(row.id)));
    else if (row.kind === 'nodeDrain') drains.push(withContext());
    else if (row.kind === 'upcomingNode') machines.push(withContext());
    else if (row.kind === 'evictionRequest') {
      if (row.status === 'active') evictionRequests.push(withContext());
    } else if (row.kind === 'budget') {
      const found = row.status === 'active' ? budgetOf(row, source.context(row.id)) : undefined;
      if (found !== undefined) budgets.set(found.budget.key, found);
    }
    if (concernsHealth(row)) others.push(withContext());
  }
  return { drains, podsByNode, podsByUid, budgets, machines, evictionRequests, others };
};
