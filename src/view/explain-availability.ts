/**
 * Explains the availability of a Node, beside its drain.
 *
 * Promises: says the sentence, who can act and the runbook of the reason that the Node shows; pure.
 */
import { type Reason, type ReasonName, REASONS } from '../api/reasons.ts';
import { runbookUrl } from '../domain/documentation.ts';
import type {
  AvailabilityLabel,
  CurrentAvailability,
} from '../domain/node-availability/node-state.ts';
import type { Detail, Explanation } from './explanation.ts';

/** What is read of the Node. */
export interface ExplainedAvailability {
  readonly availability: CurrentAvailability;
  /** What a person wrote when the Node was disabled; empty otherwise. */
  readonly whyDisabled: string;
}

/** The reasons of states that are a failure. */
const FAILURES: Readonly<Partial<Record<AvailabilityLabel, ReasonName>>> = {
  Offline: 'NodeOffline',
  OfflineStorm: 'OfflineStorm',
  Degraded: 'NodeDegraded',
};

const WAITS_FOR: Readonly<Partial<Record<AvailabilityLabel, string>>> = {
  Offline: 'The machine or its network to come back',
  OfflineStorm: 'The Node to come back, or a person to confirm that its machine is gone',
  Degraded: 'The problem condition to end',
};

/** States of a drain that say nothing of pods that must leave. */
const WITHOUT_DRAIN: ReadonlySet<string> = new Set(['Schedulable', 'Cordoned']);

const detail = (name: string, value: string): readonly Detail[] =>
  value === '' ? [] : [{ name, value }];

/** Adds it to the explanation; without a drain, a failure is what the Node waits for. */
export const withAvailability = (
  explanation: Explanation,
  { availability: { label, isConfirmedGone }, whyDisabled }: ExplainedAvailability,
): Explanation => {
  const name = label === null ? undefined : FAILURES[label];
  const reason: Reason | undefined = name && REASONS[name];
  const runbook = runbookUrl(reason?.runbook ?? '');
  const isMain = reason !== undefined && WITHOUT_DRAIN.has(explanation.state);
  return {
    ...explanation,
    ...(isMain
      ? {
        state: label ?? explanation.state,
        why: reason.sentence,
        waitsFor: WAITS_FOR[label ?? 'Active'] ?? '',
        canAct: reason.canAct,
        action: reason.change ?? '',
        runbook,
      }
      : {}),
    details: [
      ...detail('Availability', label ?? ''),
      ...(isMain || reason === undefined
        ? []
        : [...detail(name ?? '', reason.sentence), ...detail('Runbook', runbook)]),
      ...detail('Disabled because', whyDisabled),
      ...detail('Out of service', isConfirmedGone ? 'a person confirmed that it is gone' : ''),
      ...explanation.details,
    ],
  };
};
