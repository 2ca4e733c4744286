/**
 * The pods of one drain: which must leave, which progressed since the last review, and why the
 * others remain.
 *
 * Promises: a review changes only the memory of the previous review; eviction is requested once per
 * pod, until it is released. Nothing here waits or acts on the cluster.
 */
import {
  type BlockedPods,
  type Blocker,
  blockerOf,
  closedBudgets,
  isBlocking,
  remainingSentence,
} from '../../domain/drain/blocker.ts';
import { type DrainTerms, forecastOf } from '../../domain/drain/forecast.ts';
import { acknowledgedText, keptBlocker } from '../../domain/drain/kept-pods.ts';
import type { PodCounts } from '../../domain/drain/pod-counts.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import {
  type DrainPlan,
  keptPods,
  planOf,
  type PlanTerms,
  podsBefore,
  returnedOwners,
  type TierKey,
  toleratingPods,
} from '../../domain/drain/plan.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Uid } from '../../domain/ids.ts';
import type { PodsObserved } from '../../machines/node-drain-context.ts';
import type { KeptData } from './local-data.ts';
import type { PodEvictions, PodEvictionStatus } from '../pod-evictions/pod-evictions.ts';

/** The dependencies of a review. */
export interface DrainPodsOptions {
  readonly on: () => Iterable<DrainPod>;
  readonly evictions: Pick<PodEvictions, 'statusOf' | 'progress'>;
  /** When another process began the drain, on the wall clock; null for a new drain. */
  readonly resumedSinceMs: number | null;
  /** When its pods began to leave, if that was later. */
  readonly drainSinceMs?: () => number;
  readonly own: PlanTerms['own'];
  /** The owner names the pods of DaemonSets that leave. */
  readonly daemonSetsLeave: boolean;
  /** Pods that the drain keeps for their data; without it, none. */
  readonly kept?: KeptData | undefined;
  /** Pods that must leave and are not due yet: they are in no tier. */
  readonly isWithheld: (pod: DrainPod) => boolean;
  /** What evictions give a pod to stop; `null`: its own grace. Default: its own. */
  readonly graceSeconds?: () => number | null;
  readonly now: () => number;
}

/** What was last observed of a pod that is to leave. */
interface ObservedPod {
  readonly pod: DrainPod;
  readonly tier: TierKey;
  readonly leaving: boolean;
}

/** What blocks a drain now, and what may from a known time on. */
export interface BlockerReview {
  readonly blocked: readonly BlockedPods[];
  /** Until time alone changes the review; `Infinity` when it does not. */
  readonly nextMs: number;
  /** The drain evicts nothing now: what blocks its pods is not known. */
  readonly isIdle?: true;
}

/** A budget without a slot for this long blocks; its Event follows after ten seconds (DR-42). */
const NO_SLOT_MS = 20_000;

/** Budgets share one blocker; pods with any other have it in common. */
const blockedPods = (
  { blockers, pods }: { readonly blockers: readonly Blocker[]; readonly pods: readonly string[] },
): BlockedPods => {
  const [first = closedBudgets([])] = blockers;
  return { blocker: first.reason === 'BlockedByBudget' ? closedBudgets(blockers) : first, pods };
};

const NOT_ASKED = 'not evicted before the deadline';

const NO_PLAN: DrainPlan = { tiers: [], staying: [] };

const NO_UIDS: ReadonlySet<string> = new Set();

const podCountsOf = ({ tiers }: DrainPlan): PodCounts => ({
  left: tiers.reduce((sum, { pods }) => sum + pods.length, 0),
  tiers: tiers.map(({ key, pods }) => ({ key, left: pods.length })),
});

const isStarted = (tier: TierKey, startedTo: TierKey | null): boolean =>
  startedTo !== null && tier <= startedTo;

/** The pods of one drain; nothing was looked at yet. */
export class DrainPods {
  readonly #options: DrainPodsOptions;
  /** Controllers that bring an evicted pod back, past the cordon. */
  readonly #evictedOwners = new Set<Uid>();
  /** Pods that were here before a pod of their controller was evicted: they leave, too. */
  readonly #earlier = new Set<Uid>();
  #isResumed = false;
  readonly #asked = new Set<Uid>();
  /** Of the pods that are due. */
  #plan = NO_PLAN;
  /** All that must leave, also those that are not due yet. */
  #left = 0;
  /** Kept, and not acknowledged yet. */
  #kept: readonly DrainPod[] = [];
  /** Kept, and acknowledged: they stay. */
  #acknowledged: readonly DrainPod[] = [];
  #observed: ReadonlyMap<Uid, ObservedPod> = new Map();

  constructor(options: DrainPodsOptions) {
    this.#options = options;
  }

  /** Reviews the pods; `startedTo` is the highest tier whose evictions were requested. */
  readonly look = (startedTo: TierKey | null): PodsObserved => {
    const { on, own, daemonSetsLeave, isWithheld, kept } = this.#options;
    const present = [...on()];
    this.#resume(present);
    const uids = new Set(present.map(({ uid }) => uid));
    for (const { pod } of this.#observed.values()) if (!uids.has(pod.uid)) this.#setEvicted(pod);
    for (const pod of present) if (pod.terminating) this.#setEvicted(pod);
    for (const pod of present) if (!this.#isOfEvicted(pod)) this.#earlier.add(pod.uid);
    const terms = {
      own,
      daemonSetsLeave,
      evictedOwners: this.#evictedOwners,
      earlier: this.#earlier,
      ...(kept && { keeps: (pod: DrainPod) => kept.dataOf(pod).length > 0 }),
    };
    const due = present.filter((pod) => !isWithheld(pod));
    this.#plan = planOf(due, terms);
    const { tiers } = podCountsOf(this.#plan);
    const whole = due.length < present.length ? planOf(present, terms) : this.#plan;
    this.#setKept(whole);
    this.#left = podCountsOf(whole).left + this.#kept.length;
    const { moved, refusal } = this.#compare(startedTo);
    for (const uid of this.#asked) if (!uids.has(uid)) this.#asked.delete(uid);
    for (const uid of this.#earlier) if (!uids.has(uid)) this.#earlier.delete(uid);
    const counted = this.#kept.length === 0 ? {} : { kept: this.#kept.length };
    return { podCounts: { left: this.#left, ...counted, tiers }, moved, refusal };
  };

  /** Pods of started tiers that were not asked yet. */
  readonly unasked = (startedTo: TierKey | null): readonly DrainPod[] =>
    this.#plan.tiers
      .filter(({ key }) => isStarted(key, startedTo))
      .flatMap(({ pods }) => pods.filter(({ uid }) => !this.#asked.has(uid)));

  /** What evictions give each pod to stop, in seconds; `null`: its own grace. */
  readonly graceSeconds = (): number | null => this.#options.graceSeconds?.() ?? null;

  readonly setAsked = ({ uid }: DrainPod): void => void this.#asked.add(uid);

  readonly setReleased = (): void => this.#asked.clear();

  /** The number of pods that must still leave. */
  readonly left = (): number => this.#left;

  /** The names of the pods that stay, because they came back past the cordon. */
  readonly tolerating = (): readonly string[] => toleratingPods(this.#plan).map(({ key }) => key);

  /** The names of the pods that stay, because a person acknowledged it (RS-12). */
  readonly acknowledged = (): readonly string[] => this.#acknowledged.map(({ key }) => key);

  /** What stays on a drained node, in a sentence; empty for nothing. */
  readonly stayed = (): string => {
    const names = this.acknowledged();
    return names.length === 0 ? '' : `All other pods are gone; ${acknowledgedText(names)}`;
  };

  /** The names of all pods that stay although the drain wanted them gone. */
  readonly staying = (): readonly string[] => [...this.tolerating(), ...this.acknowledged()];

  /**
   * The pods that something blocks, by reason and subject, and when time alone adds another.
   * Budgets form one group, without those that gave a slot lately; the forecast is the last.
   */
  readonly review = (node: DrainedNode, terms: DrainTerms): BlockerReview => {
    const groups = new Map<string, { blockers: Blocker[]; pods: string[] }>();
    const nowMs = this.#options.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const pod of this.#leavingPods()) {
      const { deletionMs } = pod;
      if (deletionMs !== null && deletionMs >= nowMs) nextMs = Math.min(nextMs, deletionMs - nowMs);
      const blocker = this.#blockerOf(pod, node);
      const { reason, subject, noSlotMs = Number.POSITIVE_INFINITY } = blocker;
      if (!isBlocking(reason)) continue;
      const isBudget = reason === 'BlockedByBudget';
      if (isBudget && noSlotMs < NO_SLOT_MS) {
        nextMs = Math.min(nextMs, NO_SLOT_MS - noSlotMs);
        continue;
      }
      const key = isBudget ? reason : `${reason} ${subject}`;
      const group = groups.get(key) ?? { blockers: [], pods: [] };
      group.blockers.push(blocker);
      group.pods.push(pod.key);
      groups.set(key, group);
    }
    const blocked = [...groups.values()].map(blockedPods);
    if (this.#kept.length > 0) blocked.push(this.#keptTogether());
    const forecast = forecastOf(blocked, this.#leavingPods(), terms);
    return { blocked: forecast === undefined ? blocked : [...blocked, forecast], nextMs };
  };

  /** The number of remaining pods, the first five by name, and why each (DR-41). */
  readonly remaining = (node: DrainedNode, timeUp: boolean): string =>
    remainingSentence(
      this.#leavingPods().map((pod) => {
        const { reason, text } = this.#blockerOf(pod, node);
        // The last quarter of the grace opens every tier: only an absent operator asks none.
        const isLate = timeUp && reason === 'WaitingForTier';
        return { key: pod.key, text: isLate ? NOT_ASKED : text };
      }).concat(this.#kept.map((pod) => ({
        key: pod.key,
        text: keptBlocker(this.#dataOf(pod)).text,
      }))),
    );

  /** What came back past the cordon for an earlier process would come back for this one, too. */
  #resume(present: readonly DrainPod[]): void {
    const { resumedSinceMs, drainSinceMs } = this.#options;
    if (this.#isResumed || resumedSinceMs === null) return;
    this.#isResumed = true;
    const sinceMs = Math.max(resumedSinceMs, drainSinceMs?.() ?? 0);
    for (const owner of returnedOwners(present, sinceMs)) this.#evictedOwners.add(owner);
    for (const uid of podsBefore(present, sinceMs)) this.#earlier.add(uid);
  }

  #isOfEvicted({ controller }: DrainPod): boolean {
    return controller !== null && this.#evictedOwners.has(controller.uid);
  }

  #dataOf(pod: DrainPod): readonly string[] {
    return this.#options.kept?.dataOf(pod) ?? [];
  }

  #setKept(plan: DrainPlan): void {
    const pods = keptPods(plan);
    const known = pods.length === 0 ? NO_UIDS : this.#options.kept?.acknowledged() ?? NO_UIDS;
    this.#kept = pods.filter(({ uid }) => !known.has(uid));
    this.#acknowledged = pods.filter(({ uid }) => known.has(uid));
  }

  /** One Event is about all of them. */
  #keptTogether(): BlockedPods {
    return {
      blocker: keptBlocker(this.#kept.flatMap((pod) => this.#dataOf(pod))),
      pods: this.#kept.map(({ key }) => key),
    };
  }

  #setEvicted({ toleratesCordon, controller, uid }: DrainPod): void {
    if (!toleratesCordon || controller === null || !this.#asked.has(uid)) return;
    this.#evictedOwners.add(controller.uid);
  }

  /** Replaces what was observed; says what is new in it. */
  #compare(startedTo: TierKey | null): Pick<PodsObserved, 'moved' | 'refusal'> {
    const next = new Map<Uid, ObservedPod>();
    let moved = false;
    let refusal = '';
    for (const { key: tier, pods } of this.#plan.tiers) {
      for (const pod of pods) {
        const progress = this.#asked.has(pod.uid)
          ? this.#options.evictions.progress(pod.uid)
          : undefined;
        const leaving = pod.terminating || progress?.accepted === true;
        next.set(pod.uid, { pod, tier, leaving });
        const wasLeaving = this.#observed.get(pod.uid)?.leaving;
        moved ||= leaving && isStarted(tier, startedTo) && wasLeaving === false;
        if (progress !== undefined && progress.refusal !== '') refusal = progress.refusal;
      }
    }
    for (const [uid, { tier }] of this.#observed) {
      moved ||= !next.has(uid) && isStarted(tier, startedTo);
    }
    this.#observed = next;
    return { moved, refusal };
  }

  #blockerOf(
    pod: DrainPod,
    { paused, kubeletSilent }: DrainedNode,
  ): Blocker & Partial<Pick<PodEvictionStatus, 'noSlotMs'>> {
    const { evictions, now } = this.#options;
    const status = paused && !pod.terminating ? undefined : evictions.statusOf(pod.uid);
    return status ?? blockerOf({
      pod,
      budgets: [],
      interrupted: [],
      outcome: null,
      tierStarted: false,
      paused,
      kubeletSilent,
      nowMs: now(),
    });
  }

  #leavingPods(): readonly DrainPod[] {
    return this.#plan.tiers.flatMap(({ pods }) => pods);
  }
}
