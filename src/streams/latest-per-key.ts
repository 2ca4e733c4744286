/**
 * Work on the latest value of each key, a bounded number of keys at once.
 *
 * Promises: never two works of one key at a time; a value that comes while its key is busy or
 * waits replaces the one that waits, so the last value of a burst is always worked on; keys take
 * turns in the order of arrival; what is kept is one value per key that is busy or waits,
 * and an entry leaves when its key goes idle; a task that throws ends only itself, so one defect
 * never stops the work on other values.
 */
import { defer, Observable, type ObservableInput, type OperatorFunction, Subscription } from 'rxjs';

/** How to key and process values. */
export interface LatestPerKeyOptions<Value, Result> {
  readonly key: (value: Value) => string;
  /** Concurrent keys. */
  readonly concurrency: number;
  /** The task of a key; it is over when this completes or fails. */
  readonly work: (value: Value) => ObservableInput<Result>;
  /** Called when `key` or `work` throws, or the task fails; the value counts as done. */
  readonly onDefect: (cause: unknown, value: Value) => void;
}

/** The key of a value, or undefined when reading it throws. */
const keyIn = <Value>(
  value: Value,
  { key, onDefect }: Pick<LatestPerKeyOptions<Value, unknown>, 'key' | 'onDefect'>,
): string | undefined => {
  try {
    return key(value);
  } catch (cause) {
    onDefect(cause, value);
    return undefined;
  }
};

/** Emits results as they arrive; completes when the source has and all tasks are done. */
export const latestPerKey = <Value, Result>(
  { key, concurrency, work, onDefect }: LatestPerKeyOptions<Value, Result>,
): OperatorFunction<Value, Result> =>
(source) =>
  new Observable<Result>((subscriber) => {
    const busy = new Set<string>();
    /** Values that wait, in order of arrival. */
    const waiting = new Map<string, Value>();
    /** Values that came while their key was busy; they wait once its task has ended. */
    const behind = new Map<string, Value>();
    const tasks = new Subscription();
    let ended = false;
    let starting = false;

    const finish = (name: string): void => {
      busy.delete(name);
      const next = behind.get(name);
      if (next !== undefined) {
        behind.delete(name);
        waiting.set(name, next);
      }
      startTasks();
    };

    const startTask = (name: string, value: Value): void => {
      let done = false;
      busy.add(name);
      const task = defer(() => work(value)).subscribe({
        next: (result) => subscriber.next(result),
        error: (cause) => {
          done = true;
          onDefect(cause, value);
        },
        complete: () => {
          done = true;
        },
      });
      tasks.add(task);
      // Runs after the task's cleanup, so that two never overlap.
      task.add(() => {
        tasks.remove(task);
        if (done) finish(name);
      });
    };

    /** A loop and no recursion: tasks may end synchronously. */
    const startTasks = (): void => {
      if (starting) return;
      starting = true;
      for (const [name, value] of waiting) {
        if (busy.size >= concurrency || subscriber.closed) break;
        waiting.delete(name);
        startTask(name, value);
      }
      starting = false;
      if (ended && busy.size === 0 && waiting.size === 0) subscriber.complete();
    };

    subscriber.add(tasks);
    subscriber.add(
      source.subscribe({
        next: (value) => {
          const name = keyIn(value, { key, onDefect });
          if (name === undefined) return;
          if (busy.has(name)) behind.set(name, value);
          else waiting.set(name, value);
          startTasks();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          ended = true;
          startTasks();
        },
      }),
    );
  });
