/**
 * What to write on a Node to cordon it, to end a drain and to give it back: facts in, one merge
 * patch out (DR-02 to DR-05).
 *
 * Promises: every patch carries the resourceVersion that it was decided on, so what a person did in
 * between is never undone; keys that this version cannot read are left as they are; whatever need
 * not be written is not.
 */
import type { ResourceVersion } from '../ids.ts';
import { isOlder } from '../resource-versions.ts';
import {
  CORDON_PREFIX,
  type CordonEnd,
  type CordonFacts,
  type CordonMark,
  cordonOf,
  type CordonOwner,
  joinMarks,
  markOf,
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
  /** Write this; then the node shows `mark`. */
  | { readonly _tag: 'Patch'; readonly body: object; readonly mark: CordonMark }
  /** The node shows all of it already. */
  | { readonly _tag: 'Landed'; readonly mark: CordonMark }
  /** The instruction was carried out, or cancelled, before: nothing is started again. */
  | { readonly _tag: 'Ended'; readonly mark: CordonMark }
  /** The owner's key is not ours to change. */
  | { readonly _tag: 'Unrecognized'; readonly why: string };

interface NodeChange {
  readonly unschedulable?: boolean;
  /** Owner → text; null removes the key. */
  readonly keys: Readonly<Record<string, string | null>>;
}

const patchOf = (facts: CordonFacts, { unschedulable, keys }: NodeChange): object => ({
  metadata: {
    resourceVersion: facts.resourceVersion,
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
  return reading._tag === 'Unrecognized' || reading.mark.ended !== 'Cancelled';
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

const markFor = ({ id, deadlineMs, graceSeconds, sinceMs }: CordonOrder): CordonMark => ({
  ids: [id],
  deadlineMs,
  graceSeconds,
  sinceMs,
  ended: null,
});

const sameMark = (left: CordonMark, right: CordonMark): boolean =>
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
  if (reading?._tag === 'Unrecognized') return reading;
  const known = reading?.mark;
  const isOver = known !== undefined && (known.ended !== null || !facts.unschedulable);
  if (isOver && known.ids.includes(order.id)) return { _tag: 'Ended', mark: known };
  const asked = markFor(order);
  const mark = known === undefined || isOver ? asked : joinMarks(known, asked);
  if (known !== undefined && facts.unschedulable && sameMark(known, mark)) {
    return { _tag: 'Landed', mark };
  }
  const keys = { ...personChange(facts, order.sinceMs), [owner]: printCordon(mark) };
  return { _tag: 'Patch', body: patchOf(facts, { unschedulable: true, keys }), mark };
};

/**
 * The patch that writes how it ended, `undefined` when the node shows it. `remembered` is what we
 * wrote: a key that a person removed is written back with its end.
 */
export const endedPatch = (
  facts: CordonFacts,
  owner: CordonOwner,
  ending: { readonly end: CordonEnd; readonly remembered: CordonMark },
): object | undefined => {
  const reading = cordonOf(facts, owner);
  if (reading?._tag === 'Unrecognized') return undefined;
  const known = reading?.mark ?? ending.remembered;
  if (reading !== undefined && known.ended === ending.end) return undefined;
  return patchOf(facts, { keys: { [owner]: printCordon({ ...known, ended: ending.end }) } });
};

/** What is remembered of our own cordon while a drain runs. */
export interface OwnCordon {
  /** The revision that our patch made; `null` when this process took the cordon over. */
  readonly landedAt: ResourceVersion | null;
  /** The cache has shown the key. */
  readonly cordonObserved: boolean;
}

/**
 * True when somebody cancelled (DR-05): the node is schedulable again, or the key is gone after it
 * had been there. What is older than our own patch tells nothing.
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
  return reading.mark.ended === 'Cancelled' ||
    (reading.mark.ended === null && !facts.unschedulable);
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
  if (reading === undefined || reading._tag === 'Unrecognized') return undefined;
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
  const mark = markOf(facts, 'reclaim');
  if (facts.unschedulable || mark === undefined || mark.ended === null) return undefined;
  return patchOf(facts, { keys: { ...personChange(facts, 0), reclaim: null } });
};
