/**
 * When drains began, were blocked, and ended: the marks of the live page's history.
 *
 * Promises: one pass over the changes of drains; bounded, and the newest are kept.
 */
import type { PastChange } from '../../api/actor-history.ts';
import { isDrainVerdict } from '../../domain/drain/verdict.ts';
import { textAt, valueAt } from '../../domain/json.ts';
import { needsPerson } from './board-verdict.ts';

/** What happened to a drain. */
export type DrainMarkKind = 'began' | 'blocked' | 'ended';

/** A moment in the life of a drain. */
export interface DrainMark {
  readonly atMs: number;
  readonly kind: DrainMarkKind;
  readonly node: string;
}

const MARKS_MAX = 200;
const ENDS: ReadonlySet<string> = new Set(['work.drained', 'work.failed', 'work.cancelled']);

type Phase = 'idle' | 'moving' | 'blocked' | 'ended';

const phaseOf = ({ row: { state, status }, context }: PastChange): Phase => {
  const work = state.split(' ').find((path) => path.startsWith('work.')) ?? '';
  if (ENDS.has(work)) return 'ended';
  if (status !== 'active' || !work.startsWith('work.underway')) return 'idle';
  const verdict = valueAt(context, 'verdict');
  return isDrainVerdict(verdict) && needsPerson(verdict.severity) ? 'blocked' : 'moving';
};

const markOf = (before: Phase, after: Phase): DrainMarkKind | undefined => {
  if (after === before) return undefined;
  if (after === 'ended' || after === 'blocked') return after;
  return after === 'moving' && before !== 'blocked' ? 'began' : undefined;
};

/** The marks in the changes of drains, oldest first. */
export const drainMarks = (changes: Iterable<PastChange>): readonly DrainMark[] => {
  const phases = new Map<string, Phase>();
  const marks: DrainMark[] = [];
  for (const change of changes) {
    const { id, bornMs } = change.row;
    const after = phaseOf(change);
    // The first change of a drain that is older than the history began before it.
    const before = phases.get(id) ?? (bornMs < change.atMs ? after : 'idle');
    phases.set(id, after);
    const kind = markOf(before, after);
    if (kind === undefined) continue;
    const node = textAt(change.context, 'name') ?? id.slice(id.indexOf('/') + 1);
    marks.push({ atMs: change.atMs, kind, node });
  }
  return marks.slice(-MARKS_MAX);
};
