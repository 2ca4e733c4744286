/**
 * What a maintenance would meet if it drained its nodes now (KEP-4212, *Story 1*).
 *
 * Promises: decides only from known facts; counts each pod at the first entry that selects it. A
 * bare pod and one with local data leave like others (NM-28), so they are found, and hold nothing.
 */
import { type Budget, budgetCovers } from '../drain/budget.ts';
import { closedText, neverAllows, neverAllowsText } from '../drain/closed-budget.ts';
import { comesBack } from '../drain/plan.ts';
import type { DrainPod } from '../drain/pod.ts';
import { slotNeed } from '../drain/slots.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../json.ts';
import { compareText } from '../requirements.ts';
import { cutText } from '../text.ts';
import { mustLeave, type PodScope } from './drain-step.ts';
import { type DrainPlanEntry, entrySelects, planEntriesOf, planEntryBody } from './drain-plan.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';

/** What may be found beforehand. The first four hold pods back, the others lose something. */
export const FINDING_REASONS = [
  'BlockedByBudget',
  'BudgetNeverAllows',
  'BudgetBroken',
  'TwoBudgets',
  'NoController',
  'LocalData',
] as const;
export type FindingReason = (typeof FINDING_REASONS)[number];

/** Pods that share a finding. */
export interface PreviewFinding {
  readonly reason: FindingReason;
  readonly message: string;
  readonly pods: number;
}

/** Pods that leave with an entry of the plan. */
export interface EntryPods {
  readonly entry: DrainPlanEntry;
  readonly pods: number;
}

/** `status.preview`. */
export interface MaintenancePreview {
  readonly nodes: number;
  /** Entries with pods, in the order of the plan. */
  readonly entries: readonly EntryPods[];
  /** They stay: only the kubelet stops them. */
  readonly staticPods: number;
  /** Those of most pods first. */
  readonly findings: readonly PreviewFinding[];
  /**
   * Evictions one after another that the budgets and the plan force, at least, over all nodes
   * together; `null` while a budget never allows one.
   */
  readonly rounds: number | null;
  /** The longest time that terminations take in these rounds, with replacements ready at once. */
  readonly terminationSeconds: number | null;
}

/** What the preview is computed from. */
export interface PreviewFacts {
  /** The pods of each node that matches. */
  readonly podsByNode: ReadonlyMap<string, Iterable<DrainPod>>;
  /** The effective plan. */
  readonly plan: readonly DrainPlanEntry[];
  readonly scope: PodScope;
  /** The grace of evictions, in seconds; `null`: that of each pod. */
  readonly graceSeconds: number | null;
  readonly budgets: readonly Budget[];
}

const LIMITS = NODE_MAINTENANCE_LIMITS;

/** A finding of one pod; pods with the same message share one. */
type PodFinding = Omit<PreviewFinding, 'pods'>;

const budgetFinding = (pod: DrainPod, budgets: readonly Budget[]): PodFinding | undefined => {
  const need = slotNeed(pod, budgets);
  switch (need._tag) {
    case 'None':
      return undefined;
    case 'Blocked': {
      const keys = need.budgets.map(({ key }) => key).toSorted(compareText).join(' and ');
      const [first] = need.budgets;
      if (need.reason === 'BudgetNeverAllows' && first !== undefined) {
        return { reason: need.reason, message: neverAllowsText(first) };
      }
      return need.reason === 'TwoBudgets'
        ? { reason: need.reason, message: `two budgets: ${keys}` }
        : { reason: need.reason, message: `budget ${keys} has an invalid status` };
    }
    case 'One':
      if (need.budget.disruptionsAllowed > 0) return undefined;
      return neverAllows(need.budget)
        ? { reason: 'BudgetNeverAllows', message: neverAllowsText(need.budget) }
        : { reason: 'BlockedByBudget', message: closedText(need.budget) };
  }
};

const findingsOfPod = (pod: DrainPod, budgets: readonly Budget[]): readonly PodFinding[] => {
  const byBudget = budgetFinding(pod, budgets);
  return [
    ...(byBudget === undefined ? [] : [byBudget]),
    ...(comesBack(pod)
      ? []
      : [{ reason: 'NoController', message: 'no controller recreates them' } as const]),
    ...(pod.losesData
      ? [{ reason: 'LocalData', message: 'the content of an emptyDir is lost' } as const]
      : []),
  ];
};

const gathered = (found: readonly PodFinding[]): readonly PreviewFinding[] => {
  const counts = new Map<string, PreviewFinding>();
  for (const { reason, message } of found) {
    const key = `${reason} ${message}`;
    const pods = (counts.get(key)?.pods ?? 0) + 1;
    counts.set(key, { reason, message: cutText(message, LIMITS.messageCharacters), pods });
  }
  return [...counts.values()]
    .toSorted((left, right) => right.pods - left.pods || compareText(left.message, right.message))
    .slice(0, LIMITS.findings);
};

/** A pod that leaves, and the budgets that cover it. */
interface LeavingPod {
  readonly pod: DrainPod;
  readonly budgets: readonly Budget[];
}

/** What a budget allows at once when all of its pods are healthy. */
const widestOpening = ({ disruptionsAllowed, expectedPods, desiredHealthy }: Budget): number =>
  Math.max(disruptionsAllowed, expectedPods - desiredHealthy, 0);

interface Bound {
  readonly rounds: number;
  readonly seconds: number;
}

/** The rounds of the pods of one entry; infinite when some never leave. */
const boundOf = (pods: readonly LeavingPod[], graceSeconds: number | null): Bound => {
  const queues = new Map<string, { slots: number; pods: number; seconds: number }>();
  let slowest = 0;
  for (const { pod, budgets } of pods) {
    const need = slotNeed(pod, budgets);
    const seconds = graceSeconds ?? pod.graceSeconds;
    slowest = Math.max(slowest, seconds);
    if (need._tag === 'Blocked') return { rounds: Infinity, seconds: Infinity };
    if (need._tag === 'None') continue;
    const { key } = need.budget;
    const before = queues.get(key);
    queues.set(key, {
      slots: widestOpening(need.budget),
      pods: (before?.pods ?? 0) + 1,
      seconds: Math.max(before?.seconds ?? 0, seconds),
    });
  }
  const bounds = [...queues.values()].map(({ slots, pods: waiting, seconds }): Bound => {
    const rounds = slots === 0 ? Infinity : Math.ceil(waiting / slots);
    return { rounds, seconds: rounds * Math.max(1, seconds) };
  });
  return {
    rounds: Math.max(pods.length === 0 ? 0 : 1, ...bounds.map(({ rounds }) => rounds)),
    seconds: Math.max(slowest, ...bounds.map(({ seconds }) => seconds)),
  };
};

const finite = (value: number): number | null => Number.isFinite(value) ? value : null;

/** Computes the preview. */
export const maintenancePreview = (
  { podsByNode, plan, scope, graceSeconds, budgets }: PreviewFacts,
): MaintenancePreview => {
  const byEntry = new Map(plan.map((entry): [DrainPlanEntry, LeavingPod[]] => [entry, []]));
  const found: PodFinding[] = [];
  // Most budgets are of other namespaces than the pod's.
  const ofNamespace = Map.groupBy(budgets, ({ namespace }) => namespace);
  let staticPods = 0;
  for (const pod of [...podsByNode.values()].flatMap((pods) => [...pods])) {
    if (pod.finished) continue;
    if (pod.mirror) {
      staticPods += 1;
      continue;
    }
    const entry = plan.find((one) => entrySelects(one, pod));
    if (entry === undefined || !mustLeave(pod, scope)) continue;
    const covering = (ofNamespace.get(pod.namespace) ?? [])
      .filter((budget) => budgetCovers(budget, pod));
    byEntry.get(entry)?.push({ pod, budgets: covering });
    found.push(...findingsOfPod(pod, covering));
  }
  const steps = [...byEntry].filter(([, pods]) => pods.length > 0);
  const bounds = steps.map(([, pods]) => boundOf(pods, graceSeconds));
  const sumOf = (part: keyof Bound): number => bounds.reduce((sum, one) => sum + one[part], 0);
  return {
    nodes: podsByNode.size,
    entries: steps.map(([entry, pods]) => ({ entry, pods: pods.length })),
    staticPods,
    findings: gathered(found),
    rounds: finite(sumOf('rounds')),
    terminationSeconds: finite(sumOf('seconds')),
  };
};

/** `status.preview`, in the notation of the API. */
export const previewBody = (
  { nodes, entries, staticPods, findings, rounds, terminationSeconds }: MaintenancePreview,
): object => ({
  nodes,
  entries: entries.map(({ entry, pods }) => ({ ...planEntryBody(entry), pods })),
  staticPods,
  findings,
  ...(rounds === null ? {} : { rounds }),
  ...(terminationSeconds === null ? {} : { terminationSeconds }),
});

const countAt = (raw: unknown, field: string): number =>
  Math.max(0, Math.trunc(numberAt(raw, field) ?? 0));

const boundAt = (raw: unknown, field: string): number | null =>
  numberAt(raw, field) === undefined ? null : countAt(raw, field);

const entryOf = (raw: unknown): readonly EntryPods[] =>
  planEntriesOf([raw]).map((entry) => ({ entry, pods: countAt(raw, 'pods') }));

const findingOf = (raw: unknown): readonly PreviewFinding[] => {
  const reason = FINDING_REASONS.find((one) => one === textAt(raw, 'reason'));
  if (reason === undefined) return [];
  const message = (textAt(raw, 'message') ?? '').slice(0, LIMITS.messageCharacters);
  return [{ reason, message, pods: countAt(raw, 'pods') }];
};

/** Reads `status.preview`; `null` without one. */
export const previewOf = (raw: JsonRecord | undefined): MaintenancePreview | null =>
  raw === undefined ? null : {
    nodes: countAt(raw, 'nodes'),
    entries: listOrEmptyAt(raw, 'entries').slice(0, LIMITS.drainTargets).flatMap(entryOf),
    staticPods: countAt(raw, 'staticPods'),
    findings: listOrEmptyAt(raw, 'findings').slice(0, LIMITS.findings).flatMap(findingOf),
    rounds: boundAt(raw, 'rounds'),
    terminationSeconds: boundAt(raw, 'terminationSeconds'),
  };
