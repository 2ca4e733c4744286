/** The circuit breaker of evictions, walked through every configuration. */
import { expect } from 'vitest';
import { evictionCircuit } from '../../src/machines/eviction-circuit.ts';
import { describeModel } from './model.ts';

describeModel('evictionCircuit', {
  machine: evictionCircuit,
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
  invariant: (snapshot, actions) => {
    const { retryAfterMs, problem } = snapshot.context;
    expect(actions.includes('probe'), 'a single eviction probes').toBe(
      actions.length > 0 && snapshot.matches('halfOpen'),
    );
    if (snapshot.matches('closed')) expect(problem).toBe('');
    else expect(problem, 'an open circuit has a cause').not.toBe('');
    if (snapshot.matches({ open: 'throttled' })) {
      expect(retryAfterMs).toBeGreaterThanOrEqual(1000);
      expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    }
  },
});
