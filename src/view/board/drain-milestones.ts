/**
 * When drains began, were blocked, and ended: the milestones of the live page's history.
 *
 * Promises: one pass over the changes of drains; bounded, and the newest are kept.
 */
import type { PastChange } from '../../api/actor-history.ts';
import { isDrainVerdict } from '../../domain/drain/verdict.ts';
import { textAt, valueAt } from '../../domain/json.ts';
import { needsPerson } from './board-verdict.ts';

/** What happened to a drain. */
export type MilestoneKind = 'began' | 'blocked' | 'ended';

/** A moment in the life of a drain. */
export interface DrainMilestone {
  readonly atMs: number;
  readonly kind: MilestoneKind;
  readonly node: string;
}

const MILESTONES_MAX = 200;
const ENDS: ReadonlySet<string> = new Set(['work.drained', 'work.failed', 'work.cancelled']);

type Phase = 'idle' | 'moving' | 'blocked' | 'ended';

const phaseOf = ({ row: { state, status }, context }: PastChange): Phase => {
  const work = state.split(' ').find((path) => path.startsWith('work.')) ?? '';
  if (ENDS.has(work)) return 'ended';
  if (status !== 'active' || !work.startsWith('work.underway')) return 'idle';
  const verdict = valueAt(context, 'verdict');
  return isDrainVerdict(verdict) && needsPerson(verdict.severity) ? 'blocked' : 'moving';
};

const milestoneBetween = (before: Phase, after: Phase): MilestoneKind | undefined => {
  if (after === before) return undefined;
  if (after === 'ended' || after === 'blocked') return after;
  return after === 'moving' && before !== 'blocked' ? 'began' : undefined;
};

/** The milestones in the changes of drains, oldest first. */
export const drainMilestones = (changes: Iterable<PastChange>): readonly DrainMilestone[] => {
  const phases = new Map<string, Phase>();
  const milestones: DrainMilestone[] = [];
  for (const change of changes) {
    const { id, bornMs } = change.row;
    const after = phaseOf(change);
    // The first change of a drain that is older than the history began before it.
    const before = phases.get(id) ?? (bornMs < change.atMs ? after : 'idle');
    phases.set(id, after);
    const kind = milestoneBetween(before, after);
    if (kind === undefined) continue;
    const node = textAt(change.context, 'name') ?? id.slice(id.indexOf('/') + 1);
    milestones.push({ atMs: change.atMs, kind, node });
  }
  return milestones.slice(-MILESTONES_MAX);
};
