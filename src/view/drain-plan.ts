/**
 * A drain plan: which pods leave in which order, what would block them, which data is lost, and
 * what cannot be predicted.
 *
 * Promises: uses the decision functions of the drain itself; marks everything that rests on an
 * assumption.
 */
import type { CanAct } from '../api/reasons.ts';
import type { EvictionOutcome } from '../domain/drain/answer.ts';
import type { BlockedPods, Blocker } from '../domain/drain/blocker.ts';
import type { Budget } from '../domain/drain/budget.ts';
import { tierWaitMs } from '../domain/drain/deadline.ts';
import { type PodPreview, previewDrain, type Verdict } from '../domain/drain/drain-preview.ts';
import { forecastOf } from '../domain/drain/forecast.ts';
import { keptBlocker, keptData } from '../domain/drain/kept-pods.ts';
import {
  comesBack,
  type DrainPlan,
  keptPods,
  planOf,
  type PodRole,
  type StayingPod,
} from '../domain/drain/plan.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import { blockedVerdict } from '../domain/drain/verdict.ts';
import type { Uid } from '../domain/ids.ts';
import type { NodeFacts } from './drain-facts.ts';
import { keptOnNode } from './drain-owner.ts';
import { tierPriority } from './drain-status.ts';

/** A pod that must leave. */
export interface PlannedPod {
  readonly pod: string;
  /** `ReplicaSet/web`; null for a bare pod. */
  readonly controller: string | null;
  readonly verdict: Verdict;
  readonly reason: Blocker['reason'] | null;
  readonly text: string;
  /** The budget that it needs a slot from. */
  readonly budget: string | null;
  /** Those that it registers, in order, then those that the operator adds: asked first. */
  readonly interceptors: readonly string[];
  readonly leaving: boolean;
  /** No controller recreates it. */
  readonly willNotComeBack: boolean;
  /** The content of its emptyDir is lost. */
  readonly losesData: boolean;
}

/** Pods that leave together. */
export interface PlannedTier {
  /** Null for the operator's own pod. */
  readonly priority: number | null;
  readonly pods: readonly PlannedPod[];
}

/** A pod that stays, and why. */
export interface PlannedStay {
  readonly pod: string;
  readonly role: Exclude<PodRole, 'Leaves'>;
}

/** A cause that would block pods. */
export interface PlannedBlocker {
  readonly reason: Blocker['reason'];
  readonly text: string;
  readonly canAct: CanAct;
  /** The change to make; empty when none is needed. */
  readonly change: string;
  readonly runbook: string;
  readonly pods: readonly string[];
}

/** The plan of one node. */
export interface DrainPlanView {
  readonly node: string;
  readonly graceSeconds: number;
  /** How long a tier waits for earlier tiers that make no progress. */
  readonly tierWaitSeconds: number;
  /** Whether the API server answered dry-run evictions. */
  readonly dryRun: boolean;
  readonly tiers: readonly PlannedTier[];
  readonly staying: readonly PlannedStay[];
  readonly blockers: readonly PlannedBlocker[];
  /** Why the node would not be empty by the deadline; empty while that is not certain. */
  readonly forecast: string;
  readonly willNotComeBack: readonly string[];
  readonly losesData: readonly string[];
  /** Sentences about what cannot be predicted. */
  readonly unknown: readonly string[];
}

/** The input of a plan. */
export interface PlanTerms {
  readonly graceSeconds: number;
  /** Answers to dry runs; undefined when none were made. */
  readonly answers: ReadonlyMap<Uid, EvictionOutcome> | undefined;
  /** By UID of their pod; pods without are left out. */
  readonly interceptors: ReadonlyMap<Uid, readonly string[]>;
  readonly defaults?: PlanDefaults;
}

/** The interceptors that the operator adds (ER-55). */
export interface PlanDefaults {
  /** Undefined: unknown. */
  readonly names: readonly string[] | undefined;
  /** The pods whose Deployment would lose availability with them. */
  readonly pods: ReadonlySet<Uid>;
}

const NAMESPACE_GOES: EvictionOutcome = { _tag: 'NamespaceTerminating' };

/** The interceptors of a pod, as far as they are known. */
const interceptorsFor = (
  { uid }: DrainPod,
  { interceptors, defaults }: Pick<PlanTerms, 'interceptors' | 'defaults'>,
): readonly string[] => {
  const own = interceptors.get(uid) ?? [];
  const added = defaults?.pods.has(uid) === true ? defaults.names ?? [] : [];
  return [...own, ...added.filter((name) => !own.includes(name))];
};

const plannedPod = (
  { pod, verdict, blocker, budget }: PodPreview,
  terms: Pick<PlanTerms, 'interceptors' | 'defaults'>,
): PlannedPod => ({
  pod: pod.key,
  controller: pod.controller === null ? null : `${pod.controller.kind}/${pod.controller.name}`,
  verdict,
  reason: blocker?.reason ?? null,
  text: blocker?.text ?? '',
  budget: budget?.key ?? null,
  interceptors: interceptorsFor(pod, terms),
  leaving: pod.terminating,
  willNotComeBack: !comesBack(pod),
  losesData: pod.losesData,
});

const blockedPodsOf = (previews: readonly PodPreview[]): readonly BlockedPods[] => {
  const groups = new Map<string, BlockedPods>();
  for (const { pod, verdict, blocker } of previews) {
    if (verdict !== 'Blocked' || blocker === null) continue;
    const key = `${blocker.reason} ${blocker.subject}`;
    const known = groups.get(key);
    const pods = [...(known?.pods ?? []), pod.key];
    groups.set(key, { blocker: known?.blocker ?? blocker, pods });
  }
  return [...groups.values()];
};

const plannedBlocker = (blocked: BlockedPods): PlannedBlocker => {
  const { blocker: { reason, text }, pods } = blocked;
  const { canAct, change, runbook } = blockedVerdict(blocked);
  return { reason, text, canAct, change, runbook, pods };
};

const list = (texts: readonly string[]): string => texts.join(', ');

/** Budgets that limit these pods, each with its current disruptionsAllowed. */
const limitedBudgets = (
  previews: readonly PodPreview[],
  budgets: readonly Budget[],
): readonly string[] => {
  const used = new Set(previews.flatMap(({ budget }) => budget?.key ?? []));
  return budgets.filter(({ key }) => used.has(key))
    .map(({ key, disruptionsAllowed }) => `${key} (${disruptionsAllowed} now)`);
};

const unknownOfLocal = (
  pods: readonly DrainPod[],
  lookup: NodeFacts['lookup'],
): readonly string[] => {
  const local = pods.filter((pod) => !pod.terminating && keptData(pod, lookup).length > 0);
  return local.length === 0 ? [] : [
    'Whether the drain evicts pods whose data is on this node only, or keeps them, which ' +
    `--local-volumes of the operator says: ${list(local.map(({ key }) => key))}`,
  ];
};

/** What may deviate from the plan, as far as it concerns this node. */
const unknownOf = (
  previews: readonly PodPreview[],
  { budgets, lookup, dryRun, ...terms }:
    & Pick<PlanTerms, 'interceptors' | 'defaults'>
    & Pick<NodeFacts, 'budgets' | 'lookup'>
    & { readonly dryRun: boolean },
): readonly string[] => {
  const pods = previews.map(({ pod }) => pod);
  const { defaults } = terms;
  const undecided = defaults?.names === undefined
    ? pods.filter(({ uid }) => defaults?.pods.has(uid))
    : [];
  const limited = limitedBudgets(previews, budgets);
  const closed = previews.filter(({ blocker }) => blocker?.reason === 'BlockedByBudget');
  const finalizers = previews.filter(({ blocker }) => blocker?.reason === 'Finalizer');
  const uncertain = previews.filter(({ verdict }) => verdict === 'Uncertain');
  const returning = pods.filter(({ toleratesCordon, controller, terminating }) =>
    toleratesCordon && controller !== null && !terminating
  );
  return [
    ...(pods.length === 0 ? [] : [
      dryRun
        ? 'Whether admission webhooks and policies treat an eviction like the dry run'
        : 'Whether an admission webhook or policy refuses an eviction (try --dry-run=server)',
      'Which finalizers, pods and budgets are added before the drain ends',
    ]),
    ...(limited.length === 0 ? [] : [
      `How soon replacements become healthy and free slots of ${list(limited)}`,
    ]),
    ...(closed.length === 0 ? [] : [
      'Whether an exhausted budget allows evictions before the deadline',
    ]),
    ...(finalizers.length === 0 ? [] : [
      'Whether existing finalizers are removed in time',
    ]),
    ...(returning.length === 0 ? [] : [
      `Whether pods that tolerate the cordon are rescheduled here and then stay: ${
        list(returning.map(({ key }) => key))
      }`,
    ]),
    ...pods.flatMap((pod) => {
      const names = interceptorsFor(pod, terms);
      return names.length === 0 ? [] : [
        `How long the interceptors of ${pod.key} take, where the operator asks them: ${
          list(names)
        }`,
      ];
    }),
    ...unknownOfLocal(pods, lookup),
    ...(undecided.length === 0 ? [] : [
      'Which interceptors the operator adds where a Deployment would lose availability ' +
      `(try --default-interceptors): ${list(undecided.map(({ key }) => key))}`,
    ]),
    ...uncertain.map(({ pod, blocker }) =>
      `How ${pod.key} resolves: ${blocker?.text ?? 'it is changing'}`
    ),
  ];
};

const stayOf = ({ pod, role }: StayingPod): PlannedStay => ({ pod: pod.key, role });

/** Certain answers: a terminating namespace needs no eviction. */
const answersFor = (
  { pods, terminatingNamespaces }: NodeFacts,
  asked: PlanTerms['answers'],
): ReadonlyMap<Uid, EvictionOutcome> => {
  const going = pods.filter(({ namespace }) => terminatingNamespaces.has(namespace));
  return new Map([
    ...(asked ?? []),
    ...going.map(({ uid }) => [uid, NAMESPACE_GOES] as const),
  ]);
};

/** Pods with data on the node only stay for certain when it is disabled, or as acknowledged. */
const planFor = (facts: NodeFacts): DrainPlan => {
  const { pods, own } = facts;
  const { keeps } = keptOnNode(facts);
  return planOf(pods, { own, evictedOwners: new Set(), keeps });
};

/** The kept pods that nobody has acknowledged: the drain does not end before. */
const keptIn = (plan: DrainPlan, facts: NodeFacts): readonly BlockedPods[] => {
  const { lookup } = facts;
  const { acknowledged } = keptOnNode(facts);
  const kept = keptPods(plan).filter(({ uid }) => !acknowledged.has(uid));
  if (kept.length === 0) return [];
  const blocker = keptBlocker(kept.flatMap((pod) => keptData(pod, lookup)));
  return [{ blocker, pods: kept.map(({ key }) => key) }];
};

/** The pods that would be evicted, in the order of the plan. */
export const evictable = (facts: NodeFacts): readonly DrainPod[] =>
  planFor(facts).tiers.flatMap((tier) => tier.pods).filter(({ terminating }) => !terminating);

/** The plan of a node. */
export const drainPlan = (facts: NodeFacts, terms: PlanTerms): DrainPlanView => {
  const { node, budgets, lookup, nowMs } = facts;
  const plan = planFor(facts);
  const previews = previewDrain({
    plan,
    budgets,
    interrupted: facts.interrupted,
    paused: node.paused,
    kubeletSilent: node.kubeletSilent,
    answers: answersFor(facts, terms.answers),
    nowMs,
  });
  const dryRun = terms.answers !== undefined;
  const blocked = [...blockedPodsOf(previews), ...keptIn(plan, facts)];
  const { graceSeconds } = terms;
  const deadlineMs = nowMs + graceSeconds * 1000;
  const leaving = previews.map(({ pod }) => pod);
  const forecast = forecastOf(blocked, leaving, { deadlineMs, graceSeconds });
  const chosen = (choose: (pod: DrainPod) => boolean): readonly string[] =>
    previews.filter(({ pod }) => choose(pod)).map(({ pod }) => pod.key);
  return {
    node: node.name,
    graceSeconds,
    tierWaitSeconds: tierWaitMs(graceSeconds) / 1000,
    dryRun,
    tiers: plan.tiers.map(({ key }) => ({
      priority: tierPriority(key),
      pods: previews.filter(({ tier }) => tier === key).map((one) => plannedPod(one, terms)),
    })),
    staying: plan.staying.map(stayOf),
    blockers: blocked.map(plannedBlocker),
    forecast: forecast === undefined ? '' : blockedVerdict(forecast).forecast,
    willNotComeBack: chosen((pod) => !comesBack(pod)),
    losesData: chosen(({ losesData }) => losesData),
    unknown: unknownOf(previews, { ...terms, budgets, lookup, dryRun }),
  };
};
