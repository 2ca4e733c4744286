/** The recovery of lost reclaims, walked through every configuration. */
import { expect } from 'vitest';
import { reclaimRecovery } from '../../src/machines/reclaim-recovery.ts';
import { describeModel } from './model.ts';

describeModel('reclaimRecovery', {
  machine: reclaimRecovery,
  inputs: [undefined],
  events: {},
  invariant: (snapshot, actions) => {
    expect(actions.includes('recoverReclaims'), 'only a complete replay recovers').toBe(
      actions.length > 0 && snapshot.matches('recovered'),
    );
  },
});
