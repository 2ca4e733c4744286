/**
 * Processes the latest value of each key, with bounded concurrency.
 *
 * Promises: never two tasks of one key at a time; a value that arrives while its key is busy or
 * queued replaces the queued one, so the last value of a burst is always processed; keys are served
 * FIFO; memory is one value per busy or queued key, and an idle key's entry is removed.
 */
import { from, Observable, type ObservableInput, type OperatorFunction, Subscription } from 'rxjs';

/** How to key and process values. */
export interface LatestPerKeyOptions<Value, Result> {
  readonly key: (value: Value) => string;
  /** Concurrent keys. */
  readonly concurrency: number;
  /** One task of a key; it ends when this completes. An error ends the whole stream. */
  readonly work: (value: Value) => ObservableInput<Result>;
}

/** Emits results as they arrive; completes when the source has and all tasks are done. */
export const latestPerKey = <Value, Result>(
  { key, concurrency, work }: LatestPerKeyOptions<Value, Result>,
): OperatorFunction<Value, Result> =>
(source) =>
  new Observable<Result>((subscriber) => {
    const busy = new Set<string>();
    /** Queued, in order of arrival. */
    const waiting = new Map<string, Value>();
    /** Arrived while its key was busy; queued again when that task ends. */
    const behind = new Map<string, Value>();
    const turns = new Subscription();
    let ended = false;
    let starting = false;

    const finish = (name: string): void => {
      busy.delete(name);
      const next = behind.get(name);
      if (next !== undefined) {
        behind.delete(name);
        waiting.set(name, next);
      }
      startTurns();
    };

    const startTurn = (name: string, value: Value): void => {
      let done = false;
      busy.add(name);
      const turn = from(work(value)).subscribe({
        next: (result) => subscriber.next(result),
        error: (error) => subscriber.error(error),
        complete: () => {
          done = true;
        },
      });
      turns.add(turn);
      // Runs after the task's cleanup, so that two never overlap.
      turn.add(() => {
        turns.remove(turn);
        if (done) finish(name);
      });
    };

    /** A loop instead of recursion: a task may end while it starts. */
    const startTurns = (): void => {
      if (starting) return;
      starting = true;
      for (const [name, value] of waiting) {
        if (busy.size >= concurrency || subscriber.closed) break;
        waiting.delete(name);
        startTurn(name, value);
      }
      starting = false;
      if (ended && busy.size === 0 && waiting.size === 0) subscriber.complete();
    };

    subscriber.add(turns);
    subscriber.add(
      source.subscribe({
        next: (value) => {
          const name = key(value);
          if (busy.has(name)) behind.set(name, value);
          else waiting.set(name, value);
          startTurns();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          ended = true;
          startTurns();
        },
      }),
    );
  });
