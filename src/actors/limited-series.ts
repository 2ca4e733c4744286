/**
 * The objects that have series of metrics of their own.
 *
 * Promises: at most `OBJECTS_WITH_SERIES_MAX` at once; the others are counted.
 */

/** Objects of one kind with series of their own; well below the limit of series of a metric. */
export const OBJECTS_WITH_SERIES_MAX = 1000;

/** Values by object, as many as may have series. */
export class LimitedSeries<Key extends string, Value> {
  readonly #values = new Map<Key, Value>();
  readonly #leftOut = new Set<Key>();
  readonly #onLeftOut: (count: number) => void;

  constructor(onLeftOut: (count: number) => void) {
    this.#onLeftOut = onLeftOut;
    onLeftOut(0);
  }

  readonly get = (key: Key): Value | undefined => this.#values.get(key);
  readonly keys = (): readonly Key[] => [...this.#values.keys(), ...this.#leftOut];

  /** Returns false when there is no room. */
  readonly set = (key: Key, value: Value): boolean => {
    const hasRoom = this.#values.has(key) || this.#values.size < OBJECTS_WITH_SERIES_MAX;
    if (hasRoom) this.#values.set(key, value);
    this.#count(key, !hasRoom);
    return hasRoom;
  };

  readonly delete = (key: Key): void => {
    this.#values.delete(key);
    this.#count(key, false);
  };

  #count(key: Key, isLeftOut: boolean): void {
    if (this.#leftOut.has(key) === isLeftOut) return;
    if (isLeftOut) this.#leftOut.add(key);
    else this.#leftOut.delete(key);
    this.#onLeftOut(this.#leftOut.size);
  }
}
