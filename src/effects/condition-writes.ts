/**
 * Sends the patch of a Node's conditions.
 *
 * Promises: it passes the write budget in the lowest class; an answer that a retry may change is
 * retried a few times; the caller gets the last answer, or the last fault.
 */
import { Effect, Schedule } from 'effect';
import type { KubeAnswer, KubeCall } from './kube-api.ts';
import type { WriteFault, Writes } from './writes.ts';

/** From sending to the last byte of the answer. */
const PATCH_TIMEOUT_MS = 15_000;
/** Tries of a condition, and the pause before the second; it doubles. */
const CONDITION_TRIES = 5;
const CONDITION_RETRY_MS = 500;

/** The strategic merge patch of the status of a Node. */
export const nodeStatusCall = (node: string, body: object): KubeCall => ({
  method: 'PATCH',
  timeoutMs: PATCH_TIMEOUT_MS,
  path: `/api/v1/nodes/${node}/status`,
  body,
  contentType: 'application/strategic-merge-patch+json',
});

/** Sends it, a few times if need be. */
export const sendConditions = (
  writes: Writes['Service'],
  call: KubeCall,
): Effect.Effect<KubeAnswer, WriteFault | string> =>
  writes.send('event', call).pipe(
    Effect.flatMap((answer): Effect.Effect<KubeAnswer, string> =>
      answer.status === 429 || answer.status >= 500
        ? Effect.fail(`status ${answer.status}`)
        : Effect.succeed(answer)
    ),
    Effect.retry({
      times: CONDITION_TRIES - 1,
      schedule: Schedule.exponential(CONDITION_RETRY_MS),
    }),
  );
