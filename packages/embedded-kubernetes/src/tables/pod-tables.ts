/** Columns of pods (`pkg/printers/internalversion/printers.go`, printPod). */
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../values/json.ts';
import { AGE, type Column, NAME, orNone, since, text, wide } from './column.ts';

const statusesOf = (pod: JsonRecord): readonly unknown[] =>
  listOrEmptyAt(pod, 'status', 'containerStatuses');

const isRunning = (status: unknown): boolean =>
  booleanAt(status, 'ready') === true && recordAt(status, 'state', 'running') !== undefined;

const ready = (pod: JsonRecord): string => {
  const total = listOrEmptyAt(pod, 'spec', 'containers').length;
  return `${statusesOf(pod).filter(isRunning).length}/${total}`;
};

const restarts = (pod: JsonRecord, nowMs: number): string => {
  const statuses = statusesOf(pod);
  const count = statuses.reduce<number>(
    (sum, one) => sum + (numberAt(one, 'restartCount') ?? 0),
    0,
  );
  const times = statuses.map((one) => textAt(one, 'lastState', 'terminated', 'finishedAt') ?? '');
  const last = times.sort().at(-1) ?? '';
  return count === 0 || last === '' ? `${count}` : `${count} (${since(last, nowMs)} ago)`;
};

const terminatedReason = (status: unknown): string | undefined => {
  const terminated = recordAt(status, 'state', 'terminated');
  if (terminated === undefined) return undefined;
  const reason = textAt(terminated, 'reason') ?? '';
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal') ?? 0;
  return signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode') ?? 0}` : `Signal:${signal}`;
};

/** The first container that is waiting or terminated determines the reason, in spec order. */
const containerReason = (pod: JsonRecord): string | undefined => {
  for (const status of statusesOf(pod)) {
    const waiting = textAt(status, 'state', 'waiting', 'reason') ?? '';
    if (waiting !== '') return waiting;
    const ended = terminatedReason(status);
    if (ended !== undefined) return ended;
  }
  return undefined;
};

const isReadyPod = (pod: JsonRecord): boolean =>
  listOrEmptyAt(pod, 'status', 'conditions').some((condition) =>
    textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True'
  );

const FINISHED = new Set(['Succeeded', 'Failed']);

const phase = (pod: JsonRecord): string => textAt(pod, 'status', 'phase') ?? '';

const status = (pod: JsonRecord): string => {
  const reported = textAt(pod, 'status', 'reason') ?? '';
  const deleted = textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;
  if (deleted && reported === 'NodeLost') return 'Unknown';
  if (deleted && !FINISHED.has(phase(pod))) return 'Terminating';
  if (listOrEmptyAt(pod, 'spec', 'schedulingGates').length > 0) return 'SchedulingGated';
  const reason = containerReason(pod) ?? (reported === '' ? phase(pod) : reported);
  if (reason !== 'Completed' || !statusesOf(pod).some(isRunning)) return reason;
  return isReadyPod(pod) ? 'Running' : 'NotReady';
};

const gates = (pod: JsonRecord): string => {
  const wanted = listOrEmptyAt(pod, 'spec', 'readinessGates');
  if (wanted.length === 0) return orNone(undefined);
  const conditions = listOrEmptyAt(pod, 'status', 'conditions');
  const held = wanted.filter((gate) =>
    conditions.some((condition) =>
      textAt(condition, 'type') === textAt(gate, 'conditionType') &&
      textAt(condition, 'status') === 'True'
    )
  );
  return `${held.length}/${wanted.length}`;
};

/** Columns of pods. */
export const POD_COLUMNS: readonly Column[] = [
  NAME,
  text('Ready', ready),
  text('Status', status),
  text('Restarts', restarts),
  AGE,
  wide('IP', (pod) => orNone(textAt(pod, 'status', 'podIP'))),
  wide('Node', (pod) => orNone(textAt(pod, 'spec', 'nodeName'))),
  wide('Nominated Node', (pod) => orNone(textAt(pod, 'status', 'nominatedNodeName'))),
  wide('Readiness Gates', gates),
];
