/**
 * The owners of a cordon, as annotations on the Node: parsing and printing (DR-01).
 *
 * Promises: round-trips; a key of another version is never changed.
 */
import { asRecord, asText, listOrEmptyAt, numberAt, parseJson, textAt } from '../json.ts';
import type { ResourceVersion } from '../ids.ts';
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
export interface CordonAnnotation {
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
  | { readonly _tag: 'Recognized'; readonly annotation: CordonAnnotation }
  /** A newer version or a person wrote it: unchanged, and reported. */
  | { readonly _tag: 'Unrecognized'; readonly why: string };

/** The cordon facts of one Node; `cordons` are the raw texts by owner. */
export interface CordonFacts {
  readonly resourceVersion: ResourceVersion;
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

const unrecognized = (why: string): CordonReading => ({ _tag: 'Unrecognized', why });

/** Parses the text of a cordon key. Total. */
export const readCordon = (text: string): CordonReading => {
  const value = asRecord(parseJson(text));
  if (value === undefined) return unrecognized('it is not a JSON object');
  if (value['v'] !== VERSION) return unrecognized(`its version is ${JSON.stringify(value['v'])}`);
  const deadlineMs = optionalTime(value, 'deadline');
  const sinceMs = optionalTime(value, 'since');
  const ended = endOf(value);
  if (deadlineMs === undefined) return unrecognized('its deadline is not a valid time');
  if (sinceMs === undefined) return unrecognized('its start is not a valid time');
  if (ended === undefined) return unrecognized('its end is unknown');
  const ids = listOrEmptyAt(value, 'ids').map(asText).filter((id) => id !== undefined);
  return {
    _tag: 'Recognized',
    annotation: {
      ids,
      deadlineMs,
      graceSeconds: numberAt(value, 'graceSeconds') ?? 0,
      sinceMs: sinceMs ?? 0,
      ended,
    },
  };
};

/** The text of a cordon key: compact JSON. */
export const printCordon = (annotation: CordonAnnotation): string =>
  JSON.stringify({
    v: VERSION,
    ids: annotation.ids,
    ...(annotation.deadlineMs === null
      ? {}
      : { deadline: rfc3339(annotation.deadlineMs), graceSeconds: annotation.graceSeconds }),
    since: rfc3339(annotation.sinceMs),
    ...(annotation.ended === null ? {} : { ended: annotation.ended }),
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

/** The annotation of an owner; `undefined` when there is none, or it is unrecognized. */
export const annotationOf = (
  facts: Pick<CordonFacts, 'cordons'>,
  owner: CordonOwner,
): CordonAnnotation | undefined => {
  const reading = cordonOf(facts, owner);
  return reading?._tag === 'Recognized' ? reading.annotation : undefined;
};

/** Unreadable keys: owner and problem of each (DR-01). */
export const unrecognizedCordons = (
  facts: Pick<CordonFacts, 'cordons'>,
): readonly { readonly owner: string; readonly why: string }[] =>
  Object.entries(facts.cordons).flatMap(([owner, text]) => {
    const reading = readCordon(text);
    return reading._tag === 'Unrecognized' ? [{ owner, why: reading.why }] : [];
  });

/**
 * The annotation with one more instruction: ids join and the earlier deadline wins, with its grace
 * (DR-03).
 */
export const joinAnnotations = (
  annotation: CordonAnnotation,
  other: CordonAnnotation,
): CordonAnnotation => {
  const isEarlier = other.deadlineMs !== null &&
    (annotation.deadlineMs === null || other.deadlineMs < annotation.deadlineMs);
  return {
    ids: [...new Set([...annotation.ids, ...other.ids])],
    deadlineMs: isEarlier ? other.deadlineMs : annotation.deadlineMs,
    graceSeconds: isEarlier ? other.graceSeconds : annotation.graceSeconds,
    sinceMs: Math.min(annotation.sinceMs, other.sinceMs),
    ended: null,
  };
};
