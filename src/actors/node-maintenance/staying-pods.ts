/**
 * The pods of a Node that a drain does not wait for: what came back past its cordon, and what a
 * person lets stay for its data.
 *
 * Promises: a drain that goes on knows them; of one that has ended, its Node and pods show them.
 * What stays for one owner may have to leave for another one (RS-12).
 */
import { annotationOf, type DrainOwner } from '../../domain/drain/cordon.ts';
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
  { node, owner }: { readonly node: DrainedNode; readonly owner: DrainOwner },
  pods: readonly DrainPod[],
): ReadonlySet<string> => {
  const known = drains.staying(node.name, owner);
  if (known !== undefined) return new Set(known);
  const acknowledged = localData?.of(node.name, owner)?.acknowledged();
  const kept = pods.filter(({ uid }) => acknowledged?.has(uid) === true);
  return new Set([...returnedPods(pods, annotationOf(node, owner)), ...kept].map(({ key }) => key));
};
