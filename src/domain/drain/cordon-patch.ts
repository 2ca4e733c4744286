/**
 * Computes the merge patch of a Node to cordon it, to end a drain and to uncordon it (DR-02 to
 * DR-05).
 *
 * Promises: every patch of a Node that others may cordon at the same time carries the
 * resourceVersion it is based on, so it never undoes a concurrent change by a person; keys that
 * this version cannot read stay unchanged; no needless writes.
 */
import type { Identity } from '../facts.ts';
import type { ResourceVersion } from '../ids.ts';
import { isOlder } from '../resource-versions.ts';
import {
  annotationOf,
  CORDON_PREFIX,
  type CordonAnnotation,
  type CordonEnd,
  type CordonFacts,
  cordonOf,
  type CordonOwner,
  isMaintenanceOwner,
  joinAnnotations,
  printCordon,
  readCordon,
  WHY_DISABLED_KEY,
} from './cordon.ts';

/** What an instruction requires of one node. */
export interface CordonOrder {
  readonly id: string;
  readonly deadlineMs: number | null;
  readonly graceSeconds: number;
  /** The wall clock at acceptance. */
  readonly sinceMs: number;
  /** A person accepts that pods are down while they move (RS-16). */
  readonly acceptsDowntime?: true;
}

/** The decision about an instruction. */
export type CordonDecision =
  /** Write this; then the node shows `annotation`. */
  | { readonly _tag: 'Patch'; readonly body: object; readonly annotation: CordonAnnotation }
  /** The node has all of it already. */
  | { readonly _tag: 'Landed'; readonly annotation: CordonAnnotation }
  /** The instruction was completed or cancelled before: nothing starts again. */
  | { readonly _tag: 'Ended'; readonly annotation: CordonAnnotation }
  /** This version must not change the owner's key. */
  | { readonly _tag: 'Unrecognized'; readonly why: string };

interface NodeChange {
  readonly unschedulable?: boolean;
  /** Other annotations to remove. */
  readonly others?: readonly string[];
  /** Owner → text; null removes the key. */
  readonly keys: Readonly<Record<string, string | null>>;
}

/** Removes the record of a person's cordon that is over. */
const overPersonChange = (facts: CordonFacts): Readonly<Record<string, string | null>> =>
  !facts.unschedulable && Object.hasOwn(facts.cordons, 'person') ? { person: null } : {};

/** The patch of a change; the record of a person's cordon that is over goes with it. */
const patchOf = (
  facts: CordonFacts,
  { unschedulable, others = [], keys }: NodeChange,
): object => ({
  metadata: {
    resourceVersion: facts.resourceVersion,
    annotations: Object.fromEntries([
      ...Object.entries({ ...overPersonChange(facts), ...keys })
        .map(([owner, text]) => [`${CORDON_PREFIX}${owner}`, text]),
      ...others.map((key) => [key, null]),
    ]),
  },
  ...(unschedulable === undefined ? {} : { spec: { unschedulable } }),
});

/** True when the key keeps the node cordoned; an unreadable one counts. */
const holds = (facts: CordonFacts, owner: string): boolean => {
  const text = facts.cordons[owner];
  if (text === undefined) return false;
  const reading = readCordon(text);
  return reading._tag === 'Unrecognized' || reading.annotation.ended !== 'Cancelled';
};

const holders = (facts: CordonFacts): readonly string[] =>
  Object.keys(facts.cordons).filter((owner) => holds(facts, owner));

/** The key of a person's cordon. */
const personKey = (nowMs: number): string =>
  printCordon({ ids: [], deadlineMs: null, graceSeconds: 0, sinceMs: nowMs, ended: null });

/** Records a person's cordon before ours hides it. */
const personChange = (facts: CordonFacts, nowMs: number): Readonly<Record<string, string>> =>
  facts.unschedulable && holders(facts).length === 0 ? { person: personKey(nowMs) } : {};

const annotationFor = (
  { id, ...order }: CordonOrder,
): CordonAnnotation => ({
  ...order,
  ids: [id],
  ended: null,
});

const sameAnnotation = (left: CordonAnnotation, right: CordonAnnotation): boolean =>
  printCordon(left) === printCordon(right);

const hasEnded = ({ unschedulable }: CordonFacts, { ended }: CordonAnnotation): boolean =>
  ended !== null || !unschedulable;

/** True when the instruction was completed or cancelled on the Node: it starts nothing there. */
export const isOrderOver = (facts: CordonFacts, owner: CordonOwner, id: string): boolean => {
  const known = annotationOf(facts, owner);
  return known !== undefined && hasEnded(facts, known) && known.ids.includes(id);
};

/**
 * The decision about an instruction for this node. An unfinished key on a schedulable node was
 * cancelled, even if that is not written yet: the same instruction does not start again. A key that
 * has no room for it is not changed (DR-07).
 */
export const decideCordon = (
  facts: CordonFacts,
  owner: CordonOwner,
  order: CordonOrder,
): CordonDecision => {
  const reading = cordonOf(facts, owner);
  if (reading?._tag === 'Unrecognized') return reading;
  const known = reading?.annotation;
  const isOver = known !== undefined && hasEnded(facts, known);
  if (isOver && known.ids.includes(order.id)) return { _tag: 'Ended', annotation: known };
  const asked = annotationFor(order);
  const annotation = known === undefined || isOver ? asked : joinAnnotations(known, asked);
  const written = readCordon(printCordon(annotation));
  if (written._tag === 'Unrecognized') return written;
  if (known !== undefined && facts.unschedulable && sameAnnotation(known, annotation)) {
    return { _tag: 'Landed', annotation };
  }
  const keys = { ...personChange(facts, order.sinceMs), [owner]: printCordon(annotation) };
  return { _tag: 'Patch', body: patchOf(facts, { unschedulable: true, keys }), annotation };
};

/**
 * True when the key names none of the instructions that a drain remembers: since then the node was
 * released, and the owner drains it anew.
 */
export const isOfNextDrain = (
  facts: CordonFacts,
  owner: CordonOwner,
  remembered: CordonAnnotation | null,
): boolean => {
  const ids = annotationOf(facts, owner)?.ids ?? [];
  const own = remembered?.ids ?? [];
  return ids.length > 0 && own.length > 0 && !ids.some((id) => own.includes(id));
};

/**
 * The patch that writes the end of a drain; `undefined` when the node has it. `remembered` is our
 * last write: a key that a person removed is written back with its end. A person's cordon that is
 * over loses its record with it.
 */
export const endedPatch = (
  facts: CordonFacts,
  owner: CordonOwner,
  ending: { readonly end: CordonEnd; readonly remembered: CordonAnnotation },
): object | undefined => {
  const reading = cordonOf(facts, owner);
  if (reading?._tag === 'Unrecognized') return undefined;
  const known = reading?.annotation ?? ending.remembered;
  if (reading !== undefined && known.ended === ending.end) return undefined;
  const ended = printCordon({ ...known, ended: ending.end });
  return patchOf(facts, { keys: { [owner]: ended } });
};

/** What a running drain remembers of its own cordon. */
export interface OwnCordon {
  /** The resourceVersion of our patch; `null` when this process resumed the cordon. */
  readonly landedAt: ResourceVersion | null;
  /** The cache has shown the key. */
  readonly cordonObserved: boolean;
}

/**
 * True when the drain was cancelled (DR-05): the node is schedulable again, or its key disappeared.
 * Facts older than our own patch do not count.
 */
export const cancelSeen = (
  facts: CordonFacts,
  owner: CordonOwner,
  { landedAt, cordonObserved }: OwnCordon,
): boolean => {
  if (landedAt !== null && isOlder(facts.resourceVersion, landedAt)) return false;
  const isCurrent = cordonObserved || landedAt === null ||
    facts.resourceVersion === landedAt || isOlder(landedAt, facts.resourceVersion);
  if (!isCurrent) return false;
  const reading = cordonOf(facts, owner);
  if (reading === undefined) return true;
  if (reading._tag === 'Unrecognized') return !facts.unschedulable;
  return reading.annotation.ended === 'Cancelled' ||
    (reading.annotation.ended === null && !facts.unschedulable);
};

const uncordons = (owner: string): boolean => owner === 'disabled' || isMaintenanceOwner(owner);

/**
 * The patch that removes an owner's key; `undefined` when there is none. The node becomes
 * schedulable with the last `disabled` or `maintenance-*` key, unless a person or a reclaim holds
 * it (DR-04). A person's uncordon that nobody reverted meanwhile drops `person`.
 */
export const releasePatch = (facts: CordonFacts, owner: CordonOwner): object | undefined => {
  const reading = cordonOf(facts, owner);
  if (reading === undefined || reading._tag === 'Unrecognized') return undefined;
  const others = holders(facts).filter((other) => other !== owner);
  const isLast = others.length === 0 && facts.hasUnreadCordons !== true;
  const opens = uncordons(owner) && facts.unschedulable && isLast;
  return patchOf(facts, {
    keys: { [owner]: null },
    others: owner === 'disabled' ? [WHY_DISABLED_KEY] : [],
    ...(opens ? { unschedulable: false } : {}),
  });
};

/**
 * The patch that removes the `reclaim` key once the machine serves again: a frame reported
 * CONFIGURED and the node is schedulable (DR-04). `undefined` while it stays.
 */
export const configuredPatch = (facts: CordonFacts): object | undefined => {
  const annotation = annotationOf(facts, 'reclaim');
  if (facts.unschedulable || annotation === undefined || annotation.ended === null) {
    return undefined;
  }
  return patchOf(facts, { keys: { reclaim: null } });
};

/**
 * The patch that leaves the node to a person: it stays cordoned when the others release it, as
 * after `kubectl drain`. `undefined` when a person holds it already.
 */
export const handOverPatch = (facts: CordonFacts, nowMs: number): object | undefined =>
  facts.unschedulable && holds(facts, 'person')
    ? undefined
    : patchOf(facts, { unschedulable: true, keys: { person: personKey(nowMs) } });

/**
 * The same for a Node that was schedulable before we cordoned it: nobody else holds it, so its
 * version does not matter, as long as it is the same Node.
 */
export const ownHandOverPatch = ({ uid }: Pick<Identity, 'uid'>, nowMs: number): object => ({
  metadata: { uid, annotations: { [`${CORDON_PREFIX}person`]: personKey(nowMs) } },
  spec: { unschedulable: true },
});
