/**
 * Which phase an UpcomingNode shows when frames and a drain both have a say (DR-40).
 *
 * Promises: while the Node has a `reclaim` key that was not cancelled, frames never move the phase
 * back from Draining, Drained or Failed; a machine that the fleet calls FAILED is shown so; a
 * machine that is no longer ours ends, whatever the drain says. What a restart needs to know of it
 * stands in the object and on the Node.
 */
import { endsObject, type MachinePhase, type Phase } from './machine-phase.ts';
import type { NodeLink } from './node-link.ts';

/** What a drain says of the machine that it drains. */
export type DrainFact =
  | { readonly _tag: 'Draining' }
  | { readonly _tag: 'Drained' }
  /** How many pods remain, and why (DR-41). */
  | { readonly _tag: 'Failed'; readonly lastError: string }
  /** It holds the phase no longer. */
  | { readonly _tag: 'Cancelled' };

/** What the drain says while it holds the phase. */
export type HoldingFact = Exclude<DrainFact, { readonly _tag: 'Cancelled' }>;

/** What the object shows; `nodeName` is empty when no Node was ever seen. */
export interface CurrentPhase {
  readonly phase: Phase | null;
  readonly lastError: string;
  readonly nodeName: string;
}

/** What decides about the phase. */
export interface PhaseFacts {
  /** What the frames lead to; null while the shard has said nothing. */
  readonly reported: MachinePhase | null;
  readonly current: CurrentPhase | null;
  readonly node: NodeLink | null;
  readonly drain: HoldingFact | null;
}

const OF_DRAINS: ReadonlySet<Phase> = new Set(['Draining', 'Drained', 'Failed']);

/** The end of a drain as a phase; null when there is none, or it was called off. */
const endPhase = ({ ended }: NodeLink): Phase | null => ended === 'Cancelled' ? null : ended;

/**
 * The phase of a drain that stands against what the frames say, null when they decide. An end that
 * is on the Node outlives whoever writes Draining after it. Where the Node is gone there is no key
 * to tell it: what was drained until then stays so until the machine begins anew (DR-06).
 */
const drainPhase = ({ current, node, reported }: PhaseFacts): Phase | null => {
  const phase = current?.phase ?? null;
  if (current === null || phase === null || !OF_DRAINS.has(phase)) return null;
  if (node !== null && !node.held) return null;
  if (node !== null) return phase === 'Draining' ? endPhase(node) ?? phase : phase;
  const staysDrained = current.nodeName !== '' && phase === 'Drained' &&
    (reported === 'Draining' || reported === 'Ready');
  return staysDrained ? phase : null;
};

/** The phase to show, or `Gone`; null when nobody has said anything. */
export const phaseToShow = (facts: PhaseFacts): MachinePhase | null => {
  const { reported, drain } = facts;
  if (reported !== null && (endsObject(reported) || reported === 'Failed')) return reported;
  if (drain !== null) return drain._tag;
  return reported === null ? null : drainPhase(facts) ?? reported;
};

/** True when a machine that ends was not drained to its end, and that is what its object shows. */
export const endsUndrained = (facts: PhaseFacts): boolean =>
  facts.drain?._tag === 'Failed' || drainPhase(facts) === 'Failed';

/** `lastError` beside the phase; `said` is what the fleet's own frame gave. */
export const errorToShow = (facts: PhaseFacts, phase: Phase, reported: string): string => {
  if (reported !== '' || phase !== 'Failed') return reported;
  if (facts.drain?._tag === 'Failed') return facts.drain.lastError;
  return drainPhase(facts) === null ? '' : facts.current?.lastError ?? '';
};
