/**
 * What the operator was told and wrote down: the answers to evictions, read back from its Events
 * (DR-42, DR-43).
 *
 * Promises: total, whatever an Event says; only Events about evictions since a given time count.
 */
import type { ReasonName } from '../api/reasons.ts';
import { BLOCKER_REASONS, isBlocking } from '../domain/drain/blocker.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { NodeEvent } from './drain-facts.ts';

/** Reasons of pods, and of Events that tell of pods. */
export type ShownReason = ReasonName;

/** Why a pod is still there, as the operator said it. */
export interface ToldBlocker {
  readonly reason: ShownReason;
  readonly text: string;
  /** The Event: pods of which it tells belong together. */
  readonly subject: string;
}

/** `… (ns/a, ns/b and 3 more)`: what holds them up, then its pods. */
const PODS_LAST = /^(?<text>.*) \((?<names>[^()]+?)(?<more> and \d+ more)?\)$/s;
const SAID_BEFORE = /^Pods cannot leave: /;
/** Behind the text of one pod: the next pod, how many more there are, or the end. */
const AFTER_TEXT = /\)(?:, \S+\/\S+ \(|, and \d+ more$|$)/;

/** Reasons of pods that are held up; a pause by a flag is among them. */
const toldReason = (reason: string): ShownReason | undefined =>
  BLOCKER_REASONS.find((known) => known === reason && isBlocking(known));

/** What stands in brackets behind `name`, which must not be the end of a longer name. */
const textBehind = (note: string, name: string): string | undefined => {
  const opening = ` ${name} (`;
  const at = ` ${note}`.indexOf(opening);
  if (at === -1) return undefined;
  const rest = ` ${note}`.slice(at + opening.length);
  return rest.slice(0, AFTER_TEXT.exec(rest)?.index);
};

/** What a note says of a pod: that it is held up by `text`, or that it may be one of the rest. */
interface Reading {
  readonly text: string;
  readonly named: boolean;
}

const readNote = (note: string, pod: string): Reading | undefined => {
  const groups = PODS_LAST.exec(note)?.groups;
  const names = (groups?.['names'] ?? '').split(', ');
  const text = (groups?.['text'] ?? '').replace(SAID_BEFORE, '');
  if (names.includes(pod)) return { text, named: true };
  const behind = textBehind(note, pod);
  if (behind !== undefined) return { text: behind, named: true };
  return groups?.['more'] === undefined ? undefined : { text, named: false };
};

/**
 * What the newest Event since `sinceMs` says that names the pod; without one, an Event that says
 * how many more pods there are than it names.
 */
export const toldBlocker = (
  pod: Pick<DrainPod, 'key'>,
  events: readonly NodeEvent[],
  sinceMs: number,
): ToldBlocker | undefined => {
  let unnamed: ToldBlocker | undefined;
  for (const { reason: name, time, note, key: subject } of events) {
    const reason = toldReason(name);
    if (reason === undefined || !(Date.parse(time) >= sinceMs)) continue;
    const reading = readNote(note, pod.key);
    if (reading === undefined) continue;
    const told = { reason, text: reading.text, subject };
    if (reading.named) return told;
    unnamed ??= told;
  }
  return unnamed;
};
