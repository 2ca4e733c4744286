/**
 * Rolling-update arithmetic: how many pods the new and the old ReplicaSets may have next.
 *
 * Promises: pure; never more than `replicas + maxSurge` pods, never fewer than `replicas −
 * maxUnavailable` available; surge rounds up, unavailable rounds down, and both zero means one
 * unavailable, as in Kubernetes.
 */
import { valueAt } from '../values/json.ts';
import { scaledUp } from './budget-status.ts';

/** One ReplicaSet of a Deployment. */
export interface SetFacts {
  readonly name: string;
  readonly wanted: number;
  readonly available: number;
}

/** The progress of a rollout. */
export interface RolloutFacts {
  readonly replicas: number;
  readonly strategy: unknown;
  /** `undefined` until it is created. */
  readonly next: SetFacts | undefined;
  /** Oldest first. */
  readonly old: readonly SetFacts[];
}

/** The next size of each set by name; `next` is that of the new set. */
export interface RolloutStep {
  readonly next: number;
  readonly old: ReadonlyMap<string, number>;
}

const DEFAULT_SHARE = '25%';

const scaledDown = (value: unknown, total: number): number => {
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  if (percent !== undefined) return Math.floor(Number(percent) * total / 100);
  return scaledUp(value, total) ?? 0;
};

/** The allowed surplus and shortfall of pods. */
export const leeway = (
  strategy: unknown,
  replicas: number,
): { readonly surge: number; readonly unavailable: number } => {
  const at = (field: string) => valueAt(strategy, 'rollingUpdate', field) ?? DEFAULT_SHARE;
  const surge = scaledUp(at('maxSurge'), replicas) ?? 0;
  const unavailable = scaledDown(at('maxUnavailable'), replicas);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
};

const total = (sets: readonly SetFacts[], field: 'wanted' | 'available'): number =>
  sets.reduce((sum, set) => sum + set[field], 0);

/** How far to shrink the old sets: at most `most` pods, at most `spare` available ones. */
interface Shrinking {
  readonly most: number;
  readonly spare: number;
}

/** Removes pods: unavailable ones first, then those of the oldest sets (as Kubernetes). */
const shrink = (
  old: readonly SetFacts[],
  { most, spare }: Shrinking,
): ReadonlyMap<string, number> => {
  const sizes = new Map(old.map(({ name, wanted }) => [name, wanted]));
  let left = Math.max(0, most);
  for (const { name, wanted, available } of old) {
    const useless = Math.min(left, Math.max(0, wanted - available));
    sizes.set(name, wanted - useless);
    left -= useless;
  }
  let room = Math.min(left, Math.max(0, spare));
  for (const { name } of old) {
    const size = sizes.get(name) ?? 0;
    const less = Math.min(size, room);
    sizes.set(name, size - less);
    room -= less;
  }
  return sizes;
};

/** The next step of a rollout. */
export const rolloutStep = ({ replicas, strategy, next, old }: RolloutFacts): RolloutStep => {
  const oldWanted = total(old, 'wanted');
  if (valueAt(strategy, 'type') === 'Recreate') {
    const gone = new Map(old.map(({ name }) => [name, 0]));
    return { next: oldWanted === 0 ? replicas : next?.wanted ?? 0, old: gone };
  }
  const { surge, unavailable } = leeway(strategy, replicas);
  const now = next?.wanted ?? 0;
  const room = replicas + surge - oldWanted - now;
  const grown = Math.min(replicas, now + Math.max(0, room));
  const least = replicas - unavailable;
  // `availableReplicas` lags behind `replicas`, so both limit what may go.
  const pending = Math.max(0, now - (next?.available ?? 0));
  const most = oldWanted + now - least - pending;
  const spare = total(old, 'available') + (next?.available ?? 0) - least;
  return { next: grown, old: shrink(old, { most, spare }) };
};
