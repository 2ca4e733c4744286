/** Who can act on a reason, and how. */
import type { CanAct } from '../api/reasons.ts';
import type { BlockerReason } from './reported-blockers.ts';

/** Who can act, as the subject of a sentence. */
export const WHO: Readonly<Record<CanAct, string>> = {
  application: 'The owner of the application',
  platform: 'The platform team',
  storage: 'The storage team',
  provider: 'The operator of the fleet or its provider',
  nobody: 'No action needed',
};

/** The action for each reason. */
const ACTIONS: Partial<Readonly<Record<BlockerReason, string>>> = {
  BlockedByBudget: 'Make the pods of the budget healthy, add replicas, or relax the budget',
  BudgetNeverAllows: 'Give the pods a controller, use minAvailable, or delete the pods manually',
  BudgetBroken: 'Check the status of the budget; delete and recreate it',
  TwoBudgets: 'Change the selectors so that one budget selects the pod',
  PolicyRefused: 'Fix the webhook or policy that refuses, or exempt the pod',
  EvictionForbidden: 'Grant the operator the missing permission',
  EvictionRefused: 'Check the response of the API server',
  EvictionFailing: 'Check the API server and its admission webhooks',
  ServerThrottling: 'Check the load of the API server',
  CredentialsRefused: 'Renew the credentials of the operator',
  Finalizer: 'Check that the controller that removes the finalizer runs',
  TerminationOverdue: 'Check the pod and its kubelet: it exceeded its termination grace period',
  KubeletSilent: 'Check the machine: its kubelet is not responding',
  DrainPaused: 'Remove the annotation tidegate.dev/pause or the flag --pause-drains',
  SlotHeldByInterruptedEviction: 'Wait: the slot is freed within two minutes',
  DeadlinePassed: 'Remove what blocks the pods, or delete them manually',
};

/** The action for a reason; empty when none is needed. */
export const actionOn = (reason: BlockerReason): string => ACTIONS[reason] ?? '';
