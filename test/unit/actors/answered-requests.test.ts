/** An answer to a write and an observation that came before it. */
import { expect, test } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { NOTHING_SENT } from '../../../src/domain/eviction-requests/imperative-report.ts';
import type { ObservedRequest } from '../../../src/domain/eviction-requests/observed-request.ts';
import { type ResourceVersion, resourceVersion } from '../../../src/domain/ids.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import { evictionRequest } from '../../../src/machines/eviction-request.ts';
import type { EvictionRequestAct } from '../../../src/machines/eviction-request-context.ts';
import {
  BALANCER,
  CREATED_MS,
  DRAIN,
  observedRequest,
  targetPod,
  TIMING,
} from '../../support/eviction-requests/request-fixture.ts';

const at = (version: ResourceVersion, requesters: readonly string[]): ObservedRequest => ({
  ...observedRequest({ requesters }),
  copiedLabels: null,
  resourceVersion: version,
});

test('NE-11: a requester that was observed during a write is not lost by its answer', async () => {
  const answer = Promise.withResolvers<WriteOutcome<ObservedRequest>>();
  const writes: EvictionRequestAct[] = [];
  const setStatus = fromPromise<WriteOutcome<ObservedRequest>, EvictionRequestAct>(({ input }) => {
    writes.push(input);
    return answer.promise;
  });
  const actor = createActor(evictionRequest.provide({ actors: { setStatus } }), {
    input: {
      request: at(resourceVersion('10'), [DRAIN]),
      pod: targetPod(),
      progress: NOTHING_SENT,
      timing: TIMING,
      ttlMs: null,
      nowMs: CREATED_MS,
      seed: 1,
    },
  });
  actor.start();
  actor.send({ type: 'slot.acquired' });
  expect(writes).toHaveLength(1);
  const version = resourceVersion('14');
  const status = actor.getSnapshot().context.step.status;
  // The watch brings what was written, and a requester that came meanwhile, before the answer.
  const both = { ...at(version, [DRAIN, BALANCER]), status };
  actor.send({ type: 'request.observed', request: both, nowMs: CREATED_MS });
  answer.resolve({ _tag: 'Written', current: { ...at(version, [DRAIN]), status } });
  await answer.promise;
  await Promise.resolve();
  expect(actor.getSnapshot().context.facts.request.requesters).toEqual([DRAIN, BALANCER]);
  actor.stop();
});
