/**
 * The owners of a cordon, as annotations on the Node: parsing and printing (DR-01).
 *
 * Promises: round-trips; a key of another version is never changed; a key beyond the bounds of
 * `cordon-limits.ts` is unrecognized like one of another version, and costs no more (DR-07).
 */
import { asRecord, asText, listOrEmptyAt, numberAt, parseJson, textAt, valueAt } from '../json.ts';
import type { ResourceVersion } from '../ids.ts';
import { compareText } from '../requirements.ts';
import { cutText } from '../text.ts';
import { rfc3339 } from '../time.ts';
import {
  boundedText,
  CORDON_LIMITS,
  idsProblem,
  OWNERS_PROBLEM,
  textProblem,
} from './cordon-limits.ts';

/** One annotation key for each owner: `cordon.tidegate.dev/<owner>`. */
export const CORDON_PREFIX = 'cordon.tidegate.dev/';

/** What a person wrote when a Node was disabled; it goes with the key of that owner. */
export const WHY_DISABLED_KEY = 'availability.tidegate.dev/why-disabled';

/** The owner of a cordon. The name part of a key has at most 63 bytes and no `/`. */
export type CordonOwner = 'person' | DrainOwner;

/** An owner that also drains. */
export type DrainOwner = 'reclaim' | 'disabled' | `maintenance-${string}`;

/** True for an owner whose unfinished annotation is a drain. */
export const isDrainOwner = (owner: string): owner is DrainOwner =>
  owner === 'reclaim' || owner === 'disabled' || isMaintenanceOwner(owner);

/** True for the key of a NodeMaintenance. */
export const isMaintenanceOwner = (owner: string): owner is `maintenance-${string}` =>
  owner.startsWith('maintenance-');

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
  /** A person accepts that pods are down while they move (RS-16). */
  readonly acceptsDowntime?: true;
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
  /** The Node has more keys than are read: an owner without a text here may have one. */
  readonly hasUnreadCordons?: boolean;
}

const VERSION = 1;
/** Of a version, in a message. */
const VERSION_CHARACTERS = 20;
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

/** Only `true` accepts; a reader that finds another value keeps the pods. */
export const acceptanceIn = (value: unknown): Pick<CordonAnnotation, 'acceptsDowntime'> =>
  valueAt(value, 'acceptsDowntime') === true ? { acceptsDowntime: true } : {};

const unrecognized = (why: string): CordonReading => ({ _tag: 'Unrecognized', why });

const versionText = (version: unknown): string =>
  cutText(JSON.stringify(version) ?? 'undefined', VERSION_CHARACTERS, '…');

/** Parses the text of a cordon key. Total. */
export const readCordon = (text: string): CordonReading => {
  const problem = textProblem(text);
  if (problem !== undefined) return unrecognized(problem);
  const value = asRecord(parseJson(text));
  if (value === undefined) return unrecognized('it is not a JSON object');
  if (value['v'] !== VERSION) return unrecognized(`its version is ${versionText(value['v'])}`);
  const listed = listOrEmptyAt(value, 'ids');
  const excess = idsProblem(listed);
  if (excess !== undefined) return unrecognized(excess);
  const deadlineMs = optionalTime(value, 'deadline');
  const sinceMs = optionalTime(value, 'since');
  const ended = endOf(value);
  if (deadlineMs === undefined) return unrecognized('its deadline is not a valid time');
  if (sinceMs === undefined) return unrecognized('its start is not a valid time');
  if (ended === undefined) return unrecognized('its end is unknown');
  const ids = listed.map(asText).filter((id) => id !== undefined);
  return {
    _tag: 'Recognized',
    annotation: {
      ids,
      deadlineMs,
      graceSeconds: numberAt(value, 'graceSeconds') ?? 0,
      sinceMs: sinceMs ?? 0,
      ended,
      ...acceptanceIn(value),
    },
  };
};

/**
 * The text of a cordon key: compact JSON. The end is first, because `kubectl describe` cuts long
 * lines; the order of the fields means nothing to a reader.
 */
export const printCordon = (annotation: CordonAnnotation): string =>
  JSON.stringify({
    ...(annotation.ended === null ? {} : { ended: annotation.ended }),
    v: VERSION,
    ...acceptanceIn(annotation),
    ids: annotation.ids,
    ...(annotation.deadlineMs === null
      ? {}
      : { deadline: rfc3339(annotation.deadlineMs), graceSeconds: annotation.graceSeconds }),
    since: rfc3339(annotation.sinceMs),
  });

const ownersIn = (annotations: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(annotations).filter((key) => key.startsWith(CORDON_PREFIX))
    .map((key) => key.slice(CORDON_PREFIX.length));

/** One annotation each, so that they need no bound. */
const isSingle = (owner: string): boolean =>
  owner === 'person' || owner === 'reclaim' || owner === 'disabled';

/**
 * The cordon keys among the annotations of a Node: owner → raw text. Of a text that is too long,
 * its beginning; of other owners, the first by name.
 */
export const cordonsIn = (
  annotations: Readonly<Record<string, string>>,
): Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'> => {
  const owners = ownersIn(annotations);
  if (owners.length === 0) return { cordons: NO_CORDONS };
  const others = owners.filter((owner) => !isSingle(owner)).toSorted(compareText);
  const read = [...owners.filter(isSingle), ...others.slice(0, CORDON_LIMITS.otherOwners)];
  return {
    cordons: Object.fromEntries(
      read.map((owner) => [owner, boundedText(annotations[`${CORDON_PREFIX}${owner}`] ?? '')]),
    ),
    ...(read.length < owners.length ? { hasUnreadCordons: true } : {}),
  };
};

/** The owner name of a maintenance: twelve hex digits of its UID. */
export const maintenanceOwner = (uid: string): `maintenance-${string}` =>
  `maintenance-${uid.replaceAll('-', '').slice(0, 12)}`;

const MAINTENANCE_OWNER = /^maintenance-[0-9a-f]{12}$/u;

/** True for an owner of drains that this program made; a key on a Node may have any end. */
export const isExactDrainOwner = (owner: string): owner is DrainOwner =>
  owner === 'reclaim' || owner === 'disabled' || MAINTENANCE_OWNER.test(owner);

/** The parsed key of an owner on this Node; `undefined` without one. */
export const cordonOf = (
  facts: Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'>,
  owner: CordonOwner,
): CordonReading | undefined => {
  const text = Object.hasOwn(facts.cordons, owner) ? facts.cordons[owner] : undefined;
  if (text !== undefined) return readCordon(text);
  return facts.hasUnreadCordons === true && !isSingle(owner)
    ? unrecognized(OWNERS_PROBLEM)
    : undefined;
};

/** True while the key of the owner is that of a drain that goes on; an unreadable one is not. */
export const isDrainUnderWay = (
  facts: Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'>,
  owner: DrainOwner,
): boolean => annotationOf(facts, owner)?.ended === null;

/** True while the Node is cordoned for the owner; an unreadable key counts. */
export const isCordonedFor = (
  node: Pick<CordonFacts, 'unschedulable' | 'cordons' | 'hasUnreadCordons'>,
  owner: DrainOwner,
): boolean => {
  const reading = node.unschedulable ? cordonOf(node, owner) : undefined;
  return reading !== undefined &&
    (reading._tag === 'Unrecognized' || reading.annotation.ended !== 'Cancelled');
};

/** The annotation of an owner; `undefined` when there is none, or it is unrecognized. */
export const annotationOf = (
  facts: Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'>,
  owner: CordonOwner,
): CordonAnnotation | undefined => {
  const reading = cordonOf(facts, owner);
  return reading?._tag === 'Recognized' ? reading.annotation : undefined;
};

/** Unreadable keys: owner and problem of each (DR-01). */
export const unrecognizedCordons = (
  facts: Pick<CordonFacts, 'cordons' | 'hasUnreadCordons'>,
): readonly { readonly owner: string; readonly why: string }[] => [
  ...Object.entries(facts.cordons).flatMap(([owner, text]) => {
    const reading = readCordon(text);
    return reading._tag === 'Unrecognized' ? [{ owner, why: reading.why }] : [];
  }),
  ...(facts.hasUnreadCordons === true ? [{ owner: '…', why: OWNERS_PROBLEM }] : []),
];

/**
 * The annotation with one more instruction: ids join and the earlier deadline wins, with its grace
 * (DR-03). Only a person accepts downtime, so that the other says nothing about it.
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
    ...acceptanceIn(annotation),
  };
};
