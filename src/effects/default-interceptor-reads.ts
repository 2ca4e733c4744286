/**
 * Reads which pods the operator adds interceptors to (ER-55), once.
 *
 * Promises: reads the other pods of a Deployment only where a pod of it may get some; a refused
 * read counts as no other pods.
 */
import { Effect } from 'effect';
import type { Budget } from '../domain/drain/budget.ts';
import { type DrainPod, podProjection } from '../domain/drain/pod.ts';
import {
  type AvailabilityIndex,
  availabilityIndex,
  TEMPLATE_HASH,
} from '../domain/eviction-requests/default-interceptors.ts';
import type { Uid } from '../domain/ids.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { readList } from './object-lists.ts';
import type { Selection } from './watches.ts';

const AT_ONCE = 8;

/** The pods of the ReplicaSet of a pod. */
const siblingsOf = ({ namespace, labels }: DrainPod): Selection => ({
  path: `/api/v1/namespaces/${namespace}/pods`,
  query: { labelSelector: `${TEMPLATE_HASH}=${labels[TEMPLATE_HASH] ?? ''}` },
});

const losing = (index: AvailabilityIndex, pods: readonly DrainPod[]): readonly DrainPod[] =>
  pods.filter(index.wouldLose);

/** The pods whose Deployment would lose availability with them. */
export const readLosing = (
  pods: readonly DrainPod[],
  budgets: readonly Budget[],
): Effect.Effect<ReadonlySet<Uid>, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const index = availabilityIndex();
    pods.forEach(index.putPod);
    budgets.forEach(index.putBudget);
    const project = podProjection();
    const lists = yield* Effect.all(
      losing(index, pods).map((pod) => readList(siblingsOf(pod), project)),
      { concurrency: AT_ONCE },
    );
    for (const list of lists) if (list._tag === 'Listed') list.objects.forEach(index.putPod);
    return new Set(losing(index, pods).map(({ uid }) => uid));
  });
