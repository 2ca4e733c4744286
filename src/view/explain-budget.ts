/**
 * Explains a PodDisruptionBudget by what it allows, what could open it, and which drains wait.
 *
 * Promises: agrees with the verdict on drains, because both use the same sentences; total.
 */
import { REASONS } from '../api/reasons.ts';
import { runbookUrl } from '../domain/documentation.ts';
import { type Budget, isProcessed, projectBudget } from '../domain/drain/budget.ts';
import {
  closedText,
  neverAllows,
  neverAllowsText,
  openingChange,
  slotChange,
} from '../domain/drain/closed-budget.ts';
import { listed } from '../domain/text.ts';
import type { DrainBlocker, DrainStatus } from './drain-status.ts';
import { type Detail, type Explanation, timelineOf } from './explanation.ts';

/** The objects that were read. */
export interface BudgetExplanationFacts {
  readonly budget: unknown;
  /** All drains of the cluster; undefined without permission to read them. */
  readonly drains: readonly DrainStatus[] | undefined;
  readonly events: readonly unknown[];
}

type Verdict = Pick<Explanation, 'state' | 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

const upperFirst = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Drains wait at the budget, and none is blocked by it. */
const isMoving = ({ key }: Budget, drains: BudgetExplanationFacts['drains'] = []): boolean => {
  const names = ({ text }: DrainBlocker): boolean => text.startsWith(`budget ${key} `);
  return drains.some(({ waits }) => waits.some(names)) &&
    !drains.some(({ blockers }) => blockers.some(names));
};

const FULL_NOW: Verdict = {
  state: 'Full',
  why: '',
  waitsFor: 'Evicted pods to be replaced; then the next pod goes',
  canAct: 'nobody',
  action: '',
  runbook: '',
};

const verdictOn = (budget: Budget, drains: BudgetExplanationFacts['drains']): Verdict => {
  if (budget.selector === null) {
    return {
      state: 'SelectsNothing',
      why: 'It has no valid selector, so it covers no pod',
      waitsFor: 'Nothing: it blocks no drain',
      canAct: 'application',
      action: 'Give it the selector of the application, or delete it',
      runbook: '',
    };
  }
  if (!isProcessed(budget)) {
    return {
      state: 'Unprocessed',
      why: 'Its status is about an older spec',
      waitsFor: 'The disruption controller to count its pods',
      canAct: 'nobody',
      action: '',
      runbook: '',
    };
  }
  if (neverAllows(budget)) {
    return {
      state: 'NeverAllows',
      why: upperFirst(neverAllowsText(budget)),
      waitsFor: 'A change of the budget or of the number of replicas',
      canAct: 'application',
      action: openingChange(budget),
      runbook: runbookUrl(REASONS.BudgetNeverAllows.runbook),
    };
  }
  const { disruptionsAllowed } = budget;
  if (disruptionsAllowed === 0) {
    if (isMoving(budget, drains)) return { ...FULL_NOW, why: upperFirst(closedText(budget)) };
    return {
      state: 'Closed',
      why: upperFirst(closedText(budget)),
      waitsFor: 'Pods of the budget to become healthy',
      canAct: 'application',
      action: slotChange(budget),
      runbook: runbookUrl(REASONS.BlockedByBudget.runbook),
    };
  }
  return {
    state: 'Open',
    why: `It allows ${disruptionsAllowed} ${
      disruptionsAllowed === 1 ? 'disruption' : 'disruptions'
    }`,
    waitsFor: 'Nothing: pods may be evicted',
    canAct: 'nobody',
    action: '',
    runbook: '',
  };
};

const NAMED_MAX = 5;
const UNDER_WAY: ReadonlySet<string> = new Set(['Draining', 'Paused', 'Overdue']);

const detail = (name: string, value: string): readonly Detail[] =>
  value === '' ? [] : [{ name, value }];

const waitingDrains = (
  { key }: Budget,
  drains: BudgetExplanationFacts['drains'],
): string => {
  if (drains === undefined) return 'Cannot be read';
  const waits = drains.filter(({ state }) => UNDER_WAY.has(state)).flatMap(({ node, budgets }) =>
    budgets.filter(({ budget, waiting }) => budget === key && waiting > 0)
      .map(({ waiting }) => `${node} (${waiting} ${waiting === 1 ? 'pod' : 'pods'})`)
  );
  return waits.length === 0 ? 'none' : listed(waits, NAMED_MAX);
};

const detailsOf = (
  budget: Budget,
  drains: BudgetExplanationFacts['drains'],
): readonly Detail[] => {
  const { limit, currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = budget;
  return [
    ...detail('Asks for', limit === null ? '' : `${limit.field} ${limit.value}`),
    ...detail('Pods', `${currentHealthy} of ${expectedPods} healthy, ${desiredHealthy} required`),
    ...detail('Allows', `${disruptionsAllowed} now`),
    ...detail(
      'Unhealthy pods',
      budget.unhealthyPods === 'AlwaysAllow'
        ? 'may always be evicted'
        : 'may be evicted while enough others are healthy; set unhealthyPodEvictionPolicy to ' +
          'AlwaysAllow to free them',
    ),
    ...detail('Being evicted', listed(Object.keys(budget.disruptedPods).toSorted(), NAMED_MAX)),
    ...detail('Drains that wait', waitingDrains(budget, drains)),
  ];
};

/** Explains one PodDisruptionBudget. */
export const explainBudget = ({ budget: raw, drains, events }: BudgetExplanationFacts) => {
  const budget = projectBudget(raw);
  if (budget === undefined) return undefined;
  const explanation: Explanation = {
    kind: 'PodDisruptionBudget',
    name: budget.key,
    what: 'How many pods of an application may be disrupted at a time',
    ...verdictOn(budget, drains),
    problems: [],
    details: detailsOf(budget, drains),
    events: timelineOf(events),
  };
  return explanation;
};
