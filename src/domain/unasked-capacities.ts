/**
 * Finds AvailableCapacities whose profile is not in the demand any more (AVC-01).
 *
 * Promises: an object ages only while roll-ups are acknowledged, and from the first that lacks its
 * profile; a report of the fleet about it begins its time anew; objects that are not named like
 * ours never age. A check is one pass over the objects, at most once a minute.
 */
import type { Need } from './demand/need.ts';
import { type ObjectKey, objectKey } from './ids.ts';
import { availableCapacityName } from './names.ts';
import { profileFingerprint } from './profile.ts';

/** An object is deleted when no roll-up has had its profile for this long. */
const UNASKED_MS = 3_600_000;
/** Between two checks. */
const CHECK_MS = 60_000;
const OURS = /^ac-[0-9a-f]{32}$/;

/** The objects without demand, and since when; monotonic milliseconds. */
export class UnaskedCapacities {
  readonly #since = new Map<ObjectKey, number>();
  /** Unchanged needs are the same objects in every roll-up. */
  readonly #keys = new WeakMap<Need, ObjectKey>();
  #checkedMs = Number.NEGATIVE_INFINITY;

  /** The fleet reported the profile. */
  readonly reported = (key: ObjectKey): void => void this.#since.delete(key);

  /** A new term of leadership begins anew. */
  readonly clear = (): void => {
    this.#since.clear();
    this.#checkedMs = Number.NEGATIVE_INFINITY;
  };

  /** The objects to delete, after the shard acknowledged a roll-up of `needs`. */
  readonly expired = (
    objects: Iterable<ObjectKey>,
    needs: readonly Need[],
    nowMs: number,
  ): readonly ObjectKey[] => {
    if (nowMs - this.#checkedMs < CHECK_MS) return [];
    this.#checkedMs = nowMs;
    const ours = [...objects].filter((key) => OURS.test(key));
    const asked = new Set(ours.length === 0 ? [] : needs.map(this.#keyOf));
    const unasked = new Set(ours.filter((key) => !asked.has(key)));
    for (const key of this.#since.keys()) if (!unasked.has(key)) this.#since.delete(key);
    return [...unasked].filter((key) => nowMs - this.#sinceMs(key, nowMs) >= UNASKED_MS);
  };

  #sinceMs(key: ObjectKey, nowMs: number): number {
    const since = this.#since.get(key) ?? nowMs;
    this.#since.set(key, since);
    return since;
  }

  readonly #keyOf = (need: Need): ObjectKey => {
    const known = this.#keys.get(need);
    if (known !== undefined) return known;
    const key = objectKey(availableCapacityName(`available:${profileFingerprint(need)}`));
    this.#keys.set(need, key);
    return key;
  };
}
