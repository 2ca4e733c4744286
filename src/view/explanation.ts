/**
 * The explanation of an object: its kind, its state and the cause, what it waits for, and who can
 * act.
 *
 * Plain data, printed as text or as JSON.
 */
import { REPORTING_CONTROLLER } from '../api/event-note.ts';
import type { CanAct } from '../api/reasons.ts';
import { listOrEmptyAt, numberAt, textAt, valueAt } from '../domain/json.ts';
import { duration } from './duration.ts';

/** A named detail. */
export interface Detail {
  readonly name: string;
  readonly value: string;
}

/** An invalid field and its remedy. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
  readonly remedy: string;
}

/** An occurrence that an Event records. */
export interface TimelineEntry {
  /** RFC 3339, of the last occurrence. */
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly count: number;
  /** The controller that reports it, as it calls itself; empty when it does not. */
  readonly reporter: string;
}

/** True of an Event that Tidegate reports: only these are believed. */
export const isOurs = ({ reporter }: Pick<TimelineEntry, 'reporter'>): boolean =>
  reporter === REPORTING_CONTROLLER;

/** The explanation of one object. */
export interface Explanation {
  readonly kind: string;
  readonly name: string;
  /** The state in one word, from the object's own status. */
  readonly state: string;
  readonly what: string;
  readonly why: string;
  readonly waitsFor: string;
  readonly canAct: CanAct;
  /** The recommended action; empty when none is needed. */
  readonly action: string;
  /** The address of the page about it; empty without one. */
  readonly runbook: string;
  readonly problems: readonly FieldProblem[];
  readonly details: readonly Detail[];
  /** Newest first. */
  readonly events: readonly TimelineEntry[];
}

/** The number of Events shown; older ones rarely explain the current state. */
const EVENTS_MAX = 10;

const lastTimeOf = (event: unknown): string =>
  textAt(event, 'series', 'lastObservedTime') ?? textAt(event, 'deprecatedLastTimestamp') ??
    textAt(event, 'eventTime') ?? textAt(event, 'metadata', 'creationTimestamp') ?? '';

/** Reads an Event (events.k8s.io/v1). Total. */
export const timelineEntryOf = (event: unknown): TimelineEntry => ({
  time: lastTimeOf(event),
  type: textAt(event, 'type') ?? 'Normal',
  reason: textAt(event, 'reason') ?? '',
  note: textAt(event, 'note') ?? '',
  count: numberAt(event, 'series', 'count') ?? numberAt(event, 'deprecatedCount') ?? 1,
  reporter: textAt(event, 'reportingController') ?? '',
});

/** The newest entries of EventLists (events.k8s.io/v1), newest first. */
export const timelineOf = (eventLists: readonly unknown[]): readonly TimelineEntry[] =>
  eventLists.flatMap((list) => listOrEmptyAt(list, 'items').map(timelineEntryOf))
    .toSorted((left, right) => Date.parse(right.time) - Date.parse(left.time))
    .slice(0, EVENTS_MAX);

/** `spec.resources` or another map of quantities, as `cpu 4, memory 16Gi`. */
export const quantitiesText = (object: unknown, ...path: readonly string[]): string => {
  const amounts = valueAt(object, ...path);
  if (typeof amounts !== 'object' || amounts === null) return '';
  return Object.entries(amounts).map(([name, amount]) => `${name} ${String(amount)}`).join(', ');
};

/** The age: `3d4h`, `12m5s`, `0s`. Undefined for an invalid time. */
export const age = (time: string | undefined, nowMs: number): string | undefined => {
  const thenMs = Date.parse(time ?? '');
  return Number.isNaN(thenMs) ? undefined : duration(nowMs - thenMs);
};
