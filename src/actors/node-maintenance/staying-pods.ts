/**
 * The pods of a Node that nothing waits for: what came back past a cordon, and what a person lets
 * stay for its data.
 *
 * Promises: a drain that goes on knows them; of one that has ended, its Node and pods show them.
 */
import { annotationOf, isMaintenanceOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { returnedPods } from '../../domain/node-maintenance/returned-pods.ts';
import type { DrainEngine } from '../node-drains/drain-engine.ts';

interface KnownDrains {
  readonly drains: Pick<DrainEngine['drains'], 'staying'>;
  readonly localData?: DrainEngine['localData'];
}

/** Their keys. */
export const stayingPods = (
  { drains, localData }: KnownDrains,
  node: DrainedNode,
  pods: readonly DrainPod[],
): ReadonlySet<string> =>
  new Set(
    Object.keys(node.cordons).filter(isMaintenanceOwner).flatMap((owner) => {
      const known = drains.staying(node.name, owner);
      if (known !== undefined) return known;
      const acknowledged = localData?.of(node.name, owner)?.acknowledged();
      const kept = pods.filter(({ uid }) => acknowledged?.has(uid) === true);
      return [...returnedPods(pods, annotationOf(node, owner)), ...kept].map(({ key }) => key);
    }),
  );
