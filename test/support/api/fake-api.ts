/** An API server that answers each call as the test defines, without watches. */
import { Effect, Layer } from 'effect';
import type { Identity } from '../../../src/domain/facts.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import { type KubeAnswer, KubeApi, type KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { Writes } from '../../../src/effects/writes.ts';

/** What answers a call. */
export type AnswerCall = (call: KubeCall) => Effect.Effect<KubeAnswer, NotSent>;

/** No watch is served. */
export const unwatched = () => Effect.fail(new NotSent({ why: 'watches are not served here' }));

/** The API server, without a write budget. */
export const answeringApi = (answer: AnswerCall): Layer.Layer<KubeApi | Writes> =>
  Layer.mergeAll(
    Layer.succeed(KubeApi, { call: answer, watch: unwatched }),
    Layer.succeed(Writes, { send: (_writeClass, call) => answer(call) }),
  );

/** The answer of a write with this outcome; `bodyAt` returns objects by resourceVersion. */
export const answerOf = <Current extends Pick<Identity, 'resourceVersion'>>(
  outcome: WriteOutcome<Current>,
  bodyAt: (resourceVersion: string) => unknown,
): Effect.Effect<KubeAnswer, NotSent> => {
  switch (outcome._tag) {
    case 'Written':
      return Effect.succeed({ status: 200, body: bodyAt(outcome.current.resourceVersion) });
    case 'Absent':
      return Effect.succeed({ status: 404, body: {} });
    case 'Refused':
      return Effect.succeed({ status: 422, body: { message: outcome.why } });
    case 'Fault':
      return Effect.fail(new NotSent({ why: outcome.why }));
  }
};
