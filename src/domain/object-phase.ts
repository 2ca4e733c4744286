/**
 * The phase of an UpcomingNode when both frames and a drain affect it (DR-40).
 *
 * Promises: while the Node has an uncancelled `reclaim` key, frames never move the phase back from
 * Draining, Drained or Failed; a drain that ended before its object was written shows in the object
 * all the same; a machine that the fleet reports FAILED has phase Failed; the object of an unbound
 * machine ends regardless of the drain. What a restart needs is stored in the object and on the
 * Node.
 */
import { endsObject, type MachinePhase, type Phase } from './machine-phase.ts';
import type { NodeLink } from './node-link.ts';

/** The report of a drain about its machine. */
export type DrainFact =
  /** `blocked`: what blocks its pods, empty when nothing does; absent while unknown. */
  | { readonly _tag: 'Draining'; readonly blocked?: string }
  | { readonly _tag: 'Drained' }
  /** How many pods remain, and why (DR-41). */
  | { readonly _tag: 'Failed'; readonly lastError: string }
  /** The drain no longer holds the phase. */
  | { readonly _tag: 'Cancelled' };

/** The report of a drain that holds the phase. */
export type HoldingFact = Exclude<DrainFact, { readonly _tag: 'Cancelled' }>;

/** The current object; `nodeName` is empty before a Node was matched. */
export interface CurrentPhase {
  readonly phase: Phase | null;
  readonly lastError: string;
  readonly nodeName: string;
}

/** The inputs of the phase. */
export interface PhaseFacts {
  /** The phase from the frames; null before the first report. */
  readonly reported: MachinePhase | null;
  readonly current: CurrentPhase | null;
  readonly node: NodeLink | null;
  readonly drain: HoldingFact | null;
  /** It was reported CONFIGURED after the end on its Node. */
  readonly servesAgain: boolean;
}

/** The end of a drain as a phase; null without one, or when it was cancelled. */
const endPhase = ({ ended }: NodeLink): Phase | null => ended === 'Cancelled' ? null : ended;

/** Phases of a machine that has its Node: its drain can have more to say. */
const hasNode = (reported: MachinePhase | null): boolean =>
  reported === 'Ready' || reported === 'Draining';

/**
 * The end on the Node of an object that shows no drain: it was created after that end, or the last
 * frame is older. A machine that serves again on a schedulable Node loses the key instead (DR-04).
 */
const unshownEnd = (
  { reported, servesAgain }: PhaseFacts,
  node: NodeLink,
  phase: Phase | null,
): Phase | null => {
  const concerns = !servesAgain || (phase === null && !node.releasable);
  return hasNode(reported) && concerns ? endPhase(node) : null;
};

/** The phase that the Node's key holds; `phase` is the object's, null before its first status. */
const heldPhase = (facts: PhaseFacts, node: NodeLink, phase: Phase | null): Phase | null => {
  if (!node.held) return null;
  if (phase === 'Drained' || phase === 'Failed') return phase;
  if (phase === 'Draining') return endPhase(node) ?? phase;
  return unshownEnd(facts, node, phase);
};

/**
 * The phase that a drain holds against the frames; null when the frames decide. An end written on
 * the Node wins over a later Draining. When the Node is gone, so is its key: a drained machine
 * stays Drained until its next lifecycle (DR-06).
 */
const drainPhase = (facts: PhaseFacts): Phase | null => {
  const { current, node, reported } = facts;
  if (current === null) return null;
  const { phase, nodeName } = current;
  if (node !== null) return heldPhase(facts, node, phase);
  return nodeName !== '' && phase === 'Drained' && hasNode(reported) ? phase : null;
};

/** The phase to write, or `Gone`; null without any report. */
export const phaseToShow = (facts: PhaseFacts): MachinePhase | null => {
  const { reported, drain } = facts;
  if (reported !== null && (endsObject(reported) || reported === 'Failed')) return reported;
  if (drain !== null) return drain._tag;
  return reported === null ? null : drainPhase(facts) ?? reported;
};

/** True when a machine ends without a complete drain, and its object shows that. */
export const endsUndrained = (facts: PhaseFacts): boolean =>
  facts.drain?._tag === 'Failed' || drainPhase(facts) === 'Failed';

/** What blocks the drain; a process that does not know it yet keeps what the object shows. */
const blockedError = ({ drain, current }: PhaseFacts): string => {
  if (drain?._tag === 'Draining' && drain.blocked !== undefined) return drain.blocked;
  return current?.phase === 'Draining' ? current.lastError : '';
};

/** Why a drain failed of which only the object and the Node are known. */
const failedError = ({ current, node }: PhaseFacts): string => {
  const known = current?.lastError ?? '';
  if (known !== '' || node?.ended !== 'Failed') return known;
  return `the drain of Node "${node.name}" failed; its Events say why`;
};

/** `lastError` for the phase; `reported` is the error in the fleet's own frame. */
export const errorToShow = (facts: PhaseFacts, phase: Phase, reported: string): string => {
  if (reported !== '') return reported;
  if (phase === 'Draining') return blockedError(facts);
  if (phase !== 'Failed') return '';
  if (facts.drain?._tag === 'Failed') return facts.drain.lastError;
  return drainPhase(facts) === null ? '' : failedError(facts);
};
