/** An asynchronous queue with one producer and one consumer. */

/** Both ends of a queue. It accepts nothing after `end` or `fail`. */
export interface FrameQueue<T> {
  readonly push: (item: T) => void;
  readonly end: () => void;
  readonly fail: (cause: Error) => void;
  /** For one reader. Items pushed before the end are still delivered. */
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
