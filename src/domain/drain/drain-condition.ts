/**
 * The condition `tidegate.dev/Draining` of a Node: what blocks its drain, and how it ended.
 *
 * Promises: True with the reason of its blocker while a drain is blocked; False at the end of every
 * drain, in the patch that writes the end to the Node, so that it costs no request (DR-50). A False
 * of an earlier drain becomes True when the next one starts.
 */
import { rawConditionOf } from '../condition.ts';
import { textAt } from '../json.ts';
import { rfc3339Seconds } from '../time.ts';
import { type DrainVerdict, drainVerdict, verdictNote } from './verdict.ts';
import { annotationOf, type CordonEnd, isDrainOwner } from './cordon.ts';
import type { DrainedNode } from './drained-node.ts';

const TYPE = 'tidegate.dev/Draining';

/** What the condition says. */
export interface DrainCondition {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const NOTHING_BLOCKS: DrainCondition = {
  status: 'True',
  reason: 'DrainStarted',
  message: 'Nothing blocks its pods',
};

/** A drain whose key was removed. */
const NO_KEY = { ended: 'Cancelled', deadlineMs: null } as const;

/** While the drain goes on; null when nothing blocks it. */
export const blockedCondition = (verdict: DrainVerdict | null): DrainCondition => {
  if (verdict === null) return NOTHING_BLOCKS;
  const { forecast, sentence } = verdict;
  const note = verdictNote(verdict);
  const message = forecast === '' || forecast === sentence ? note : `${note}. ${forecast}`;
  return { status: 'True', reason: verdict.reason, message };
};

/**
 * At the end of the drain; `lastError` names the pods that remained, `refusal` is the missing
 * permission for evictions.
 */
export const endedCondition = (
  end: CordonEnd,
  lastError: string,
  refusal = '',
): DrainCondition => {
  const isForbidden = end === 'Failed' && refusal !== '';
  const { reason, sentence } = drainVerdict({
    state: end,
    left: 0,
    leaving: 0,
    blocked: [],
    lastError: isForbidden ? `${refusal}; ${lastError}` : lastError,
    isForbidden,
    schedulable: false,
    cordonedByPerson: false,
  });
  const message = end === 'Cancelled' ? 'The drain was cancelled' : sentence;
  return { status: 'False', reason, message };
};

/**
 * What a Node shows wrongly, or undefined: a drain that goes on, although none of its keys is
 * without an end. The process that ended it could not write so.
 */
export const missedEnd = (
  { cordons, showsDraining }: Pick<DrainedNode, 'cordons' | 'showsDraining'>,
): DrainCondition | undefined => {
  if (showsDraining !== true) return undefined;
  const drains = Object.keys(cordons).filter(isDrainOwner)
    .flatMap((owner) => annotationOf({ cordons }, owner) ?? []);
  if (drains.some(({ ended }) => ended === null)) return undefined;
  const [{ ended, deadlineMs } = NO_KEY] = drains;
  if (ended !== 'Failed') return endedCondition(ended ?? 'Cancelled', '');
  return endedCondition(ended, 'pods remained', deadlineMs === null ? 'no permission' : '');
};

/**
 * The strategic merge patch of `/status`: other conditions stay. `body` may have metadata, which
 * the API server takes there as well (nodeStatusStrategy keeps the spec only).
 */
export const conditionPatch = (
  condition: DrainCondition,
  nowMs: number,
  body: object = {},
): object => ({
  ...body,
  status: {
    conditions: [{ type: TYPE, ...condition, lastTransitionTime: rfc3339Seconds(nowMs) }],
  },
});

/** Whether the Node shows that it drains; undefined without the condition. */
export const drainingStatus = (node: unknown): boolean | undefined => {
  const condition = rawConditionOf(node, TYPE);
  return condition === undefined ? undefined : textAt(condition, 'status') === 'True';
};
