/** The registry of pods that are to leave. */
import type { Observable } from 'rxjs';
import type { ReasonName } from '../api/reasons.ts';
import type { NodeProjection } from '../domain/cluster-node.ts';
import type { Budget } from '../domain/drain/budget.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { Uid } from '../domain/ids.ts';
import type { Reflector } from './reflector.ts';

/** On whose behalf a pod is to leave, and what its place in a queue is made from. */
export interface EvictionTerms {
  readonly node: string;
  readonly deadlineMonotonicMs: number;
  readonly drainSinceMs: number;
  readonly podsLeft: () => number;
}

/** One pod of a drain, as its eviction sees it now. */
export interface PodStanding {
  /** The state of its statechart: `queued`, `calling`, `leaving`, … */
  readonly state: string;
  /** Why it is still there; null while nothing holds it up. */
  readonly reason: ReasonName | null;
  /** The particulars of the reason (budget, policy, answer); empty when there are none. */
  readonly text: string;
  /** An eviction of it was accepted, by us or before us. */
  readonly accepted: boolean;
  /** An eviction of it was sent and has no answer yet. */
  readonly inFlight: boolean;
}

/** Evictions as drains see them. */
export interface PodEvictions {
  /** This pod is to leave; idempotent; joins the queue of its budget when it needs a slot. */
  readonly want: (pod: DrainPod, terms: EvictionTerms) => void;
  /** Nothing new is sent for pods of this node; a call that was sent is left to finish. */
  readonly release: (node: string) => void;
  /** Where a pod stands; `undefined` when nobody wanted it, or it is gone. */
  readonly standing: (uid: Uid) => PodStanding | undefined;
  /** Says the node of a pod whose standing changed. */
  readonly changes: Observable<string>;
  /** Resolves when every call that was sent has its answer. */
  readonly settled: () => Promise<void>;
}

/** What evictions listen to. */
export interface PodEvictionsOptions {
  readonly pods: Pick<Reflector<DrainPod>, 'facts' | 'get'>;
  readonly budgets: Pick<Reflector<Budget>, 'facts' | 'get' | 'progress'>;
  readonly nodes: Pick<Reflector<NodeProjection>, 'facts' | 'get'>;
  /** Calls in flight under one budget (DR-33); default 1. */
  readonly callsPerBudget?: number;
}
