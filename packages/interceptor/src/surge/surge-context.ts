/** What a surge knows, and what it is told. */
import type { Attempts, Seed } from '../backoff.ts';
import type { SurgeFacts } from './surge-facts.ts';
import type { SurgeRefusal, WithoutSurge } from './surge-refusal.ts';
import type { SurgeStep } from './surge-step.ts';

/** The Deployment of a surge. */
export interface DeploymentKey {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Whether a person accepts for a Node, as it was read, that its pods are down while they move. */
export type AcceptsDowntimeOn = (node: unknown) => boolean;

/** What a surge reads. */
export interface SurgeQuestion {
  readonly deployment: DeploymentKey;
  /** UIDs of pods that cannot be replaced now: their Nodes are read, too. */
  readonly stuck: readonly string[];
}

/** How long a surge waits. */
export interface SurgeTiming {
  /** From one reading to the next while replacements start. */
  readonly pollMs: number;
  /** For room, after the scheduler found none; and for a ReplicaSet, to remove a pod. */
  readonly capacityMs: number;
  /** For replacements that were scheduled and do not become available. */
  readonly replacementMs: number;
  /** For requests to resume, before a surge of an earlier process is undone. */
  readonly recoveryMs: number;
  /** From one reading to the next while no surge is possible. */
  readonly blockedMs: number;
  /** From the first attempt without room to the second one; doubled for each further one. */
  readonly retryMs: number;
}

/** Replacements have ten minutes to start, and one minute to find room. */
export const DEFAULT_SURGE_TIMING: SurgeTiming = {
  pollMs: 2000,
  capacityMs: 60_000,
  replacementMs: 600_000,
  recoveryMs: 30_000,
  blockedMs: 10_000,
  retryMs: 30_000,
};

/** The input of a surge. */
export interface SurgeInput {
  readonly deployment: DeploymentKey;
  /** UIDs of pods. */
  readonly requested: readonly string[];
  /** Found at the start of a process: requests may resume it. */
  readonly isRecovered: boolean;
  readonly timing: SurgeTiming;
  readonly withoutSurge: WithoutSurge;
  readonly seed: Seed;
}

/** The Deployment, its pods and its autoscaler as they were read. */
export type FactsOutcome =
  | { readonly _tag: 'Read'; readonly facts: SurgeFacts; readonly nowMs: number }
  /** Gone, or another one of its name. */
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** The outcome of a write; one that is out of date is decided anew. */
export type SurgeWriteOutcome =
  | { readonly _tag: 'Written' }
  /** Nothing was written. */
  | { readonly _tag: 'Refused'; readonly problem: string; readonly retryAfterMs: number }
  /** It may have been written: there is no answer, or one of a server that failed. */
  | { readonly _tag: 'Failed'; readonly problem: string; readonly retryAfterMs: number };

/** What a surge knows. */
export interface SurgeContext {
  readonly deployment: DeploymentKey;
  readonly isRecovered: boolean;
  readonly timing: SurgeTiming;
  readonly withoutSurge: WithoutSurge;
  readonly requested: readonly string[];
  readonly facts: SurgeFacts | null;
  readonly step: SurgeStep | null;
  /** Since when nothing has changed for the better. */
  readonly stalledSinceMs: number;
  /** Why no surge goes on. */
  readonly refusal: SurgeRefusal | null;
  /** Attempts that found no room or got no available pod. */
  readonly withdrawals: number;
  /** When such an attempt is repeated. */
  readonly retryAtMs: number;
  readonly problem: string | null;
  readonly attempts: Attempts;
}

/** Events of a surge. */
export type SurgeEvent =
  | { readonly type: 'pod.requested'; readonly uid: string }
  | { readonly type: 'pod.withdrawn'; readonly uid: string };

/** One write, of a step that was decided on these facts. */
export interface SurgeWrite {
  readonly deployment: DeploymentKey;
  readonly facts: SurgeFacts;
  readonly step: SurgeStep;
}
