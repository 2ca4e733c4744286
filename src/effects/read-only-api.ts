/**
 * A connection that only reads.
 *
 * Promises: whatever is asked of it, no request but GET leaves, and no watch is opened.
 */
import { Effect } from 'effect';
import { KubeApi, NotSent } from './kube-api.ts';

const refused = (what: string) =>
  Effect.fail(new NotSent({ why: `${what} is not sent, because this command only reads` }));

const onlyReading = ({ call }: KubeApi['Service']): KubeApi['Service'] => ({
  call: (request) => request.method === 'GET' ? call(request) : refused(`a ${request.method}`),
  watch: () => refused('a watch'),
});

/** The same question, over a connection that only reads. */
export const readOnly = <Value, Problem, Services>(
  question: Effect.Effect<Value, Problem, Services>,
): Effect.Effect<Value, Problem, Exclude<Services, KubeApi> | KubeApi> =>
  KubeApi.use((api) => Effect.provideService(question, KubeApi, onlyReading(api)));
