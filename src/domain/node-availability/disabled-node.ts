/**
 * The patches by which a person takes a Node out of service and gives it back (RS-03).
 *
 * Promises: pure; the drains of the operator follow from the cordon, whose owner is `disabled`; a
 * Node that others cordoned stays so.
 */
import { annotationOf, type CordonFacts, WHY_DISABLED_KEY } from '../drain/cordon.ts';
import { decideCordon, releasePatch } from '../drain/cordon-patch.ts';
import { recordAt } from '../json.ts';
import { rfc3339 } from '../time.ts';

/** What a command writes to a Node. */
export type DisablingStep =
  | { readonly _tag: 'Patch'; readonly body: object }
  | { readonly _tag: 'Unchanged' }
  | { readonly _tag: 'Unrecognized'; readonly why: string };

interface DisabledFacts extends CordonFacts {
  readonly whyDisabled: string;
}

const withWhy = (body: object, why: string): object => ({
  ...body,
  metadata: {
    ...recordAt(body, 'metadata'),
    annotations: { ...recordAt(body, 'metadata', 'annotations'), [WHY_DISABLED_KEY]: why },
  },
});

/** Cordons the Node with the owner `disabled`. */
export const disablingStep = (
  facts: DisabledFacts,
  { why, nowMs }: { readonly why: string; readonly nowMs: number },
): DisablingStep => {
  const known = annotationOf(facts, 'disabled');
  const isDisabled = facts.unschedulable && known !== undefined && known.ended !== 'Cancelled';
  if (isDisabled && facts.whyDisabled === why) return { _tag: 'Unchanged' };
  if (isDisabled) {
    const { resourceVersion } = facts;
    return { _tag: 'Patch', body: withWhy({ metadata: { resourceVersion } }, why) };
  }
  const decision = decideCordon(facts, 'disabled', {
    id: `disabled@${rfc3339(nowMs)}`,
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: nowMs,
  });
  if (decision._tag === 'Unrecognized') return decision;
  return decision._tag === 'Patch'
    ? { _tag: 'Patch', body: withWhy(decision.body, why) }
    : { _tag: 'Unchanged' };
};

/** Removes that owner; the last one makes the Node schedulable. */
export const enablingStep = (facts: DisabledFacts): DisablingStep => {
  const body = releasePatch(facts, 'disabled');
  if (body !== undefined) return { _tag: 'Patch', body };
  return facts.cordons['disabled'] === undefined ? { _tag: 'Unchanged' } : {
    _tag: 'Unrecognized',
    why: 'its annotation cordon.tidegate.dev/disabled is of another version',
  };
};
