/** An API server whose answers are written down, without watches. */
import { Effect } from 'effect';
import type { KubeAnswer, KubeApi, KubeCall } from '../../../src/effects/kube-api.ts';
import type { Writes } from '../../../src/effects/writes.ts';
import { answeringApi, unwatched } from './fake-api.ts';

/** Answers by method, or by method and path; the last one of each counts for ever. */
export type AnswersInOrder = Readonly<Record<string, readonly [KubeAnswer, ...KubeAnswer[]]>>;

/** As of a resource that is served: the object has a name. */
const ABSENT: KubeAnswer = {
  status: 404,
  body: { message: 'not found', details: { name: 'absent' } },
};

/** What has no answer is absent. */
export const answersInOrder = (script: AnswersInOrder) => {
  const calls: KubeCall[] = [];
  const answers = new Map(Object.entries(script).map(([key, all]) => [key, [...all]]));
  const answerTo = ({ method, path }: KubeCall): KubeAnswer => {
    const queue = answers.get(`${method} ${path}`) ?? answers.get(method);
    return (queue?.length === 1 ? queue[0] : queue?.shift()) ?? ABSENT;
  };
  const call = (request: KubeCall): Effect.Effect<KubeAnswer> =>
    Effect.sync(() => {
      calls.push(request);
      return answerTo(request);
    });
  const writes: Writes['Service'] = { send: (_writeClass, request) => call(request) };
  const api: KubeApi['Service'] = { call, watch: unwatched };
  return { calls, api, writes, layer: answeringApi(call) };
};
