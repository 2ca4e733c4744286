/** Logs, metrics and Events of the session: its state, its ends, and oversized roll-ups. */
import type { SnapshotFrom } from 'xstate';
import type { Telemetry } from '../../api/telemetry.ts';
import type { EndingCause, Rollup, SessionEnding } from '../../domain/session.ts';
import { reachableNote, refusedNote, unreachableNote } from '../../domain/shard-reach.ts';
import type { RollupFrame } from '../../effects/rollup-frame.ts';
import type { fleetSession } from '../../machines/fleet-session.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { RecordOnLease } from '../role.ts';

/** The state names of the metric. */
const METRIC_STATES = [
  'standby',
  'waitingForDemand',
  'waitingForCredentials',
  'dialling',
  'redialling',
  'greeting',
  'streaming',
  'renewing',
  'stopping',
  'overdue',
  'backingOff',
  'unreachable',
  'refused',
  'stopped',
  'crashed',
] as const;

/** The state as a person would name it. */
export const sessionStateName = ({ value }: SnapshotFrom<typeof fleetSession>): string => {
  if (typeof value === 'string') return value;
  const { connected } = value;
  if (typeof connected !== 'object') return connected ?? 'stopped';
  return 'greeting' in connected ? 'greeting' : 'streaming';
};

/** The number of equal warnings logged in full … */
const WARNINGS_IN_FULL = 20;
/** … and after that one in this many; the metrics count all. */
const WARNINGS_ONE_IN = 1000;

/** The telemetry with sampling of repeated warnings. */
export const sampledLogger = (telemetry: Telemetry): Telemetry => {
  const seen = new Map<string, number>();
  return {
    ...telemetry,
    log: (level, message, fields) => {
      if (level !== 'warn') return telemetry.log(level, message, fields);
      const times = (seen.get(message) ?? 0) + 1;
      seen.set(message, times);
      if (times <= WARNINGS_IN_FULL || times % WARNINGS_ONE_IN === 0) {
        telemetry.log(level, message, { ...fields, times });
      }
    },
  };
};

/** Reports once whether the session has TLS. */
export const reportTransport = (
  { telemetry }: Pick<ActorEnvironment<never>, 'telemetry'>,
  isSecured: boolean,
): void => {
  telemetry.gauge('tidegate_session_plaintext', isSecured ? 0 : 1);
  if (isSecured) return;
  telemetry.log(
    'warn',
    'Session without TLS: user data and instructions are readable and forgeable',
  );
};

/** Keeps the state metric current and logs each change. */
export const stateRecorder = ({ telemetry }: Pick<ActorEnvironment<never>, 'telemetry'>) => {
  let current: string | undefined;
  return (state: string): void => {
    if (state === current) return;
    for (const other of METRIC_STATES) {
      telemetry.gauge('tidegate_session_state', other === state ? 1 : 0, { state: other });
    }
    if (current !== undefined) {
      telemetry.log('info', 'Session state changed', { from: current, to: state });
    }
    current = state;
  };
};

/** Logs and counts the end of a stream, or of the attempt to open one. */
export const recordEnding = (
  { telemetry }: Pick<ActorEnvironment<never>, 'telemetry'>,
  { why, detail }: SessionEnding,
  attempt: number,
): void => {
  const refused = why === 'CredentialsRefused' || why === 'RefusedByShard';
  telemetry.count('tidegate_session_endings_total', 1, { cause: why });
  telemetry.log(refused ? 'error' : 'warn', refused ? 'Session refused' : 'Session ended', {
    cause: why,
    detail,
    attempt,
  });
};

/** Records an outage of the shard and its end, again and again while it lasts: Events expire. */
export interface OutageRecorder {
  /** The note has the words of this refusal: a person has perhaps mended the one before. */
  readonly refused: (ending: SessionEnding) => void;
  /** The note of a cause is that of its first end, so that repeats are one Event with a series. */
  readonly unreachable: (ending: SessionEnding) => void;
  readonly reachable: () => void;
}

/** Records Events about the shard at `address`. */
export const outageRecorder = (address: string, record: RecordOnLease): OutageRecorder => {
  const notes = new Map<EndingCause, string>();
  let isRefused = false;
  return {
    refused: (ending) => {
      isRefused = true;
      record('SessionRefused', refusedNote(address, ending));
    },
    unreachable: (ending) => {
      const note = notes.get(ending.why) ?? unreachableNote(address, ending);
      notes.set(ending.why, note);
      record('ShardUnreachable', note);
    },
    reachable: () => {
      if (isRefused || notes.size > 0) record('ShardReachable', reachableNote(address));
      isRefused = false;
      notes.clear();
    },
  };
};

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** A roll-up that exceeds the frame limit. */
export interface TooLarge {
  readonly rollup: Rollup;
  readonly frame: Extract<RollupFrame, { readonly _tag: 'TooLarge' }>;
}

/** Logs, counts and records a roll-up that exceeds the frame limit. */
export const recordTooLarge = (
  { telemetry }: Pick<ActorEnvironment<never>, 'telemetry'>,
  record: RecordOnLease,
  { rollup, frame }: TooLarge,
): void => {
  const largest = frame.largest
    .map(({ need, bytes, requests }) => `${mebibytes(bytes)} for ${requests} requests of ${need}`)
    .join('; ');
  telemetry.count('tidegate_rollups_total', 1, { outcome: 'too_large' });
  telemetry.gauge('tidegate_rollup_bytes', frame.bytes);
  telemetry.log('error', 'Roll-up too large to send', {
    rollup: rollup.number,
    bytes: frame.bytes,
    limit: frame.limit,
    needs: rollup.needs.length,
    largest,
  });
  record(
    'RollupTooLarge',
    `Cannot send roll-up: ${mebibytes(frame.bytes)} in ${rollup.needs.length} needs, ` +
      `limit ${mebibytes(frame.limit)}. Largest: ${largest}`,
  );
};
