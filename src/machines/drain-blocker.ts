/**
 * One cause that holds up pods of one drain (DR-42).
 *
 * Promises: a cause is recorded once it has lasted for ten seconds, and once in the same drain; one
 * that will begin at a known time, such as an overdue termination, is looked for when it begins.
 */
import { setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';

/** How long a cause holds pods up before it is recorded. */
const BLOCKED_MS = 10_000;

export interface DrainBlockerInput {
  /** Node and owner of the drain. */
  readonly drain: string;
  /** Reason and subject. */
  readonly cause: string;
  /** Until the cause may begin; null when it holds pods up already. */
  readonly startsInMs: number | null;
}

export interface DrainBlockerContext extends DrainBlockerInput {}

/** The statechart of a cause; `src/actors/node-drains` provides its actions. */
export const drainBlocker = setup({
  types: {
    context: {} as DrainBlockerContext,
    input: {} as DrainBlockerInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'settled',
  },
  actions: {
    recordBlocked: () => {},
    reviewDrain: () => {},
  },
  guards: { isExpected: ({ context }) => context.startsInMs !== null },
  delays: {
    causeStart: ({ context }) => Math.max(0, context.startsInMs ?? 0),
    blockedFor: BLOCKED_MS,
  },
}).createMachine({
  id: 'drainBlocker',
  description: 'One cause that holds up pods of a drain.',
  context: ({ input }) => input,
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides whether the cause holds pods up already.',
      always: [{ guard: 'isExpected', target: 'expected' }, { target: 'lasting' }],
    },
    expected: {
      description: 'The cause may begin at a known time.',
      meta: { reason: 'DrainBlocked' },
      tags: 'waiting',
      after: { causeStart: { target: 'reviewed', actions: 'reviewDrain' } },
    },
    lasting: {
      description: 'The cause holds pods up; it is recorded when it lasts.',
      meta: { reason: 'DrainBlocked' },
      tags: 'waiting',
      after: { blockedFor: { target: 'recorded', actions: 'recordBlocked' } },
    },
    recorded: { description: 'An Event names the cause.', tags: 'settled' },
    reviewed: { description: 'The drain was reviewed for the cause.', tags: 'settled' },
  },
});
