/**
 * The path of all writes to the cluster: one budget of writes per second, in classes, behind one
 * gate that is open only while this process holds the lease.
 *
 * Promises: a write waits for the budget first and passes the gate last, right before it is sent; a
 * higher class goes first, above a floor of each lower one; lease calls bypass it.
 */
import { Context, Data, type Effect } from 'effect';
import type { KubeAnswer, KubeCall, KubeFault } from './kube-api.ts';

/** Classes of writes, most urgent first. */
export const WRITE_CLASSES = ['phase', 'eviction', 'demand', 'request', 'event'] as const;
export type WriteClass = (typeof WRITE_CLASSES)[number];

/** This process does not hold the lease (any more): the write was not sent. */
export class NotLeader extends Data.TaggedError('NotLeader')<{ readonly why: string }> {}

export type WriteFault = KubeFault | NotLeader;

/** The only way to write to the cluster; live in `write-budget.ts`. */
export class Writes extends Context.Service<Writes, {
  readonly send: (
    writeClass: WriteClass,
    call: KubeCall,
  ) => Effect.Effect<KubeAnswer, WriteFault>;
}>()('tidegate/Writes') {}
