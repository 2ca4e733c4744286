/**
 * What the surge of a Deployment does next: facts in, one step out.
 *
 * Promises: pure. A requested pod is deleted only when as many pods as the Deployment had before
 * stay available, or when it is not available itself; no other pod is ever deleted; replicas are
 * raised by at most `maxSurge`, and restored only from what the surge itself wrote.
 */
import type { SurgeBaseline, SurgeFacts, SurgePod } from './surge-facts.ts';

/** The next step. */
export type SurgeStep =
  | { readonly _tag: 'Raise'; readonly baseline: SurgeBaseline }
  | { readonly _tag: 'Delete'; readonly pod: SurgePod }
  /** Replicas as before the surge; null: they are somebody else's by now and stay. */
  | { readonly _tag: 'Restore'; readonly replicas: number | null }
  /** For replacements to be available. */
  | { readonly _tag: 'Wait' }
  /** Nothing is left to do. */
  | { readonly _tag: 'Done' };

/** The requested pods that have still to go. */
export const remainingPods = (
  { pods }: Pick<SurgeFacts, 'pods'>,
  requested: readonly string[],
): readonly SurgePod[] =>
  pods.filter(({ uid, isTerminating }) => !isTerminating && requested.includes(uid))
    .toSorted((one, other) => one.name < other.name ? -1 : 1);

/** How many pods are available. */
export const availableOf = ({ pods }: Pick<SurgeFacts, 'pods'>): number =>
  pods.filter(({ isAvailable }) => isAvailable).length;

/** Whether somebody else has set the replicas since the surge raised them. */
const isOverwritten = ({ baseline, replicas }: SurgeFacts): boolean =>
  baseline !== null && baseline.raisedTo !== replicas;

/** Why no surge is possible; `undefined` when one is. */
export const surgeRefusal = (facts: SurgeFacts): string | undefined => {
  if (facts.isDeleting) return 'the Deployment is being deleted';
  if (isOverwritten(facts)) {
    return `its replicas were set to ${facts.replicas} by another writer during the surge`;
  }
  return facts.maxSurge > 0 ? undefined : 'its strategy allows no surge';
};

const restoration = (facts: SurgeFacts): SurgeStep => {
  const { baseline } = facts;
  if (baseline === null) return { _tag: 'Done' };
  return { _tag: 'Restore', replicas: isOverwritten(facts) ? null : baseline.replicas };
};

const raise = (
  { baseline, replicas, maxSurge }: SurgeFacts,
  remaining: number,
): SurgeStep => {
  const before = baseline?.replicas ?? replicas;
  const raisedTo = before + Math.min(maxSurge, remaining);
  return raisedTo > replicas
    ? { _tag: 'Raise', baseline: { replicas: before, raisedTo } }
    : { _tag: 'Wait' };
};

/** The next step for the requested pods; none are requested once the surge is refused. */
export const surgeStep = (facts: SurgeFacts, requested: readonly string[]): SurgeStep => {
  const remaining = remainingPods(facts, requested);
  const [first] = remaining;
  if (first === undefined || surgeRefusal(facts) !== undefined) return restoration(facts);
  const spare = availableOf(facts) - (facts.baseline?.replicas ?? facts.replicas);
  const unavailable = remaining.find(({ isAvailable }) => !isAvailable);
  if (unavailable !== undefined) return { _tag: 'Delete', pod: unavailable };
  return spare > 0 ? { _tag: 'Delete', pod: first } : raise(facts, remaining.length);
};
