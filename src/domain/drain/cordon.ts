/**
 * The owners of a cordon, as annotations on the Node: parsing and printing (DR-01).
 *
 * Promises: round-trips; a key of another version is never changed.
 */
import { asRecord, asText, listOrEmptyAt, numberAt, parseJson, textAt } from '../json.ts';
import type { Revision } from '../ids.ts';
import { rfc3339 } from '../time.ts';

/** One annotation key for each owner: `cordon.tidegate.dev/<owner>`. */
export const CORDON_PREFIX = 'cordon.tidegate.dev/';

/** The owner of a cordon. The name part of a key has at most 63 bytes and no `/`. */
export type CordonOwner = 'person' | DrainOwner;

/** An owner that also drains. */
export type DrainOwner = 'reclaim' | 'disabled' | `maintenance-${string}`;

/** True for an owner whose unfinished annotation is a drain. */
export const isDrainOwner = (owner: string): owner is DrainOwner =>
  owner === 'reclaim' || owner === 'disabled' || owner.startsWith('maintenance-');

/** How an owner's work on the node ended. */
export const CORDON_ENDS = ['Drained', 'Failed', 'Cancelled'] as const;
export type CordonEnd = (typeof CORDON_ENDS)[number];

/** The content of an owner's key. Times are milliseconds of the wall clock. */
export interface CordonMark {
  /** The ids of the instructions. */
  readonly ids: readonly string[];
  /** None when the owner sets no deadline (a person, for example). */
  readonly deadlineMs: number | null;
  readonly graceSeconds: number;
  readonly sinceMs: number;
  readonly ended: CordonEnd | null;
}

/** The parsed content of a key. */
export type CordonReading =
  | { readonly _tag: 'Mark'; readonly mark: CordonMark }
  /** A newer version or a person wrote it: unchanged, and reported. */
  | { readonly _tag: 'Foreign'; readonly why: string };

/** The cordon facts of one Node; `cordons` are the raw texts by owner. */
export interface CordonFacts {
  readonly revision: Revision;
  readonly unschedulable: boolean;
  readonly cordons: Readonly<Record<string, string>>;
}

const VERSION = 1;
const NO_CORDONS: Readonly<Record<string, string>> = {};

const endOf = (value: unknown): CordonEnd | null | undefined => {
  const text = textAt(value, 'ended');
  return text === undefined ? null : CORDON_ENDS.find((end) => end === text);
};

/** Milliseconds of an optional time; `undefined` when it is malformed. */
const optionalTime = (value: unknown, field: string): number | null | undefined => {
  const text = textAt(value, field);
  if (text === undefined) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
};

const foreign = (why: string): CordonReading => ({ _tag: 'Foreign', why });

/** Parses the text of a cordon key. Total. */
export const readCordon = (text: string): CordonReading => {
  const value = asRecord(parseJson(text));
  if (value === undefined) return foreign('it is not a JSON object');
  if (value['v'] !== VERSION) return foreign(`its version is ${JSON.stringify(value['v'])}`);
  const deadlineMs = optionalTime(value, 'deadline');
  const sinceMs = optionalTime(value, 'since');
  const ended = endOf(value);
  if (deadlineMs === undefined) return foreign('its deadline is not a valid time');
  if (sinceMs === undefined) return foreign('its start is not a valid time');
  if (ended === undefined) return foreign('its end is unknown');
  const ids = listOrEmptyAt(value, 'ids').map(asText).filter((id) => id !== undefined);
  return {
    _tag: 'Mark',
    mark: {
      ids,
      deadlineMs,
      graceSeconds: numberAt(value, 'graceSeconds') ?? 0,
      sinceMs: sinceMs ?? 0,
      ended,
    },
  };
};

/** The text of a cordon key: compact JSON. */
export const printCordon = (mark: CordonMark): string =>
  JSON.stringify({
    v: VERSION,
    ids: mark.ids,
    ...(mark.deadlineMs === null
      ? {}
      : { deadline: rfc3339(mark.deadlineMs), graceSeconds: mark.graceSeconds }),
    since: rfc3339(mark.sinceMs),
    ...(mark.ended === null ? {} : { ended: mark.ended }),
  });

/** The cordon keys among the annotations of a Node: owner → raw text. */
export const cordonTexts = (
  annotations: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  const texts: [string, string][] = [];
  for (const [key, text] of Object.entries(annotations)) {
    if (key.startsWith(CORDON_PREFIX)) texts.push([key.slice(CORDON_PREFIX.length), text]);
  }
  return texts.length === 0 ? NO_CORDONS : Object.fromEntries(texts);
};

/** The owner name of a maintenance: twelve hex digits of its UID. */
export const maintenanceOwner = (uid: string): CordonOwner =>
  `maintenance-${uid.replaceAll('-', '').slice(0, 12)}`;

/** The parsed key of an owner on this Node; `undefined` without one. */
export const cordonOf = (
  facts: Pick<CordonFacts, 'cordons'>,
  owner: CordonOwner,
): CordonReading | undefined => {
  const text = Object.hasOwn(facts.cordons, owner) ? facts.cordons[owner] : undefined;
  return text === undefined ? undefined : readCordon(text);
};

/** The annotation of an owner; `undefined` when missing or unreadable. */
export const markOf = (
  facts: Pick<CordonFacts, 'cordons'>,
  owner: CordonOwner,
): CordonMark | undefined => {
  const reading = cordonOf(facts, owner);
  return reading?._tag === 'Mark' ? reading.mark : undefined;
};

/** Unreadable keys: owner and problem of each (DR-01). */
export const foreignCordons = (
  facts: Pick<CordonFacts, 'cordons'>,
): readonly { readonly owner: string; readonly why: string }[] =>
  Object.entries(facts.cordons).flatMap(([owner, text]) => {
    const reading = readCordon(text);
    return reading._tag === 'Foreign' ? [{ owner, why: reading.why }] : [];
  });

/**
 * Merges one more instruction: ids are joined and the earlier deadline wins, with its grace
 * (DR-03).
 */
export const joinMarks = (mark: CordonMark, other: CordonMark): CordonMark => {
  const isEarlier = other.deadlineMs !== null &&
    (mark.deadlineMs === null || other.deadlineMs < mark.deadlineMs);
  return {
    ids: [...new Set([...mark.ids, ...other.ids])],
    deadlineMs: isEarlier ? other.deadlineMs : mark.deadlineMs,
    graceSeconds: isEarlier ? other.graceSeconds : mark.graceSeconds,
    sinceMs: Math.min(mark.sinceMs, other.sinceMs),
    ended: null,
  };
};
