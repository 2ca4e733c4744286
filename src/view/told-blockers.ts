/**
 * What the operator was told and wrote down: the answers to evictions, read back from its Events
 * (drain rules: DR-42, DR-43).
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

/** Behind the text of one pod: the next pod, how many more there are, or the end. */
const AFTER_TEXT = /\)(?:, \S+\/\S+ \(|, and \d+ more$|$)/;
const AND_MORE = /, and \d+ more$/;

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

/** What stands in the first brackets. */
const firstText = (note: string): string => {
  const rest = note.slice(note.indexOf('(') + 1);
  return rest.slice(0, AFTER_TEXT.exec(rest)?.index);
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
    const text = textBehind(note, pod.key);
    if (text !== undefined) return { reason, text, subject };
    if (AND_MORE.test(note)) unnamed ??= { reason, text: firstText(note), subject };
  }
  return unnamed;
};
