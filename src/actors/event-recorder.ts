/**
 * Records notes as Kubernetes Events, asynchronously.
 *
 * Promises: `record` never blocks and never throws; equal notes form one Event with a series; the
 * queue is bounded, and overflow is dropped and counted, except for unlimited notes.
 */
import { defer, Subject } from 'rxjs';
import type { EventNote, RecordEvent } from '../api/event-note.ts';
import { defectText } from '../api/telemetry.ts';
import { eventSeriesIndex } from '../domain/event-series.ts';
import { Events, type EventWriting } from '../effects/events.ts';
import { Effect } from 'effect';
import { latestPerKey } from '../streams/latest-per-key.ts';
import type { ActorEnvironment } from './actor-environment.ts';

/** The maximum number of queued Events; further ones are dropped. */
export const WAITING_EVENTS_MAX = 5000;
/** Concurrent writes. The write budget paces them: Events are its last class. */
const EVENTS_AT_ONCE = 4;

/** The event recorder of a process. */
export interface EventRecorder {
  readonly record: RecordEvent;
  /** Resolves when the queue is empty. */
  readonly idle: () => Promise<void>;
  /** Stops writing; drops the queue. */
  readonly stop: () => void;
}

const objectOf = ({ regarding: { kind, namespace, name, uid } }: EventNote): string =>
  [kind, namespace ?? '', name, uid].join('/');

/** Within which different notes are limited: the Lease stands for all that a process does. */
const limitedScope = (note: EventNote): string =>
  note.regarding.kind === 'Lease' ? `${objectOf(note)} ${note.reason}` : objectOf(note);

/** Starts a recorder. `instance` is the reporting process. */
export const startEventRecorder = (
  environment: ActorEnvironment<Events>,
  { instance }: { readonly instance: string },
): EventRecorder => {
  const { telemetry, runtime, time } = environment;
  const seriesIndex = eventSeriesIndex();
  const writings = new Subject<EventWriting>();
  /** Series that are queued or being written. */
  const waiting = new Map<number, number>();
  let whenIdle: (() => void)[] = [];
  let stopped = false;

  const count = (outcome: 'written' | 'failed' | 'counted' | 'dropped'): void =>
    telemetry.count('tidegate_events_total', 1, { outcome });
  const settle = (): void => {
    if (waiting.size > 0) return;
    for (const resolve of whenIdle) resolve();
    whenIdle = [];
  };
  const done = ({ number, count: written }: EventWriting): void => {
    if (waiting.get(number) === written) waiting.delete(number);
    settle();
  };
  const write = (writing: EventWriting) =>
    defer(async () => {
      const outcome = await runtime.runPromise(Effect.gen(function* () {
        const events = yield* Events;
        return yield* events.write(writing);
      }));
      count(outcome);
      done(writing);
    });
  const subscription = writings
    .pipe(latestPerKey({
      key: ({ number }) => String(number),
      concurrency: EVENTS_AT_ONCE,
      work: write,
      onDefect: (cause, writing) => {
        count('failed');
        telemetry.log('error', 'Cannot write an Event: its write threw', {
          reason: writing.reason,
          problem: defectText(cause),
        });
        done(writing);
      },
    }))
    .subscribe();

  const record: RecordEvent = (note) => {
    if (stopped) return;
    const isUnlimited = note.isUnlimited === true;
    const key = `${objectOf(note)} ${note.reason} ${note.note}`;
    const moment = { wallMs: time.now(), monotonicMs: time.monotonic() };
    const verdict = seriesIndex.note(key, isUnlimited ? null : limitedScope(note), moment);
    if (verdict._tag === 'Counted') return count('counted');
    const room = isUnlimited || waiting.size < WAITING_EVENTS_MAX;
    if (verdict._tag === 'TooMany' || !room) return count('dropped');
    const { number, count: times, firstMs, lastMs } = verdict.series;
    waiting.set(number, times);
    writings.next({ ...note, instance, number, count: times, firstMs, lastMs });
  };

  return {
    record,
    idle: () =>
      waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve)),
    stop: () => {
      stopped = true;
      subscription.unsubscribe();
      waiting.clear();
      settle();
    },
  };
};
