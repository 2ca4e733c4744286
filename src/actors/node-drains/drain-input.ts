/**
 * What the actor of a drain starts with.
 *
 * Promises: after a crash it has the obligations of its annotation, and the earlier deadline.
 */
import { annotationOf, type CordonAnnotation } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { objectKey } from '../../domain/ids.ts';
import type { Seed } from '../../domain/random.ts';
import type { Time } from '../../domain/time.ts';
import type { NodeDrainInput } from '../../machines/node-drain-context.ts';
import {
  cordonOrderOf,
  deadlineOfAnnotation,
  type DrainEntry,
  drainTime,
  isEarlier,
} from './drain-index.ts';
import type { NodeDrainActorOptions } from './node-drain-actor.ts';

/** The annotation of a crashed drain; `undefined` when it is over. */
const currentAnnotationOf = (
  entry: DrainEntry,
  node: DrainedNode,
): CordonAnnotation | undefined => {
  const annotation = annotationOf(node, entry.owner);
  return annotation !== undefined && (annotation.ended === null || entry.isWithdrawn)
    ? annotation
    : undefined;
};

/**
 * A drain begins with its instructions; after a crash with the annotation and the instructions that
 * it lacks. `undefined` when nothing is left of it.
 */
export const drainInput = (
  time: Time,
  { nodes, paused, tierWaitMs }: Pick<NodeDrainActorOptions, 'nodes' | 'paused' | 'tierWaitMs'>,
  { entry, seed }: { readonly entry: DrainEntry; readonly seed: Seed },
): NodeDrainInput | undefined => {
  const node = entry.hasCrashed ? nodes.get(objectKey(entry.node.name)) : entry.node;
  if (node?.uid !== entry.node.uid) return undefined;
  const currentAnnotation = entry.hasCrashed ? currentAnnotationOf(entry, node) : undefined;
  const orders = [...entry.orders.values()].filter(({ id }) =>
    currentAnnotation?.ids.includes(id) !== true
  );
  if (entry.hasCrashed && currentAnnotation === undefined && orders.length === 0) return undefined;
  const deadline = currentAnnotation === undefined
    ? undefined
    : deadlineOfAnnotation(time, entry.owner, currentAnnotation);
  if (deadline !== undefined && isEarlier(deadline, entry.deadline)) entry.deadline = deadline;
  for (const { id } of orders) entry.awaited.add(id);
  return {
    node,
    owner: entry.owner,
    withdrawn: entry.isWithdrawn,
    orders: orders.map(cordonOrderOf),
    ...drainTime(time, entry.deadline, tierWaitMs),
    pausedAll: paused,
    seed,
  };
};
