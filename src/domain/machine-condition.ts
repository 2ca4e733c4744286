/**
 * The condition `Ready` of an UpcomingNode: its phase, for `kubectl wait` and tools that read
 * conditions.
 *
 * Promises: True in phase Ready and False in every other; its reason is the phase, and its message
 * the last error or what the phase means. It has no generation: the spec is a report of the fleet
 * like the phase, and `kubectl wait` would wait forever for a generation that nothing restates.
 */
import { type Condition, conditionOf, type CurrentCondition } from './condition.ts';
import { type Phase, phaseNamed } from './machine-phase.ts';

/** The type of the condition. */
const READY = 'Ready';

const MEANING = {
  Provisioning: 'The fleet is creating the machine',
  Launched: 'The machine waits for its configuration',
  Registered: 'The machine is being configured to join the cluster',
  Ready: 'The machine serves the cluster',
  Draining: 'The machine is draining',
  Drained: 'The machine is drained and returns to the fleet',
  Failed: 'The machine or its drain failed',
} as const satisfies Record<Phase, string>;

/** The condition of a machine in that phase. */
export const readyCondition = (phase: Phase, lastError: string): Condition => ({
  type: READY,
  status: phase === 'Ready' ? 'True' : 'False',
  reason: phase,
  message: lastError === '' ? MEANING[phase] : lastError,
});

/** The condition in the status of an UpcomingNode; null without one. */
export const readyConditionOf = (raw: unknown): CurrentCondition | null =>
  conditionOf(raw, READY, (reason) => phaseNamed(reason) ?? reason);

/**
 * Whether the condition is about another phase, as an operator that writes none leaves it behind.
 * A missing one is not: it comes with the next status.
 */
export const isStale = (current: CurrentCondition | null, wanted: Condition): boolean =>
  current !== null && (current.status !== wanted.status || current.reason !== wanted.reason);
