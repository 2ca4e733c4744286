/**
 * Sends evictions to the API server as dry runs.
 *
 * Promises: every request is a dry run with the pod's UID; answers that do not predict the real
 * eviction (throttling, a lost answer) are omitted.
 */
import { Effect } from 'effect';
import { type EvictionOutcome, evictionOutcome } from '../domain/drain/answer.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { Uid } from '../domain/ids.ts';
import { evictionBody } from './eviction-body.ts';
import { KubeApi, type KubeCall, type KubeFault } from './kube-api.ts';

/** The answers to dry runs, by pod; or that permission is missing. */
export type DryRuns =
  | { readonly _tag: 'Asked'; readonly answers: ReadonlyMap<Uid, EvictionOutcome> }
  | { readonly _tag: 'Forbidden'; readonly why: string };

const AT_ONCE = 8;
/** Longer than an admission webhook may take. */
const TIMEOUT_MS = 35_000;

/** Answers that are conclusive: the real eviction would get them as well. */
const CONCLUSIVE: ReadonlySet<EvictionOutcome['_tag']> = new Set([
  'PolicyRefused',
  'TwoBudgets',
  'BudgetBroken',
  'NamespaceTerminating',
  'Refused',
]);

const dryRunOf = (pod: DrainPod): KubeCall => ({
  method: 'POST',
  path: `/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/pods/${
    encodeURIComponent(pod.name)
  }/eviction`,
  query: { dryRun: 'All' },
  body: evictionBody(pod, { graceSeconds: null, isDryRun: true }),
  timeoutMs: TIMEOUT_MS,
});

/** Sends a dry-run eviction for each pod. */
export const dryRunEvictions = (
  pods: readonly DrainPod[],
): Effect.Effect<DryRuns, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const api = yield* KubeApi;
    const answered = yield* Effect.all(
      pods.map((pod) =>
        api.call(dryRunOf(pod)).pipe(
          Effect.map((answer) => [pod.uid, evictionOutcome(answer)] as const),
        )
      ),
      { concurrency: AT_ONCE },
    );
    for (const [, outcome] of answered) {
      if (outcome._tag === 'Forbidden' || outcome._tag === 'Unauthenticated') {
        return { _tag: 'Forbidden', why: outcome.why } as const;
      }
    }
    const answers = new Map(answered.filter(([, outcome]) => CONCLUSIVE.has(outcome._tag)));
    return { _tag: 'Asked', answers } as const;
  });
