/** A rig of evictions for one test: see `eviction-rig.ts`. */
import { onTestFinished } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { evictionRig, type RigOptions } from './eviction-rig.ts';

/** Sets one up; it is taken down with the test. */
export const evictionsOfTest = (options: RigOptions = {}) => {
  const made = evictionRig(options);
  onTestFinished(made.stop);
  return made;
};

type Rig = ReturnType<typeof evictionRig>;

/** An app of `size` pods on node `n1` behind a budget. */
export const budgetedApp = async (
  made: Rig,
  { size, unavailable }: { readonly size: number; readonly unavailable: number },
): Promise<void> => {
  for (let at = 0; at < size; at += 1) {
    made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
  }
  made.cluster.settle('a');
  made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: unavailable });
  await made.ready();
};

/** Calls so far, by pod. */
export const podsAsked = (made: Rig): readonly string[] => made.cluster.calls.map(({ pod }) => pod);

/** The states of the actors of a kind after each event from now on. */
export const movesOf = (made: Rig, prefix: string): readonly unknown[] => {
  const seen: unknown[] = [];
  const actors: readonly AnyActorRef[] = made.registry.actors();
  for (const actor of actors.filter(({ id }) => id.startsWith(prefix))) {
    actor.subscribe(({ value }: { readonly value: unknown }) => seen.push(value));
  }
  return seen;
};

const thrower = (): never => {
  throw new Error('planted');
};

/** Events whose facts cannot be read, by the kind of their actor. */
const BROKEN_EVENTS = {
  podEviction: Object.defineProperty({ type: 'pod.observed' }, 'facts', { get: thrower }),
  budget: Object.defineProperty({ type: 'budget.observed' }, 'budget', { get: thrower }),
};

/** Crashes the actors of a kind, or the one with this key. */
export const crash = (made: Rig, kind: keyof typeof BROKEN_EVENTS, key = ''): void => {
  const actors: readonly AnyActorRef[] = made.registry.actors();
  for (const actor of actors.filter(({ id }) => id.startsWith(`${kind}/${key}`))) {
    actor.send(BROKEN_EVENTS[kind]);
  }
};
