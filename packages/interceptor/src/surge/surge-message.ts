/** How far the surge of a Deployment is, for people. */
import { leastField } from './autoscaler.ts';
import type { SurgeContext } from './surge-context.ts';
import { lackingIn } from './surge-decision.ts';
import type { SurgeFacts } from './surge-facts.ts';
import { givesUp, heldText, refusalText, type SurgeRefusal } from './surge-refusal.ts';
import { availableOf, remainingPods } from './surge-step.ts';

const counted = ({ autoscaler }: SurgeFacts, deployment: string): readonly [string, string] =>
  autoscaler === null
    ? [`Deployment "${deployment}"`, 'replicas']
    : [`${autoscaler.kind} "${autoscaler.name}"`, leastField(autoscaler.kind)];

/** `Deployment "web" raised from 1 to 2 replicas: 1 available`. */
const raisedText = (deployment: string, facts: SurgeFacts): string => {
  const { autoscaler, baseline, replicas } = facts;
  const [object, field] = counted(facts, deployment);
  const before = baseline?.replicas ?? replicas;
  const count = baseline?.raisedTo ?? replicas;
  const unit = autoscaler === null ? `${count} ${field}` : `${field} ${count}`;
  const change = baseline !== null && before === count
    ? `lowered to ${unit}`
    : `raised from ${before} to ${unit}`;
  return `${object} ${change}: ${availableOf(facts)} available`;
};

/** Why pods cannot be replaced now, also while a replacement may still get room. */
const blockedBy = (
  context: Pick<SurgeContext, 'facts' | 'refusal' | 'requested'>,
): SurgeRefusal | null => {
  const { facts, refusal, requested } = context;
  if (facts === null || remainingPods(facts, requested).length === 0) return null;
  return refusal ?? lackingIn(context, facts);
};

/** The reason by which a workload counts as one that cannot be surged; null: it does not. */
export const blockedReason = (
  context: Pick<SurgeContext, 'facts' | 'refusal' | 'requested'>,
): string | null => blockedBy(context)?.reason ?? null;

/** How far it is, beginning with the reason where it does not get on. */
export const surgeMessage = (context: SurgeContext): string => {
  const { deployment: { name }, facts, problem, refusal, withoutSurge } = context;
  if (problem !== null) return problem;
  if (facts === null) return `Reads Deployment "${name}"`;
  if (refusal !== null) {
    return givesUp(refusal, facts, withoutSurge)
      ? refusalText(name, refusal)
      : heldText(name, refusal);
  }
  const lacking = blockedBy(context);
  return lacking === null
    ? raisedText(name, facts)
    : `${lacking.reason}: ${raisedText(name, facts)}; ${lacking.why}`;
};
