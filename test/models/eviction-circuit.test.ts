/** The circuit breaker of evictions, walked through every configuration. */
import { expect } from 'vitest';
import { evictionCircuit } from '../../src/machines/eviction-circuit.ts';
import type { StepEvent } from './harness/interpreter.ts';
import { follows, type Line, must } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const SENT_FROM = ['closed', 'halfOpen'];

const OPENED: readonly Line[] = [
  { on: 'server.throttled', from: SENT_FROM, to: 'open.throttled' },
  { on: 'credentials.refused', from: SENT_FROM, to: 'open.unauthenticated' },
  { on: 'server.lost', from: SENT_FROM, to: 'open.serverAway.pausing' },
  { on: 'answer.lost', from: ['halfOpen'], to: 'open.serverAway.pausing' },
];

const transitions = follows([
  { on: 'xstate.init', to: 'closed' },
  ...OPENED,
  { on: 'eviction.answered', from: ['halfOpen'], to: 'closed' },
  { on: 'probe.declined', from: ['halfOpen'], to: 'closed' },
  { on: 'after absenceFloor', to: 'open.serverAway.listening' },
  ...['after throttle', 'after credentialsBackoff', 'after absenceBackoff']
    .map((on): Line => ({ on, to: 'halfOpen', does: ['probe'] })),
  { on: 'server.responded', from: ['open.serverAway.listening'], to: 'halfOpen', does: ['probe'] },
]);

const OPENING: ReadonlySet<string> = new Set(OPENED.map(({ on }) => on));

/** What the API server answers to evictions at present, and whether one is asking. */
interface World {
  readonly refusal: StepEvent | null;
  readonly probing: boolean;
}

const SERVING: World = { refusal: null, probing: false };

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
  invariant: (snapshot) => {
    const { retryAfterMs, problem } = snapshot.context;
    if (snapshot.matches('closed')) expect(problem).toBe('');
    else expect(problem, 'an open circuit has a cause').not.toBe('');
    if (snapshot.matches({ open: 'throttled' })) {
      expect(retryAfterMs).toBeGreaterThanOrEqual(1000);
      expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    }
  },
  stepInvariant: (step) => {
    transitions(step);
    const { event, before, after } = step;
    if (OPENING.has(event.type) && after.matches('open') && !before.matches('open')) {
      must(after.context.problem === event['why'], 'the newest cause is shown');
    }
  },
  // A new process sends an eviction and gets the answer that the API server gives at present.
  crash: {
    world: SERVING,
    record: ({ refusal, probing }: World, { event, actions }): World => {
      if (actions.includes('probe')) return { refusal, probing: true };
      const isSent = refusal === null || probing;
      if (!isSent) return { refusal, probing };
      if (event.type === 'eviction.answered' || event.type === 'probe.declined') return SERVING;
      const isReceived = OPENING.has(event.type) && (probing || event.type !== 'answer.lost');
      return isReceived ? { refusal: event, probing: false } : { refusal, probing };
    },
    restart: ({ refusal }) => ({
      input: undefined,
      events: refusal === null
        ? []
        : [refusal.type === 'answer.lost' ? { ...refusal, type: 'server.lost' } : refusal],
    }),
    obligations: ({ context }) => context.problem,
  },
  forgets: 'credentials.refused',
});
