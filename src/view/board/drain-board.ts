/**
 * The drain board: what is stuck, why, and who can act, over everything that a process knows.
 *
 * Promises: what needs a person comes first; bounded, with the number of what is left out.
 */
import type { Severity } from '../../domain/drain/verdict.ts';
import { type Phase, phaseNamed, PHASES } from '../../domain/machine-phase.ts';
import { textAt } from '../../domain/json.ts';
import { compareText } from '../../domain/requirements.ts';
import {
  type BoardActor,
  type BoardActors,
  boardActors,
  type BoardSource,
} from './board-actors.ts';
import { bySeverity, needsPerson, worstOf } from './board-verdict.ts';
import { type BudgetCard, budgetCards } from './budget-card.ts';
import { type EvictionCard, evictionCards } from './eviction-card.ts';
import { type HealthCard, healthCards } from './health.ts';
import { type NodeCard, nodeCard } from './node-card.ts';

/** The machines in a phase. */
export interface PhaseMachines {
  readonly phase: Phase;
  readonly count: number;
  /** The first of them by name. */
  readonly names: readonly string[];
}

/** The first page. */
export interface DrainBoard {
  readonly severity: Severity;
  /** How many entries need a person. */
  readonly needsPerson: number;
  /** How many drains go on, also of those that are left out. */
  readonly draining: number;
  readonly health: readonly HealthCard[];
  /** What needs a person first, then by deadline. */
  readonly drains: readonly NodeCard[];
  readonly drainsLeftOut: number;
  /** Newest first. */
  readonly ended: readonly NodeCard[];
  readonly machines: readonly PhaseMachines[];
  readonly budgets: readonly BudgetCard[];
  readonly budgetsLeftOut: number;
  /** Open EvictionRequests: what needs a person first, then by hand-over. */
  readonly evictions: readonly EvictionCard[];
  readonly evictionsLeftOut: number;
}

const DRAINS_MAX = 48;
const ENDED_MAX = 8;
const BUDGETS_MAX = 24;
const EVICTIONS_MAX = 24;
const NAMES_MAX = 12;
/** A failed drain is a matter for a person this long, or until its machine is gone. */
const FAILED_MS = 3_600_000;

const phaseOf = ({ context, state }: BoardActor): Phase | undefined =>
  state === 'gone' ? undefined : phaseNamed(
    textAt(context, 'facts', 'current', 'phase') ?? textAt(context, 'facts', 'reported', 'phase'),
  );

const machinesByPhase = (machines: readonly BoardActor[]): readonly PhaseMachines[] => {
  const names = Map.groupBy(machines, phaseOf);
  return PHASES.map((phase) => {
    const found = (names.get(phase) ?? [])
      .map(({ id, kind }) => id.slice(kind.length + 1)).toSorted(compareText);
    return { phase, count: found.length, names: found.slice(0, NAMES_MAX) };
  });
};

const NO_DEADLINE = Number.POSITIVE_INFINITY;

const inOrder = (left: NodeCard, right: NodeCard): number =>
  bySeverity(left, right) ||
  (left.deadlineMs ?? NO_DEADLINE) - (right.deadlineMs ?? NO_DEADLINE) ||
  compareText(left.node, right.node);

/** A failed drain is not over for people while its node is there. */
const isOpen = (card: NodeCard, gone: ReadonlySet<string>, nowMs: number): boolean =>
  card.endedMs === null ||
  (card.severity === 'Failed' && card.situation === 'Failed' &&
    nowMs - card.endedMs < FAILED_MS && !gone.has(card.node));

const goneNodes = ({ machines }: BoardActors): ReadonlySet<string> =>
  new Set(
    machines.filter(({ state }) => state === 'gone').flatMap(({ context }) =>
      [textAt(context, 'facts', 'reported', 'nodeName'), textAt(context, 'name')]
        .filter((name) => name !== undefined)
    ),
  );

/** The board of a process. */
export const drainBoard = (source: BoardSource, nowMs: number): DrainBoard => {
  const actors = boardActors(source);
  const gone = goneNodes(actors);
  const cards = actors.drains.flatMap((drain) => nodeCard(drain, actors) ?? []);
  const open = cards.filter((card) => isOpen(card, gone, nowMs));
  const ended = cards.filter((card) => !isOpen(card, gone, nowMs))
    .toSorted((left, right) => (right.endedMs ?? 0) - (left.endedMs ?? 0));
  const drains = open.toSorted(inOrder);
  const budgets = budgetCards(actors, open);
  const health = healthCards(actors.others);
  const evictions = evictionCards(actors.evictionRequests, nowMs);
  const severities = [...health, ...open, ...evictions].map(({ severity }) => severity);
  return {
    severity: worstOf(severities),
    needsPerson: severities.filter(needsPerson).length,
    draining:
      cards.filter(({ endedMs, situation }) => endedMs === null && situation !== 'Cordoned').length,
    health,
    drains: drains.slice(0, DRAINS_MAX),
    drainsLeftOut: Math.max(0, drains.length - DRAINS_MAX),
    ended: ended.slice(0, ENDED_MAX),
    machines: machinesByPhase(actors.machines),
    budgets: budgets.slice(0, BUDGETS_MAX),
    budgetsLeftOut: Math.max(0, budgets.length - BUDGETS_MAX),
    evictions: evictions.slice(0, EVICTIONS_MAX),
    evictionsLeftOut: Math.max(0, evictions.length - EVICTIONS_MAX),
  };
};
