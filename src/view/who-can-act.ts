/** Who can do something about it, and what, in words. */
import type { CanAct } from '../api/reasons.ts';
import type { BlockerReason } from './reported-blockers.ts';

/** Who can act, as the subject of a sentence. */
export const WHO: Readonly<Record<CanAct, string>> = {
  application: 'The owner of the application',
  platform: 'Whoever runs this cluster',
  storage: 'Whoever runs the storage',
  provider: 'Whoever runs the fleet or its provider',
  nobody: 'Nobody needs to',
};

/** What the one who can act would do. */
const ACTIONS: Partial<Readonly<Record<BlockerReason, string>>> = {
  BlockedByBudget: 'Get the pods of the budget healthy, add replicas, or loosen the budget',
  BudgetNeverAllows: 'Give the pods a controller, use minAvailable, or delete them by hand',
  BudgetBroken: 'Look at the status of the budget, and delete and create it anew',
  TwoBudgets: 'Leave one of the budgets to select the pod',
  PolicyRefused: 'Mend or exempt the webhook or policy that refuses',
  EvictionForbidden: 'Give the operator the right that it lacks',
  EvictionRefused: 'Look at what the API server answers',
  EvictionFailing: 'Look at the API server and its admission webhooks',
  ServerThrottling: 'Look at the load of the API server',
  CredentialsRefused: 'Renew the credentials of the operator',
  Finalizer: 'Find out who was to remove the finalizer, and whether it runs',
  TerminationOverdue: 'Look at the pod and its kubelet: it does not end within its own grace',
  KubeletSilent: 'Look at the machine: its kubelet does not answer',
  DrainPaused: 'Take the annotation tidegate.dev/pause or the flag --pause-drains away',
  SlotHeldByInterruptedEviction: 'Wait: the slot comes back within two minutes',
  DeadlinePassed: 'Loosen what holds the pods up, or delete them by hand',
};

/** What can be done about a reason; empty when nothing needs to be. */
export const actionOn = (reason: BlockerReason): string => ACTIONS[reason] ?? '';
