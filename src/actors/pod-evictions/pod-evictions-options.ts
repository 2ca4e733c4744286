/** What the evictions of a process follow, and the requests by which drains ask first. */
import type { Observable } from 'rxjs';
import type { Blocker } from '../../domain/drain/blocker.ts';
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Uid } from '../../domain/ids.ts';
import type { Informer } from '../informers/informer.ts';

/** Drains that ask by EvictionRequest before their pods are evicted. */
export interface RequestedEvictions {
  /** The owner's drain wants the pod to leave; idempotent. */
  readonly want: (pod: DrainPod, owner: DrainOwner) => void;
  /** It wants that no more. */
  readonly withdraw: (pod: Uid, owner: DrainOwner) => void;
  /** What the request of the pod waits for; undefined when the pod may be evicted. */
  readonly blockerOf: (pod: Uid) => Blocker | undefined;
  /** Why its interceptors are not asked although they should be; empty while they are. */
  readonly fallbackOf: (pod: Uid) => string;
  /** Pods whose request changed. */
  readonly changes: Observable<Uid>;
}

/** The informers that evictions follow. */
export interface PodEvictionsOptions {
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'get' | 'values'>;
  readonly budgets: Pick<Informer<Budget>, 'facts' | 'progress'>;
  readonly nodes: Pick<Informer<DrainedNode>, 'facts' | 'get'>;
  /** Evictions in flight under one budget (DR-33); default 1. */
  readonly callsPerBudget?: number;
  /** Without it, drains ask no interceptors. */
  readonly requested?: RequestedEvictions | undefined;
}
