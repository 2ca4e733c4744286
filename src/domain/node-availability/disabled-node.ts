/**
 * The patches by which a person takes a Node out of service and gives it back (RS-03).
 *
 * Promises: pure; the drains of the operator follow from the cordon, whose owner is `disabled`; a
 * Node that others cordoned stays so.
 */
import {
  acceptanceIn,
  annotationOf,
  CORDON_PREFIX,
  type CordonAnnotation,
  type CordonFacts,
  printCordon,
  WHY_DISABLED_KEY,
} from '../drain/cordon.ts';
import { decideCordon, releasePatch } from '../drain/cordon-patch.ts';
import { projectDrainedNode } from '../drain/drained-node.ts';
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

/** What a person says about a Node that is disabled. */
interface Disabling {
  readonly why: string;
  /** Pods without a possible replacement leave, too (RS-16). */
  readonly acceptsDowntime: boolean;
  readonly nowMs: number;
}

const withWhy = (body: object, why: string): object => ({
  ...body,
  metadata: {
    ...recordAt(body, 'metadata'),
    annotations: { ...recordAt(body, 'metadata', 'annotations'), [WHY_DISABLED_KEY]: why },
  },
});

/** The key of a Node that is disabled now. */
const disabledCordon = (
  facts: Pick<CordonFacts, 'unschedulable' | 'cordons'>,
): CordonAnnotation | undefined => {
  const known = annotationOf(facts, 'disabled');
  return facts.unschedulable && known?.ended !== 'Cancelled' ? known : undefined;
};

/** Whether a person disabled the Node, and nobody enabled it since then. */
export const isDisabled = (facts: Pick<CordonFacts, 'unschedulable' | 'cordons'>): boolean =>
  disabledCordon(facts) !== undefined;

/** Whether the person who disabled the Node accepts that its pods are down while they move. */
export const acceptsDowntime = (
  facts: Pick<CordonFacts, 'unschedulable' | 'cordons'>,
): boolean => disabledCordon(facts)?.acceptsDowntime === true;

/** The same of a Node as the API server has it. */
export const acceptsDowntimeOn = (node: unknown): boolean => {
  const facts = projectDrainedNode(node);
  return facts !== undefined && acceptsDowntime(facts);
};

/** Changes what was said when the Node was disabled; the drain goes on. */
const changedBody = (
  { resourceVersion, cordons }: CordonFacts,
  { acceptsDowntime: _before, ...known }: CordonAnnotation,
  disabling: Disabling,
): object => {
  const text = printCordon({ ...known, ...acceptanceIn(disabling) });
  const annotations = cordons['disabled'] === text ? {} : { [`${CORDON_PREFIX}disabled`]: text };
  return withWhy({ metadata: { resourceVersion, annotations } }, disabling.why);
};

/** Cordons the Node with the owner `disabled`. */
export const disablingStep = (facts: DisabledFacts, disabling: Disabling): DisablingStep => {
  const { why, nowMs, acceptsDowntime: isAccepted } = disabling;
  const known = disabledCordon(facts);
  if (known !== undefined) {
    const isSame = facts.whyDisabled === why && acceptsDowntime(facts) === isAccepted;
    return isSame
      ? { _tag: 'Unchanged' }
      : { _tag: 'Patch', body: changedBody(facts, known, disabling) };
  }
  const decision = decideCordon(facts, 'disabled', {
    id: `disabled@${rfc3339(nowMs)}`,
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: nowMs,
    ...acceptanceIn(disabling),
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
