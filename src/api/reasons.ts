/**
 * The registry of reasons: every one-word cause that a condition, an Event or `explain` may show,
 * with its sentence, who can act on it, and its runbook. Nothing shows a reason that is not here.
 */

/** Who can do something about it. */
export type CanAct = 'application' | 'platform' | 'storage' | 'provider' | 'nobody';

/** What a reason means. */
export interface Reason {
  readonly type: 'Normal' | 'Warning';
  /** The action of the Event (events.k8s.io/v1 `action`): what was tried. */
  readonly action: string;
  /** One sentence for people, without the particulars. */
  readonly sentence: string;
  readonly canAct: CanAct;
  /** The heading in `docs/runbooks.md`; reasons without one need no hand. */
  readonly runbook?: string;
}

const registry = <const Entries extends Record<string, Reason>>(entries: Entries): Entries =>
  entries;

/** Every reason of Tidegate. */
export const REASONS = registry({
  InvalidCapacityRequest: {
    type: 'Warning',
    action: 'ReadCapacityRequest',
    sentence: 'A field of the CapacityRequest cannot be read, so the fleet is not asked for it',
    canAct: 'application',
    runbook: 'invalid-capacity-request',
  },
  SessionRefused: {
    type: 'Warning',
    action: 'DialShard',
    sentence: 'The key pair is not fit to dial with, or the shard refused this cluster',
    canAct: 'platform',
    runbook: 'session-refused',
  },
  RollupTooLarge: {
    type: 'Warning',
    action: 'SendRollup',
    sentence: 'The roll-up is larger than a frame may be, so the shard keeps the demand before it',
    canAct: 'application',
    runbook: 'rollup-too-large',
  },
  RollupNotAcknowledged: {
    type: 'Warning',
    action: 'SendRollup',
    sentence: 'The shard did not acknowledge a roll-up within three intervals',
    canAct: 'platform',
    runbook: 'rollup-not-acknowledged',
  },
  NodeReady: {
    type: 'Normal',
    action: 'WatchNode',
    sentence: 'The Node of the machine became Ready for the first time',
    canAct: 'nobody',
  },
  WriteRefused: {
    type: 'Warning',
    action: 'WriteObject',
    sentence: 'The API server refuses the object as the fleet describes it',
    canAct: 'platform',
    runbook: 'write-refused',
  },
  WriteFailing: {
    type: 'Warning',
    action: 'WriteObject',
    sentence: 'Writes of the object keep failing; they are tried again',
    canAct: 'platform',
    runbook: 'write-failing',
  },
  CollectionRefused: {
    type: 'Warning',
    action: 'ListAndWatch',
    sentence: 'The API server refuses to list or watch a kind of object that the operator needs',
    canAct: 'platform',
    runbook: 'collection-refused',
  },
  LeaseNotRenewed: {
    type: 'Warning',
    action: 'RenewLease',
    sentence: 'The lease could not be renewed, so this process will stop leading',
    canAct: 'platform',
    runbook: 'lease-not-renewed',
  },
});

/** The name of a reason. */
export type ReasonName = keyof typeof REASONS;
