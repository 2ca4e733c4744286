/**
 * How a drain ended, as its Event reports it.
 *
 * Promises: what stays on the node is named, and why.
 */
import type { ReasonName } from '../../api/reasons.ts';
import type { CordonEnd } from '../../domain/drain/cordon.ts';
import { acknowledgedText } from '../../domain/drain/kept-pods.ts';
import { plural } from '../../domain/drain/verdict.ts';
import { listed } from '../../domain/text.ts';

/** The maximum number of names in a note. */
const NAMED_MAX = 5;

/** How a drain ended. */
export interface EndedDrain {
  readonly end: CordonEnd;
  readonly seconds: number;
  /** Until only pods that it kept remained, or none. */
  readonly statelessSeconds: number;
  /** Why pods remain; empty when none do. */
  readonly lastError: string;
  /** A permission is missing. */
  readonly forbidden: boolean;
  /** Volumes that are still attached (DR-24). */
  readonly volumes: readonly string[];
  /** Pods that stay, because they tolerate the cordon and came back (DR-20). */
  readonly tolerating: readonly string[];
  /** Pods that stay for their data, because a person acknowledged it (RS-12). */
  readonly acknowledged: readonly string[];
  /** Pods that were on the Node when it was deleted (DR-06); 0 while it exists. */
  readonly lostPods: number;
}

const REASON_OF = {
  Drained: 'DrainFinished',
  Failed: 'DeadlinePassed',
  Cancelled: 'DrainCancelled',
} as const satisfies Record<CordonEnd, ReasonName>;

/** What remains on the node beside the pods that must leave. */
const restOf = ({ volumes, tolerating, acknowledged }: EndedDrain): string => {
  const kept = acknowledged.length === 0 ? '' : `; ${acknowledgedText(acknowledged)}`;
  const attached = volumes.length === 0
    ? kept
    : `${kept}; still attached: ${listed(volumes, NAMED_MAX)}`;
  if (tolerating.length === 0) return attached;
  const verb = tolerating.length === 1
    ? 'stays, because it tolerates'
    : 'stay, because they tolerate';
  return `; ${verb} the cordon: ${listed(tolerating, NAMED_MAX)}${attached}`;
};

/** The note of the Event. */
export const endNote = (drain: EndedDrain): string => {
  const { end, seconds, lastError } = drain;
  const time = `${Math.round(seconds)} s`;
  const rest = restOf(drain);
  switch (end) {
    case 'Drained':
      return drain.lostPods === 0
        ? `Drained in ${time}${rest}`
        : `The Node was deleted after ${time} with ${plural(drain.lostPods, 'pod')} on it`;
    case 'Failed':
      return `Cannot drain the node within ${time}: ${lastError}${rest}`;
    case 'Cancelled':
      return `Cancelled after ${time}: the node was uncordoned, or the annotation was removed`;
  }
};

/** The reason of the Event. */
export const endReason = ({ end, forbidden, lostPods }: EndedDrain): ReasonName => {
  if (end === 'Drained' && lostPods > 0) return 'NodeDeleted';
  return end === 'Failed' && forbidden ? 'EvictionForbidden' : REASON_OF[end];
};
