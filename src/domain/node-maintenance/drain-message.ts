/**
 * `drainMessage`: why a node is where it is in the plan (KEP-4212, *Pod Selection and DrainTargets
 * Example*).
 *
 * Promises: the KEP's own texts; a run that waits names the node at the root, found breadth-first
 * over its neighbours; lists of names are bounded.
 */
import { listed } from '../text.ts';
import type { Rank } from './drain-plan.ts';
import { type HasTargetedPods, neighbours } from './drain-progress.ts';
import {
  byAge,
  cursorRank,
  isOver,
  type PlanRun,
  reachedRank,
  runsByNode,
  type TargetsByNode,
} from './drain-targets.ts';

/** What the messages of all runs are derived from. */
export interface MessageFacts {
  readonly runs: readonly PlanRun[];
  readonly targets: TargetsByNode;
  readonly hasTargetedPods: HasTargetedPods;
}

/** The message of a node whose plan is over. */
const DRAINED_MESSAGE = 'Drained';

/** Names in one message. */
const NAMED_MAX = 5;

/** The message of a node whose pods leave. */
export const EVACUATING_MESSAGE = 'Evacuating';

const namesOf = (runs: readonly PlanRun[]): string =>
  listed([...new Set(runs.map(({ maintenance }) => maintenance))], NAMED_MAX);

/** Runs at the limit of the node or below, which hold a run that is further. */
const limiting = (run: PlanRun, others: readonly PlanRun[], limit: Rank): readonly PlanRun[] =>
  others.filter((other) => cursorRank(other) <= limit && cursorRank(other) < cursorRank(run));

/** Why the node is ahead of this run: an older one has been further. */
const forwardedText = (run: PlanRun, others: readonly PlanRun[], limit: Rank): string => {
  const ahead = others.filter((other) => cursorRank(other) >= limit)
    .toSorted((left, right) => cursorRank(left) - cursorRank(right));
  const older = ahead.find((other) => byAge(other, run) < 0);
  const forwarder = older ?? ahead[0];
  if (forwarder === undefined) return `${EVACUATING_MESSAGE} (fast-forwarded)`;
  const age = older === undefined ? '' : 'older ';
  return `${EVACUATING_MESSAGE} (fast-forwarded by ${age}${forwarder.maintenance})`;
};

const busyText = (run: PlanRun, others: readonly PlanRun[], limit: Rank): string => {
  const cursor = cursorRank(run);
  if (isOver(run) || limit === cursor) return EVACUATING_MESSAGE;
  if (limit > cursor) return forwardedText(run, others, limit);
  const names = namesOf(limiting(run, others, limit));
  return names === '' ? EVACUATING_MESSAGE : `${EVACUATING_MESSAGE} (limited by ${names})`;
};

const waitingText = (nodes: readonly string[], maintenance: string): string => {
  const word = nodes.length === 1 ? 'node' : 'nodes';
  const owner = maintenance === '' ? '' : ` (${maintenance})`;
  return `Waiting for ${word} ${listed(nodes, NAMED_MAX)}${owner}.`;
};

/** The messages of all runs. */
export const drainMessages = (
  { runs, targets, hasTargetedPods }: MessageFacts,
): (run: PlanRun) => ReadonlyMap<string, string> => {
  const byNode = runsByNode(runs);
  const around = neighbours(runs);
  const busy = new Set(
    [...byNode.keys()].filter((node) => hasTargetedPods(node, targets.get(node) ?? [])),
  );
  const busyOf = ({ nodes }: PlanRun): readonly string[] => nodes.filter((node) => busy.has(node));
  /** The nearest run with a busy node. */
  const rootText = (run: PlanRun): string => {
    const seen = new Set([run]);
    // Grows while it is iterated.
    for (const one of seen) {
      const nodes = busyOf(one);
      if (nodes.length > 0) return waitingText(nodes, one === run ? '' : one.maintenance);
      for (const other of around.get(one) ?? []) seen.add(other);
    }
    return EVACUATING_MESSAGE;
  };
  return (run) => {
    const idle = isOver(run) ? DRAINED_MESSAGE : rootText(run);
    const textAt = (node: string): string => {
      if (!busy.has(node)) return idle;
      const others = (byNode.get(node) ?? []).filter((other) => other !== run);
      return busyText(run, others, reachedRank(targets.get(node) ?? []));
    };
    return new Map(run.nodes.map((node) => [node, textAt(node)]));
  };
};
