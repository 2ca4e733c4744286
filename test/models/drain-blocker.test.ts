/** One cause that blocks pods of a drain, walked through every configuration. */
import { expect } from 'vitest';
import { drainBlocker } from '../../src/machines/drain-blocker.ts';
import { describeModel } from './model.ts';

const inputOf = (startsInMs: number | null) => ({
  drain: 'n1/reclaim',
  cause: 'BlockedByBudget ns/db',
  startsInMs,
});

describeModel('drainBlocker', {
  machine: drainBlocker,
  inputs: [inputOf(null), inputOf(5000), inputOf(-1)],
  events: {},
  invariant: (snapshot, actions) => {
    const { startsInMs } = snapshot.context;
    expect(actions.includes('recordBlocked'), 'a cause is recorded when it lasts').toBe(
      snapshot.matches('recorded'),
    );
    if (snapshot.matches('recorded')) expect(startsInMs).toBeNull();
    if (actions.includes('reviewDrain')) expect(snapshot.matches('reviewed')).toBe(true);
  },
});
