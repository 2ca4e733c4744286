/**
 * When the nodes of a maintenance may begin.
 *
 * Promises: a window is open from each start of its schedule for its duration; one that never
 * starts again stays closed, and so does one that cannot be read. A closed window begins no node
 * and leaves those alone that are under way. Times are wall-clock milliseconds.
 */
import { rfc3339Seconds } from '../time.ts';
import type { ObservedMaintenance, WindowSpec } from './observed-maintenance.ts';
import { cordons, workedStage } from './stage.ts';

/** The first start after a time; `null` when there is none any more. */
export type NextStart = (afterMs: number) => number | null;

/** A window that cannot be read: the field, and what is wrong with its text. */
export interface MalformedWindow {
  readonly _tag: 'Malformed';
  readonly field: 'schedule' | 'timeZone';
  readonly problem: string;
}

/** What a schedule is read as. */
export type ScheduleReading =
  | { readonly _tag: 'Schedule'; readonly nextStart: NextStart }
  | MalformedWindow;

/** Whether nodes may begin now. */
export type WindowState =
  /** Closes then at the earliest: another start may keep it open. */
  | { readonly _tag: 'Open'; readonly untilMs: number }
  /** `null`: for good. */
  | { readonly _tag: 'Closed'; readonly opensMs: number | null };

const MINUTE_MS = 60_000;

/** The state of a window. */
export const windowState = (
  nextStart: NextStart,
  durationMinutes: number,
  nowMs: number,
): WindowState => {
  const durationMs = durationMinutes * MINUTE_MS;
  const startMs = nextStart(nowMs - durationMs);
  if (startMs === null || startMs > nowMs) return { _tag: 'Closed', opensMs: startMs };
  return { _tag: 'Open', untilMs: startMs + durationMs };
};

/** What was read of a window, of which spec and when. */
export interface ObservedWindow {
  readonly generation: number;
  readonly observedMs: number;
  readonly state: WindowState | MalformedWindow;
}

/** The window of a maintenance at a time. */
export const observedWindow = (
  { generation, nowMs }: { readonly generation: number; readonly nowMs: number },
  { durationMinutes }: WindowSpec,
  reading: ScheduleReading,
): ObservedWindow => ({
  generation,
  observedMs: nowMs,
  state: reading._tag === 'Malformed'
    ? reading
    : windowState(reading.nextStart, durationMinutes, nowMs),
});

/** What a maintenance and its window are decided by. */
export interface WindowFacts {
  readonly maintenance: ObservedMaintenance;
  /** `null` before it was read. */
  readonly window: ObservedWindow | null;
}

/** Whether nodes may begin. */
export type WindowPhase =
  /** Always: the spec has no window, or no node is worked on. */
  | 'Unlimited'
  /** Not before the window of this spec is read. */
  | 'Unknown'
  | 'Open'
  | 'Closed'
  /** Not before a person mends the spec. */
  | 'Malformed';

/** The phase of the window of this spec. */
export const windowPhase = ({ maintenance, window }: WindowFacts): WindowPhase => {
  const { spec, generation } = maintenance;
  if (spec.window === null || !cordons(workedStage(maintenance))) {
    return 'Unlimited';
  }
  return window?.generation === generation ? window.state._tag : 'Unknown';
};

/**
 * Between two looks at the clock: its steps, and a machine that slept, are noticed within this
 * time.
 */
const LOOK_MS_MAX = 300_000;

/** How long after it was observed a window is to be looked at again. */
export const windowChangeMs = (window: ObservedWindow | null): number => {
  if (window === null || window.state._tag === 'Malformed') return LOOK_MS_MAX;
  const { state, observedMs } = window;
  const changeMs = state._tag === 'Open' ? state.untilMs : state.opensMs;
  return changeMs === null ? LOOK_MS_MAX : Math.min(changeMs - observedMs, LOOK_MS_MAX);
};

const REMEDIES = {
  schedule: 'write five fields of cron, such as "0 2 * * 6" for Saturdays at 02:00',
  timeZone: 'write an IANA name, such as "Europe/Berlin"',
} as const;

/** Why no node begins; empty while nodes may begin. */
export const closedWindowText = ({ maintenance, window }: WindowFacts): string => {
  const { name, spec } = maintenance;
  const phase = windowPhase({ maintenance, window });
  if (spec.window === null || window === null || phase === 'Unlimited' || phase === 'Unknown') {
    return '';
  }
  const { state } = window;
  const named = (field: MalformedWindow['field']): string =>
    `spec.window.${field} "${spec.window?.[field] ?? ''}" of NodeMaintenance "${name}"`;
  switch (state._tag) {
    case 'Open':
      return '';
    case 'Malformed':
      return `Cannot read ${named(state.field)}: ${state.problem}; ${REMEDIES[state.field]}`;
    case 'Closed':
      return state.opensMs === null
        ? `The window does not open again: ${named('schedule')} has no further start; change it`
        : `The window opens at ${rfc3339Seconds(state.opensMs)}`;
  }
};
