/** The types of the `podEviction` statechart, and what ends the waits of its pod. */
import type { EvictionOutcome } from '../domain/drain/answer.ts';
import type { PodFacts } from '../domain/drain/pod-facts.ts';
import type { Seed } from '../domain/random.ts';

export interface PodEvictionInput {
  readonly uid: string;
  /** `namespace/name`. */
  readonly key: string;
  /** The node that it must leave. */
  readonly node: string;
  readonly facts: PodFacts;
  readonly seed: Seed;
}

export interface PodEvictionContext extends PodEvictionInput {
  readonly released: boolean;
  readonly vanished: boolean;
  /** An eviction was accepted. */
  readonly accepted: boolean;
  /** A call about it was answered. */
  readonly asked: boolean;
  /** Consecutive answers that required a wait. */
  readonly attempt: number;
  /** The last answer. */
  readonly outcome: EvictionOutcome | null;
}

export type PodEvictionEvent =
  | { readonly type: 'pod.observed'; readonly facts: PodFacts }
  /** The pod of this UID does not exist any more. */
  | { readonly type: 'pod.vanished' }
  | { readonly type: 'eviction.wanted' }
  /** The drain has an earlier deadline now. */
  | { readonly type: 'deadline.moved' }
  /** No new eviction: the drain was cancelled, paused or has ended. */
  | { readonly type: 'eviction.released' }
  /** The dispatcher chose it: it holds the needed slot until the request is answered. */
  | { readonly type: 'eviction.dispatched' };

/** The pod that is evicted. */
export type PodEvictionAct = Pick<PodEvictionContext, 'uid' | 'key'>;

/** No eviction is allowed, regardless of other facts. */
export const isDecided = ({ vanished, released, accepted, facts }: PodEvictionContext): boolean =>
  vanished || released || accepted || facts.terminating;

/** What ends the waits of a pod that is to be evicted. */
export const isInterrupted = (context: PodEvictionContext): boolean =>
  isDecided(context) || context.facts.intercepted ||
  (context.asked && context.facts.kubeletSilent);
