/**
 * An invariant of the simulated world: observes everything and reports a violation.
 *
 * Promises: invariants read the store, the fleet and the observations of a process; they change
 * nothing. An invariant about what must have happened by now counts only calm time.
 */
import type { InspectionEvent } from 'xstate';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  textAt,
} from '../../src/domain/json.ts';
import type { Time } from '../../src/domain/time.ts';
import type { KubeAnswer, KubeCall, WatchLine } from '../../src/effects/kube-api.ts';
import type { StoredChange } from '../../packages/embedded-kubernetes/src/storage/collection.ts';
import type { EmbeddedSite } from './embedded-site.ts';
import type { LogEntry } from './simulated-process.ts';

/** What a process logs at the end of a term. Missing it makes an invariant stricter, not laxer. */
export const TERM_ENDED = 'Lost leadership';

/** The inputs of invariants. */
export interface Bench {
  readonly site: EmbeddedSite;
  readonly time: Time;
  /** Reports a violation. */
  readonly broken: (invariant: string, what: string) => void;
  /** How long there has been no fault and a leader, in milliseconds. */
  readonly calmMs: () => number;
  /** Nodes that a person has cordoned. */
  readonly cordonedByPerson: ReadonlySet<string>;
  /** The start of a process on the monotonic clock. */
  readonly startedMs: (process: string) => number;
}

/** A request of a process in flight. */
export interface Sent {
  readonly process: string;
  readonly call: KubeCall;
}

/** The events for an invariant. */
export interface Invariant {
  readonly change?: (change: StoredChange) => void;
  /** A request is sent. */
  readonly leaves?: (sent: Sent) => void;
  /** The server has processed it. */
  readonly done?: (sent: Sent, answer: KubeAnswer) => void;
  /** Its answer has arrived; undefined when it was lost. */
  readonly answered?: (sent: Sent, answer: KubeAnswer | undefined) => void;
  readonly arrives?: (process: string, path: string, lines: readonly WatchLine[]) => void;
  /** The fleet has received a frame. */
  readonly frame?: (process: string, frame: Uint8Array) => void;
  /** The process has received a frame. */
  readonly delivered?: (process: string, frame: Uint8Array) => void;
  readonly logged?: (process: string, entry: LogEntry) => void;
  /** Something happened to an actor of a process. */
  readonly inspection?: (process: string, event: InspectionEvent) => void;
  /** Every second. */
  readonly tick?: () => void;
  /** All faults are healed and the world has come to rest. */
  readonly end?: () => void;
}

/** `metadata.name`. */
export const nameOf = (object: unknown): string => textAt(object, 'metadata', 'name') ?? '';

/** `metadata.uid`; a Node that comes again under its name is another. */
export const uidOf = (object: unknown): string => textAt(object, 'metadata', 'uid') ?? '';

/** `metadata.resourceVersion` as a number. */
export const resourceVersionOf = (object: unknown): number =>
  Number(textAt(object, 'metadata', 'resourceVersion') ?? 0);

/** The newest of each object that a process was shown, of one collection. */
export interface Views {
  /** `undefined` when the process was never shown it. */
  readonly get: (process: string, key: string) => View | undefined;
  readonly invariant: Pick<Invariant, 'arrives' | 'answered'>;
}

/** What a process was shown last, and the one before that. */
export interface View {
  readonly object: JsonRecord;
  readonly sinceMs: number;
  readonly before: View | undefined;
}

const keyOf = (object: unknown): string => {
  const namespace = textAt(object, 'metadata', 'namespace');
  return namespace === undefined ? nameOf(object) : `${namespace}/${nameOf(object)}`;
};

/** The path of one object, in a namespace or not. */
const isOneOf = (collection: string, path: string): boolean =>
  path.replace(/\/namespaces\/[^/]+(?=\/)/, '').startsWith(`${collection}/`);

/** Follows what processes are shown of the collection at `path`. */
export const viewsOf = (time: Time, path: string): Views => {
  const views = new Map<string, View>();
  const show = (process: string, raw: unknown): void => {
    const object = asRecord(raw);
    if (object === undefined || nameOf(object) === '') return;
    const key = `${process} ${keyOf(object)}`;
    const known = views.get(key);
    if (known !== undefined && resourceVersionOf(known.object) >= resourceVersionOf(object)) return;
    const before = known === undefined ? undefined : { ...known, before: undefined };
    views.set(key, { object, sinceMs: time.monotonic(), before });
  };
  return {
    get: (process, key) => views.get(`${process} ${key}`),
    invariant: {
      arrives: (process, at, lines) => {
        if (at !== path) return;
        for (const { type, object } of lines) if (type !== 'BOOKMARK') show(process, object);
      },
      answered: ({ process, call }, answer) => {
        if (answer === undefined || answer.status >= 300) return;
        if (call.path === path) {
          for (const item of listOrEmptyAt(answer.body, 'items')) show(process, item);
        } else if (isOneOf(path, call.path) && !call.path.endsWith('/eviction')) {
          show(process, answer.body);
        }
      },
    },
  };
};

/** `metadata.generation` has been observed. */
export const isObserved = (object: unknown): boolean =>
  (numberAt(object, 'status', 'observedGeneration') ?? 0) >=
    (numberAt(object, 'metadata', 'generation') ?? 0);
