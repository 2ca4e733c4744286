/**
 * One cause that blocks pods of one drain (DR-42).
 *
 * Promises: a cause is recorded after ten seconds, and once per drain; a cause that begins at a
 * known time, such as an overdue termination, is reviewed at that time.
 */
import { setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { DrainVerdict } from '../domain/drain/verdict.ts';

/** How long a cause must block pods before it is recorded. */
const BLOCKED_MS = 10_000;

export interface DrainBlockerInput {
  /** Node and owner of the drain. */
  readonly drain: string;
  /** Reason and subject. */
  readonly cause: string;
  /** Time until the cause may begin; null when it blocks pods already. */
  readonly startsInMs: number | null;
  /** What blocks the pods, as it began; null while it may begin. */
  readonly verdict: DrainVerdict | null;
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
  description: 'One cause that blocks pods of a drain.',
  context: ({ input }) => input,
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides whether the cause blocks pods already.',
      always: [{ guard: 'isExpected', target: 'expected' }, { target: 'lasting' }],
    },
    expected: {
      description: 'The cause may begin at a known time.',
      meta: { reason: 'DrainBlocked' },
      tags: 'waiting',
      after: { causeStart: { target: 'reviewed', actions: 'reviewDrain' } },
    },
    lasting: {
      description: 'The cause blocks pods; it is recorded if it lasts.',
      meta: { reason: 'DrainBlocked' },
      tags: 'waiting',
      after: { blockedFor: { target: 'recorded', actions: 'recordBlocked' } },
    },
    recorded: { description: 'An Event names the cause.', tags: 'settled' },
    reviewed: { description: 'The drain was reviewed for the cause.', tags: 'settled' },
  },
});
