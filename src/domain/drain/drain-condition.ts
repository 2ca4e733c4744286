/**
 * The condition `tidegate.dev/Draining` of a Node: what blocks its drain, and how a blocked drain
 * ended.
 *
 * Promises: True while the drain goes on, with the reason of its blocker; False at its end. A drain
 * that nothing blocks writes none, so that it costs no request.
 */
import { listOrEmptyAt, textAt } from '../json.ts';
import { rfc3339Seconds } from '../time.ts';
import { type DrainVerdict, drainVerdict, verdictNote } from './verdict.ts';
import type { CordonEnd } from './cordon.ts';

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

/** While the drain goes on; null when nothing blocks it any more. */
export const blockedCondition = (verdict: DrainVerdict | null): DrainCondition => {
  if (verdict === null) return NOTHING_BLOCKS;
  const { forecast, sentence } = verdict;
  const note = verdictNote(verdict);
  const message = forecast === '' || forecast === sentence ? note : `${note}. ${forecast}`;
  return { status: 'True', reason: verdict.reason, message };
};

/** At the end of the drain; `lastError` names the pods that remained. */
export const endedCondition = (end: CordonEnd, lastError: string): DrainCondition => {
  const { reason, sentence } = drainVerdict({
    state: end,
    left: 0,
    leaving: 0,
    blocked: [],
    lastError,
    schedulable: false,
    cordonedByPerson: false,
  });
  const message = end === 'Cancelled' ? 'The drain was cancelled' : sentence;
  return { status: 'False', reason, message };
};

/** The strategic merge patch of `/status`: other conditions stay. */
export const conditionPatch = (condition: DrainCondition, nowMs: number): object => ({
  status: {
    conditions: [{ type: TYPE, ...condition, lastTransitionTime: rfc3339Seconds(nowMs) }],
  },
});

/** True when the Node shows that it drains. */
export const showsDraining = (node: unknown): boolean =>
  listOrEmptyAt(node, 'status', 'conditions').some((condition) =>
    textAt(condition, 'type') === TYPE && textAt(condition, 'status') === 'True'
  );
