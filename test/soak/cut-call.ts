/**
 * A budget slot charged by an interrupted eviction, as the API server leaves it when the caller
 * dies between the charge and the deletion.
 *
 * Promises: the budget's status is the one after such a call, backdated so that the test need not
 * wait two minutes.
 */
import { listOrEmptyAt } from '../../src/domain/json.ts';
import { rfc3339Seconds } from '../../src/domain/time.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { seenPod } from '../support/drains/pod-history.ts';
import { heldUp, listedDrains } from '../support/drains/listed-drains.ts';
import { DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import type { StartTidegate } from '../support/processes/tidegate-child.ts';
import { SINGLE, type SoakSite } from './soak-site.ts';

/** The reason by which such a slot is named. */
export const SLOT_HELD = 'SlotHeldByInterruptedEviction';

/**
 * Kubernetes frees the slot after two minutes: 45 s from now. On a busy machine a new leader needs
 * half of that to start, and an Event names a blocked pod after 10 s.
 */
const MADE_BEFORE_MS = 75_000;

/** Leaves the single slot charged for a pod on these machines; false when none is left. */
export const chargeSlot = async (
  { cluster }: SoakSite,
  machines: readonly string[],
): Promise<boolean> => {
  const pod = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod)
    .find(({ app, node, terminating }) =>
      app === SINGLE.app && machines.includes(node) && !terminating
    );
  if (pod === undefined) return false;
  const at = rfc3339Seconds(realTime.now() - MADE_BEFORE_MS);
  await cluster.patch(`${DRAIN_COLLECTIONS.budgets}/${SINGLE.app}/status`, {
    status: { disruptionsAllowed: 0, disruptedPods: { [pod.name]: at } },
  });
  return true;
};

/** Whether `tidegate drain status` reports such a slot. */
export const namesHeldSlot = async (start: StartTidegate, { bed }: SoakSite): Promise<boolean> =>
  listOrEmptyAt(await listedDrains(start, bed, 'status'), 'items').flatMap(heldUp)
    .some((held) => held.startsWith(SLOT_HELD));
