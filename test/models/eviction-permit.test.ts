/** The permit to evict, walked through every configuration. */
import { expect } from 'vitest';
import { evictionPermit } from '../../src/machines/eviction-permit.ts';
import { describeModel } from './model.ts';

describeModel('evictionPermit', {
  machine: evictionPermit,
  inputs: [undefined],
  events: {
    'server.throttled': [
      { retryAfterMs: 0, why: 'limit' },
      { retryAfterMs: 3_600_000, why: 'limit' },
    ],
    'credentials.refused': [{ why: 'expired' }],
    'server.lost': [{ why: 'refused' }],
    'answer.lost': [{ why: 'cut' }],
  },
  invariant: (snapshot, acts) => {
    const { retryAfterMs, problem } = snapshot.context;
    expect(acts.includes('permitOne'), 'one call tries, and no more').toBe(
      acts.length > 0 && snapshot.matches('trying'),
    );
    if (snapshot.matches('open')) expect(problem).toBe('');
    else expect(problem, 'a wait has a reason').not.toBe('');
    if (snapshot.matches('throttled')) {
      expect(retryAfterMs).toBeGreaterThanOrEqual(1000);
      expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    }
  },
});
