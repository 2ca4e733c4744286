/**
 * Kubernetes Events (events.k8s.io/v1). Promises: they are the last class of the write budget, a
 * write that is delayed too long is dropped, and nothing waits for one.
 */
import { Context, Effect, Layer, Schedule } from 'effect';
import { type EventNote, type Regarding, REPORTING_CONTROLLER } from '../api/event-note.ts';
import { REASONS } from '../api/reasons.ts';
import { cutText, cutTextToBytes } from '../domain/text.ts';
import { rfc3339 } from '../domain/time.ts';
import type { KubeCall } from './kube-api.ts';
import { Writes } from './writes.ts';

/** The API server's limit for notes, in bytes. */
const NOTE_BYTES_MAX = 1024;
/** Leaves room for the suffix within the 253 characters of a name. */
const OBJECT_NAME_CHARS_MAX = 200;
/** The API server's limit for `reportingInstance`. */
const INSTANCE_CHARS_MAX = 128;
const TRIES = 3;
const FIRST_RETRY_MS = 500;
const WRITE_TIMEOUT_MS = 10_000;

/** One write of an Event: the first, or an update of its series. */
export interface EventWriting extends EventNote {
  readonly instance: string;
  /** Unique among the series of this process. */
  readonly number: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The number of occurrences; 1 for the first write. */
  readonly count: number;
}

/** The outcome of a write. */
export type EventOutcome = 'written' | 'failed';

/** Writes Events. */
export class Events extends Context.Service<Events, {
  readonly write: (writing: EventWriting) => Effect.Effect<EventOutcome>;
}>()('tidegate/Events') {}

/** RFC 3339 with microseconds: `MicroTime` accepts nothing shorter. */
const microTime = (epochMs: number): string => rfc3339(epochMs).replace(/Z$/, '000Z');

/** Events about cluster-scoped objects live in `default`. */
const namespaceOf = ({ namespace }: Regarding): string =>
  namespace === undefined || namespace === '' ? 'default' : namespace;

/** `<object>.<time and number in hex>`, as other reporters name theirs. */
const nameOf = ({ regarding, firstMs, number }: EventWriting): string => {
  const object = regarding.name.slice(0, OBJECT_NAME_CHARS_MAX).replace(/[^a-z0-9]+$/, '');
  return `${object}.${firstMs.toString(16)}${number.toString(16).padStart(6, '0')}`;
};

const seriesOf = ({ count, lastMs }: EventWriting): object =>
  count < 2 ? {} : { series: { count, lastObservedTime: microTime(lastMs) } };

const regardingOf = ({ uid, ...regarding }: Regarding): object =>
  uid === '' ? regarding : { ...regarding, uid };

const eventOf = (writing: EventWriting): object => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: nameOf(writing), namespace: namespaceOf(writing.regarding) },
  eventTime: microTime(writing.firstMs),
  reportingController: REPORTING_CONTROLLER,
  reportingInstance: cutText(writing.instance, INSTANCE_CHARS_MAX),
  action: REASONS[writing.reason].action,
  reason: writing.reason,
  type: REASONS[writing.reason].type,
  regarding: regardingOf(writing.regarding),
  note: cutTextToBytes(writing.note, NOTE_BYTES_MAX),
  ...seriesOf(writing),
});

const creation = (writing: EventWriting): KubeCall => ({
  method: 'POST',
  path: `/apis/events.k8s.io/v1/namespaces/${namespaceOf(writing.regarding)}/events`,
  body: eventOf(writing),
  timeoutMs: WRITE_TIMEOUT_MS,
});

const continuation = (writing: EventWriting): KubeCall => ({
  method: 'PATCH',
  path: `${creation(writing).path}/${nameOf(writing)}`,
  contentType: 'application/merge-patch+json',
  body: seriesOf(writing),
  timeoutMs: WRITE_TIMEOUT_MS,
});

const isTransient = (status: number): boolean => status === 429 || status >= 500;

/** Events of a real API server. An expired Event is created again. */
export const eventsLayer: Layer.Layer<Events, never, Writes> = Layer.effect(
  Events,
  Effect.gen(function* () {
    const writes = yield* Writes;
    const send = (call: KubeCall) =>
      writes.send('event', call).pipe(
        Effect.flatMap((answer) =>
          isTransient(answer.status)
            ? Effect.fail(`status ${answer.status}`)
            : Effect.succeed(answer)
        ),
        Effect.retry({
          times: TRIES - 1,
          schedule: Schedule.exponential(FIRST_RETRY_MS),
        }),
      );
    return {
      write: (writing) =>
        (writing.count < 2 ? send(creation(writing)) : send(continuation(writing)).pipe(
          Effect.flatMap((answer) =>
            answer.status === 404 ? send(creation(writing)) : Effect.succeed(answer)
          ),
        )).pipe(
          Effect.match({
            onFailure: (): EventOutcome => 'failed',
            onSuccess: ({ status }): EventOutcome => (status < 300 ? 'written' : 'failed'),
          }),
        ),
    };
  }),
);
