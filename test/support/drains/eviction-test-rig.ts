/** A rig of evictions for one test: see `eviction-rig.ts`. */
import { onTestFinished } from 'vitest';
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
