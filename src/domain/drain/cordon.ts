/**
 * Who holds a node cordoned, as annotations on the Node: reading and printing them (DR-01).
 *
 * Promises: what was printed reads back the same; a version that is not ours is never touched.
 */
import { asRecord, asText, listOrEmptyAt, numberAt, parseJson, textAt } from '../json.ts';
import type { Revision } from '../ids.ts';
import { rfc3339 } from '../time.ts';

/** One annotation key for each owner: `cordon.tidegate.dev/<owner>`. */
export const CORDON_PREFIX = 'cordon.tidegate.dev/';

/** Who wants a node cordoned. The name part of a key has at most 63 bytes and no `/`. */
export type CordonOwner = 'person' | DrainOwner;

/** Who drains a node as well. */
export type DrainOwner = 'reclaim' | 'disabled' | `maintenance-${string}`;

/** True for an owner whose unfinished annotation is a drain. */
export const isDrainOwner = (owner: string): owner is DrainOwner =>
  owner === 'reclaim' || owner === 'disabled' || owner.startsWith('maintenance-');

/** How the work of an owner on the node ended. */
export const CORDON_ENDS = ['Drained', 'Failed', 'Cancelled'] as const;
export type CordonEnd = (typeof CORDON_ENDS)[number];

/** What an owner wrote. Times are milliseconds of the wall clock. */
export interface CordonAnnotation {
  /** The instructions that asked for it. */
  readonly ids: readonly string[];
  /** None when the owner sets no deadline (a person, for one). */
  readonly deadlineMs: number | null;
  readonly graceSeconds: number;
  readonly sinceMs: number;
  readonly ended: CordonEnd | null;
}

/** What stands under one key. */
export type CordonReading =
  | { readonly _tag: 'Recognized'; readonly annotation: CordonAnnotation }
  /** A newer version wrote it, or a hand: left alone, and said. */
  | { readonly _tag: 'Foreign'; readonly why: string };

/** What decides about cordons of one Node; `cordons` are the raw texts by owner. */
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

/** Milliseconds of an optional time; `undefined` when it is there and is none. */
const optionalTime = (value: unknown, field: string): number | null | undefined => {
  const text = textAt(value, field);
  if (text === undefined) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
};

const foreign = (why: string): CordonReading => ({ _tag: 'Foreign', why });

/** Reads the text of a cordon key. Total. */
export const readCordon = (text: string): CordonReading => {
  const value = asRecord(parseJson(text));
  if (value === undefined) return foreign('it is not a JSON object');
  if (value['v'] !== VERSION) return foreign(`its version is ${JSON.stringify(value['v'])}`);
  const deadlineMs = optionalTime(value, 'deadline');
  const sinceMs = optionalTime(value, 'since');
  const ended = endOf(value);
  if (deadlineMs === undefined) return foreign('its deadline is no time');
  if (sinceMs === undefined) return foreign('its beginning is no time');
  if (ended === undefined) return foreign('its end is none that is known');
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

/** The owner that a maintenance is: twelve hex digits of its UID. */
export const maintenanceOwner = (uid: string): CordonOwner =>
  `maintenance-${uid.replaceAll('-', '').slice(0, 12)}`;

/** The key of an owner on this Node, read; `undefined` when there is none. */
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

/** Keys that are to be said: owner and what is wrong with each (DR-01). */
export const foreignCordons = (
  facts: Pick<CordonFacts, 'cordons'>,
): readonly { readonly owner: string; readonly why: string }[] =>
  Object.entries(facts.cordons).flatMap(([owner, text]) => {
    const reading = readCordon(text);
    return reading._tag === 'Foreign' ? [{ owner, why: reading.why }] : [];
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
