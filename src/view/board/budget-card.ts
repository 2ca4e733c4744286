/** The card of a budget: its slots, and the pods of all drains that queue for them. */
import { atBudget } from '../../domain/drain/blocker.ts';
import { isProcessed } from '../../domain/drain/budget.ts';
import { blockedVerdict, type Severity } from '../../domain/drain/verdict.ts';
import type { BoardActors, BoardBudget } from './board-actors.ts';
import { kubectlCommand } from './board-verdict.ts';
import type { NodeCard } from './node-card.ts';

/** A pod in the queue. */
export interface QueuedPod {
  readonly key: string;
  readonly node: string;
}

/** A budget. */
export interface BudgetCard {
  readonly id: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly severity: Severity;
  /** How many pods may be disrupted at once; 0 for a budget that never allows it. */
  readonly slots: number;
  /** Slots in use: by evictions, and by pods that are not healthy. */
  readonly used: number;
  readonly healthy: number;
  readonly required: number;
  readonly queued: number;
  /** How many nodes the queued pods are on. */
  readonly queuedNodes: number;
  /** The first of the queued pods. */
  readonly queue: readonly QueuedPod[];
  /** How the budget is closed; empty while a slot is free. */
  readonly sentence: string;
  readonly change: string;
  readonly command: string;
}

const QUEUE_MAX = 24;

const slotsOf = (
  { budget, reservations, row }: BoardBudget,
): { readonly slots: number; readonly used: number } => {
  const { expectedPods, desiredHealthy, disruptionsAllowed } = budget;
  const free = row.state === 'exhausted' || !isProcessed(budget)
    ? 0
    : Math.max(0, disruptionsAllowed - reservations);
  const slots = Math.max(0, expectedPods - desiredHealthy, disruptionsAllowed);
  return { slots, used: Math.max(0, slots - free) };
};

/** True when a drain names it as what blocks its pods. */
const blocksDrain = (key: string, drains: readonly NodeCard[]): boolean =>
  drains.some(({ verdict: { reason, sentence } }) =>
    reason === 'BlockedByBudget' && sentence.includes(` ${key} `)
  );

const cardOf = (
  entry: BoardBudget,
  actors: BoardActors,
  drains: readonly NodeCard[],
): BudgetCard => {
  const { budget, row, neverAllows } = entry;
  const queue = entry.queue.flatMap((uid): readonly QueuedPod[] => {
    const pod = actors.podsByUid.get(uid);
    return pod === undefined ? [] : [{ key: pod.key, node: pod.node }];
  });
  const { slots, used } = slotsOf(entry);
  const isBlocking = neverAllows || blocksDrain(budget.key, drains);
  const blocker = atBudget(budget, { interrupted: [] });
  const { change } = blockedVerdict({ blocker, pods: [] });
  const visibleChange = isBlocking ? change : '';
  return {
    id: row.id,
    key: budget.key,
    severity: isBlocking ? 'Blocked' : 'Waiting',
    slots,
    used,
    healthy: budget.currentHealthy,
    required: budget.desiredHealthy,
    queued: entry.queue.length,
    queuedNodes: new Set(queue.map(({ node }) => node)).size,
    queue: queue.slice(0, QUEUE_MAX),
    sentence: used >= slots ? blocker.text : '',
    change: visibleChange,
    command: kubectlCommand({ kind: 'budget', name: budget.key }, visibleChange),
  };
};

/** The budgets that pods queue for, or hold slots of. */
export const budgetCards = (
  actors: BoardActors,
  drains: readonly NodeCard[],
): readonly BudgetCard[] =>
  [...actors.budgets.values()]
    .filter(({ queue, reservations }) => queue.length > 0 || reservations > 0)
    .map((entry) => cardOf(entry, actors, drains))
    .toSorted((left, right) =>
      Number(right.severity === 'Blocked') - Number(left.severity === 'Blocked') ||
      right.queued - left.queued
    );
