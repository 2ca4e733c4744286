/**
 * A heap of timers.
 *
 * Promises: the earliest fires first, ties in creation order; adding, firing and cancelling are
 * cheap at any size, because simulations arm tens of thousands of timers and cancel most. A
 * cancelled timer stays until it reaches the top or is swept.
 */

/** One timer. */
export interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  /** Neither fired nor cancelled. */
  armed: boolean;
}

/** The armed timers. */
export interface TimerHeap {
  readonly add: (timer: Timer) => void;
  /** Cancels a timer; idempotent. */
  readonly disarm: (timer: Timer) => void;
  readonly first: () => Timer | undefined;
  /** How many are armed. */
  readonly size: () => number;
}

/** Smaller heaps are not swept. */
const SWEEP_MIN = 1000;

const comesBefore = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);

/** Sifts a timer up from the end of the heap. */
const rise = (heap: Timer[], timer: Timer): void => {
  let at = heap.length;
  while (at > 0) {
    const above = (at - 1) >>> 1;
    const parent = heap[above];
    if (parent === undefined || !comesBefore(timer, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = timer;
};

/** Sifts a timer down from the top of the heap. */
const sink = (heap: Timer[], timer: Timer): void => {
  let at = 0;
  while (true) {
    let below = 2 * at + 1;
    let child = heap[below];
    const right = heap[below + 1];
    if (right !== undefined && child !== undefined && comesBefore(right, child)) {
      below += 1;
      child = right;
    }
    if (child === undefined || !comesBefore(child, timer)) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = timer;
};

/** No timers. */
export const timerHeap = (): TimerHeap => {
  let heap: Timer[] = [];
  let armed = 0;
  const sweep = (): void => {
    if (heap.length < SWEEP_MIN || heap.length < 2 * armed) return;
    // A sorted list is a heap.
    heap = heap.filter((timer) => timer.armed)
      .sort((one, other) => comesBefore(one, other) ? -1 : 1);
  };
  return {
    add: (timer) => {
      armed += 1;
      rise(heap, timer);
    },
    disarm: (timer) => {
      if (!timer.armed) return;
      timer.armed = false;
      armed -= 1;
      sweep();
    },
    first: () => {
      while (heap[0]?.armed === false) {
        const last = heap.pop();
        if (last !== undefined && heap.length > 0) sink(heap, last);
      }
      return heap[0];
    },
    size: () => armed,
  };
};
