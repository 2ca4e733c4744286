/** A queue between somebody who pushes and somebody who iterates. */

/** Both ends of a queue. After `end` or `fail`, nothing more is taken in. */
export interface FrameQueue<T> {
  readonly push: (item: T) => void;
  readonly end: () => void;
  readonly fail: (cause: Error) => void;
  /** For one reader. What was pushed before the end is still given. */
  readonly items: AsyncIterable<T>;
}

/** An empty queue. */
export const frameQueue = <T>(): FrameQueue<T> => {
  const waiting: T[] = [];
  let over: { readonly cause: Error | undefined } | undefined;
  let resume: () => void = () => {};

  const finish = (cause: Error | undefined): void => {
    over ??= { cause };
    resume();
  };

  async function* items(): AsyncGenerator<T> {
    for (;;) {
      yield* waiting.splice(0);
      if (waiting.length > 0) continue;
      if (over !== undefined) {
        if (over.cause !== undefined) throw over.cause;
        return;
      }
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
    }
  }

  return {
    push: (item) => {
      if (over !== undefined) return;
      waiting.push(item);
      resume();
    },
    end: () => finish(undefined),
    fail: finish,
    items: items(),
  };
};
