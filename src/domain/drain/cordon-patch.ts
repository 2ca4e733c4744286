/**
 * What to write on a Node to cordon it, to end a drain and to give it back: facts in, one merge
 * patch out (DR-02 to DR-05).
 *
 * Promises: every patch carries the resourceVersion that it was decided on, so what a person did in
 * between is never undone; keys that this version cannot read are left as they are; whatever need
 * not be written is not.
 */
import type { Revision } from '../ids.ts';
import { isOlder } from '../revisions.ts';
import {
  annotationOf,
  CORDON_PREFIX,
  type CordonAnnotation,
  type CordonEnd,
  type CordonFacts,
  cordonOf,
  type CordonOwner,
  joinAnnotations,
  printCordon,
  readCordon,
} from './cordon.ts';

/** What an instruction asks of one node. */
export interface CordonOrder {
  readonly id: string;
  readonly deadlineMs: number | null;
  readonly graceSeconds: number;
  /** The wall clock at acceptance. */
  readonly sinceMs: number;
}

/** What is to be done about an order. */
export type CordonDecision =
  /** Write this; then the node shows `annotation`. */
  | { readonly _tag: 'Patch'; readonly body: object; readonly annotation: CordonAnnotation }
  /** The node shows all of it already. */
  | { readonly _tag: 'Landed'; readonly annotation: CordonAnnotation }
  /** The instruction was carried out, or cancelled, before: nothing is started again. */
  | { readonly _tag: 'Ended'; readonly annotation: CordonAnnotation }
  /** The owner's key is not ours to change. */
  | { readonly _tag: 'Foreign'; readonly why: string };

interface NodeChange {
  readonly unschedulable?: boolean;
  /** Owner → text; null removes the key. */
  readonly keys: Readonly<Record<string, string | null>>;
}

const patchOf = (facts: CordonFacts, { unschedulable, keys }: NodeChange): object => ({
  metadata: {
    resourceVersion: facts.revision,
    annotations: Object.fromEntries(
      Object.entries(keys).map(([owner, text]) => [`${CORDON_PREFIX}${owner}`, text]),
    ),
  },
  ...(unschedulable === undefined ? {} : { spec: { unschedulable } }),
});

/** True when the key keeps the node cordoned; one that cannot be read is taken to. */
const holds = (facts: CordonFacts, owner: string): boolean => {
  const text = facts.cordons[owner];
  if (text === undefined) return false;
  const reading = readCordon(text);
  return reading._tag === 'Foreign' || reading.annotation.ended !== 'Cancelled';
};

const holders = (facts: CordonFacts): readonly string[] =>
  Object.keys(facts.cordons).filter((owner) => holds(facts, owner));

/** A person's cordon is noted before ours hides it; a note of one that is over goes. */
const personChange = (
  facts: CordonFacts,
  nowMs: number,
): Readonly<Record<string, string | null>> => {
  if (!facts.unschedulable) {
    return Object.hasOwn(facts.cordons, 'person') ? { person: null } : {};
  }
  if (holders(facts).length > 0) return {};
  const person = { ids: [], deadlineMs: null, graceSeconds: 0, sinceMs: nowMs, ended: null };
  return { person: printCordon(person) };
};

const annotationFor = (
  { id, deadlineMs, graceSeconds, sinceMs }: CordonOrder,
): CordonAnnotation => ({
  ids: [id],
  deadlineMs,
  graceSeconds,
  sinceMs,
  ended: null,
});

const sameAnnotation = (left: CordonAnnotation, right: CordonAnnotation): boolean =>
  printCordon(left) === printCordon(right);

/**
 * What to do about an order for this node. An unfinished key on a node that is schedulable was
 * cancelled, whether or not that is written yet: the same instruction does not start again.
 */
export const decideCordon = (
  facts: CordonFacts,
  owner: CordonOwner,
  order: CordonOrder,
): CordonDecision => {
  const reading = cordonOf(facts, owner);
  if (reading?._tag === 'Foreign') return reading;
  const known = reading?.annotation;
  const isOver = known !== undefined && (known.ended !== null || !facts.unschedulable);
  if (isOver && known.ids.includes(order.id)) return { _tag: 'Ended', annotation: known };
  const asked = annotationFor(order);
  const annotation = known === undefined || isOver ? asked : joinAnnotations(known, asked);
  if (known !== undefined && facts.unschedulable && sameAnnotation(known, annotation)) {
    return { _tag: 'Landed', annotation };
  }
  const keys = { ...personChange(facts, order.sinceMs), [owner]: printCordon(annotation) };
  return { _tag: 'Patch', body: patchOf(facts, { unschedulable: true, keys }), annotation };
};

/**
 * The patch that writes how it ended, `undefined` when the node shows it. `remembered` is what we
 * wrote: a key that a person removed is written back with its end.
 */
export const endedPatch = (
  facts: CordonFacts,
  owner: CordonOwner,
  ending: { readonly end: CordonEnd; readonly remembered: CordonAnnotation },
): object | undefined => {
  const reading = cordonOf(facts, owner);
  if (reading?._tag === 'Foreign') return undefined;
  const known = reading?.annotation ?? ending.remembered;
  if (reading !== undefined && known.ended === ending.end) return undefined;
  return patchOf(facts, { keys: { [owner]: printCordon({ ...known, ended: ending.end }) } });
};

/** What is remembered of our own cordon while a drain runs. */
export interface OwnCordon {
  /** The revision that our patch made; `null` when this process took the cordon over. */
  readonly landedAt: Revision | null;
  /** The cache has shown the key. */
  readonly shown: boolean;
}

/**
 * True when somebody cancelled (DR-05): the node is schedulable again, or the key is gone after it
 * had been there. What is older than our own patch tells nothing.
 */
export const cancelSeen = (
  facts: CordonFacts,
  owner: CordonOwner,
  { landedAt, shown }: OwnCordon,
): boolean => {
  if (landedAt !== null && isOlder(facts.revision, landedAt)) return false;
  const isCurrent = shown || landedAt === null ||
    facts.revision === landedAt || isOlder(landedAt, facts.revision);
  if (!isCurrent) return false;
  const reading = cordonOf(facts, owner);
  if (reading === undefined) return true;
  if (reading._tag === 'Foreign') return !facts.unschedulable;
  return reading.annotation.ended === 'Cancelled' ||
    (reading.annotation.ended === null && !facts.unschedulable);
};

const uncordons = (owner: string): boolean =>
  owner === 'disabled' || owner.startsWith('maintenance-');

/**
 * The patch that takes an owner's key away, `undefined` when it has none. The node becomes
 * schedulable with the last `disabled` or `maintenance-*` key, unless a person or a reclaim holds
 * it (DR-04).
 */
export const releasePatch = (facts: CordonFacts, owner: CordonOwner): object | undefined => {
  const reading = cordonOf(facts, owner);
  if (reading === undefined || reading._tag === 'Foreign') return undefined;
  const others = holders(facts).filter((other) => other !== owner);
  const opens = uncordons(owner) && facts.unschedulable && others.length === 0;
  return patchOf(facts, {
    keys: { [owner]: null },
    ...(opens ? { unschedulable: false } : {}),
  });
};

/**
 * The patch that takes the `reclaim` key away once the machine serves again: a frame said
 * CONFIGURED and the node is schedulable (DR-04). `undefined` while it stays.
 */
export const configuredPatch = (facts: CordonFacts): object | undefined => {
  const annotation = annotationOf(facts, 'reclaim');
  if (facts.unschedulable || annotation === undefined || annotation.ended === null) {
    return undefined;
  }
  return patchOf(facts, { keys: { ...personChange(facts, 0), reclaim: null } });
};
