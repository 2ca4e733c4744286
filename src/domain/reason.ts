/** A reason: a one-word cause with its sentence, who can act on it, the change, and its runbook. */

/** Who can act. */
export type CanAct = 'application' | 'platform' | 'storage' | 'provider' | 'nobody';

/** Who can act, as the subject of a sentence. */
export const WHO: Readonly<Record<CanAct, string>> = {
  application: 'The owner of the application',
  platform: 'The platform team',
  storage: 'The storage team',
  provider: 'The operator of the fleet or its provider',
  nobody: 'No action needed',
};

/** What a reason means. */
export interface Reason {
  readonly type: 'Normal' | 'Warning';
  /** The action of the Event (events.k8s.io/v1 `action`): the attempted operation. */
  readonly action: string;
  /** One sentence without details. */
  readonly sentence: string;
  readonly canAct: CanAct;
  /** The heading in `docs/runbooks.md`; a reason without one needs no action. */
  readonly runbook?: string;
  /** What to do about it, in one sentence; a verdict may have a more exact one. */
  readonly change?: string;
}
