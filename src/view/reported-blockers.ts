/**
 * Reads the answers to evictions back from the operator's Events (DR-42, DR-43).
 *
 * Promises: total for any Event; only Events of Tidegate about evictions since a given time count.
 */
import { REPORTING_CONTROLLER } from '../api/event-note.ts';
import { BLOCKER_REASONS, type BlockerReason, isBlocking } from '../domain/drain/blocker.ts';
import type { CordonAnnotation } from '../domain/drain/cordon.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import { readBlockedText, sentenceOfNote } from '../domain/drain/verdict.ts';
import type { NodeEvent, NodeFacts } from './drain-facts.ts';
import { isOurs } from './explanation.ts';

/** Why a pod remains, as an Event reports it. */
export interface ReportedBlocker {
  readonly reason: BlockerReason;
  readonly text: string;
  /** Identifies the Event: its pods belong together. */
  readonly subject: string;
}

/** `… (ns/a, ns/b and 3 more)`: the blocker, then its pods. */
const PODS_LAST = /^(?<text>.*) \((?<names>[^()]+?)(?<more> and \d+ more)?\)$/s;
const BLOCKED_PREFIX = /^\d+ pods? cannot leave: /;
/** After the text of one pod: the next pod, the number of more pods, or the end. */
const AFTER_TEXT = /\)(?:, \S+\/\S+ \(|, and \d+ more$|$)/;

/** What the UpcomingNode shows of a drain: it outlives the Events, and is read after them. */
export const machineReports = (
  { machine, nowMs }: Pick<NodeFacts, 'machine' | 'nowMs'>,
): readonly NodeEvent[] => {
  if (machine?.phase !== 'Draining') return [];
  const { key, uid, resourceVersion, lastError, nodeName } = machine;
  return readBlockedText(lastError).map(({ reason, sentence }) => ({
    key,
    uid,
    resourceVersion,
    node: nodeName,
    time: new Date(nowMs).toISOString(),
    type: 'Warning',
    reason,
    note: sentence,
    count: 1,
    reporter: REPORTING_CONTROLLER,
  }));
};

/** Reasons of blocked pods, including a pause by a flag. */
const reportedReason = (reason: string): BlockerReason | undefined =>
  BLOCKER_REASONS.find((known) =>
    known === reason && isBlocking(known) && known !== 'DeadlineUnreachable'
  );

/** The text in parentheses after `name`; `name` must not be the end of a longer name. */
const textBehind = (note: string, name: string): string | undefined => {
  const opening = ` ${name} (`;
  const at = ` ${note}`.indexOf(opening);
  if (at === -1) return undefined;
  const rest = ` ${note}`.slice(at + opening.length);
  return rest.slice(0, AFTER_TEXT.exec(rest)?.index);
};

/**
 * What a note contains about a pod: that `text` blocks it, or that it may be one of the unnamed.
 */
interface Reading {
  readonly text: string;
  readonly named: boolean;
}

const readNote = (fullNote: string, pod: string): Reading | undefined => {
  const note = sentenceOfNote(fullNote);
  const groups = PODS_LAST.exec(note)?.groups;
  const names = (groups?.['names'] ?? '').split(', ');
  const text = (groups?.['text'] ?? '').replace(BLOCKED_PREFIX, '');
  if (names.includes(pod)) return { text, named: true };
  const behind = textBehind(note, pod);
  if (behind !== undefined) return { text: behind, named: true };
  return groups?.['more'] === undefined ? undefined : { text, named: false };
};

/**
 * The report of the newest Event since `sinceMs` that names the pod; without one, of an Event that
 * counts more pods than it names.
 */
export const reportedBlocker = (
  pod: Pick<DrainPod, 'key'>,
  events: readonly NodeEvent[],
  sinceMs: number,
): ReportedBlocker | undefined => {
  let unnamed: ReportedBlocker | undefined;
  for (const event of events) {
    const { reason: name, time, note, key: subject } = event;
    const reason = isOurs(event) ? reportedReason(name) : undefined;
    if (reason === undefined || !(Date.parse(time) >= sinceMs)) continue;
    const reading = readNote(note, pod.key);
    if (reading === undefined) continue;
    const reported = { reason, text: reading.text, subject };
    if (reading.named) return reported;
    unnamed ??= reported;
  }
  return unnamed;
};

/**
 * Whether a drain failed because the operator may not evict, by the Event of its end. Without the
 * Event only a drain that has no deadline shows it: nothing else ends one as Failed.
 */
export const isForbidden = (
  { events }: Pick<NodeFacts, 'events'>,
  { ended, deadlineMs, sinceMs }: CordonAnnotation,
): boolean => {
  if (ended !== 'Failed') return false;
  const end = events.find((event) =>
    isOurs(event) && Date.parse(event.time) >= sinceMs &&
    (event.reason === 'EvictionForbidden' || event.reason === 'DeadlinePassed')
  );
  return end === undefined ? deadlineMs === null : end.reason === 'EvictionForbidden';
};
