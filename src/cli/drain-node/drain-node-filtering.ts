/** The nodes of `tidegate drain NODE…` with the verdicts of the filters on their pods. */
import { type FilterFacts, podVerdict } from '../../domain/drain/drain-filters.ts';
import { quoted } from '../../domain/text.ts';
import type { Time } from '../../domain/time.ts';
import { daemonSetOf, type NodeReading } from '../../effects/drained-pods.ts';
import type { DrainQuestion } from './drain-node-request.ts';
import { type FilteredNode, refusalText, warningText } from './drain-node-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Where refusals are reported. */
export interface FilteringEnvironment {
  readonly terminal: Pick<Terminal, 'report'>;
  readonly time: Pick<Time, 'now'>;
}

/** A node that could be read. */
type Read = Extract<NodeReading, { readonly _tag: 'Read' }>;

/** The node with the verdicts on its pods. */
export const filteredNode = (
  { node, pods, listed, goneDaemonSets }: Read,
  { filters }: DrainQuestion,
  nowMs: number,
): FilteredNode => {
  const hasDaemonSet: FilterFacts['hasDaemonSet'] = (pod) =>
    !goneDaemonSets.has(daemonSetOf(pod) ?? '');
  return {
    name: node.name,
    before: node,
    listed,
    wasCordoned: node.unschedulable,
    hasDaemonSet,
    pods: pods.map((pod) => ({ pod, verdict: podVerdict(pod, filters, { hasDaemonSet, nowMs }) })),
  };
};

/** The nodes that may be drained; the others are reported. */
export const filteredNodes = (
  readings: readonly NodeReading[],
  question: DrainQuestion,
  { terminal, time }: FilteringEnvironment,
): readonly FilteredNode[] =>
  readings.flatMap((reading) => {
    if (reading._tag === 'Refused') {
      terminal.report(`Cannot drain node ${quoted(reading.name)}: ${reading.why}`);
      return [];
    }
    const node = filteredNode(reading, question, time.now());
    const refusal = refusalText(node.pods);
    if (refusal !== '') {
      terminal.report(`Cannot drain node ${quoted(node.name)}: it has ${refusal}`);
      return [];
    }
    const warning = warningText(node.pods);
    if (warning !== '') terminal.report(`Warning: node ${quoted(node.name)}: ${warning}`);
    return [node];
  });
