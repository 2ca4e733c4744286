/** How far the surge of a Deployment is, for people. */
import { leastField } from './autoscaler.ts';
import type { SurgeFacts } from './surge-facts.ts';
import { availableOf } from './surge-step.ts';

const counted = ({ autoscaler }: SurgeFacts, deployment: string): readonly [string, string] =>
  autoscaler === null
    ? [`Deployment "${deployment}"`, 'replicas']
    : [`${autoscaler.kind} "${autoscaler.name}"`, leastField(autoscaler.kind)];

/** `Deployment "web" raised from 1 to 2 replicas: 1 available`. */
export const surgeMessage = (deployment: string, facts: SurgeFacts): string => {
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
