/** Changes in the capacity that is still available to a cluster, by profile. */
import type { Cluster } from './cluster.ts';
import type { Inventory } from './inventory.ts';
import { type AcceptedNeed, suits } from './needs.ts';
import { type Availability, capacityFrame, type ShardFrame } from './shard-frames.ts';

const availabilityOf = (need: AcceptedNeed, inventory: Inventory): Availability => {
  const kinds = [...inventory.kinds()]
    .filter((kind) => suits(need, kind))
    .map((kind) => ({ kind, count: inventory.free(kind, 'IDLE').size }))
    .sort((left, right) => left.kind.costPerHour - right.kind.costPerHour);
  return {
    need,
    count: kinds.reduce((sum, { count }) => sum + count, 0),
    kind: (kinds.find(({ count }) => count > 0) ?? kinds[0])?.kind,
  };
};

/**
 * Updates for the profiles whose availability differs from the last report; a profile that is no
 * longer requested is reported once more, with none.
 */
export const capacityChanges = (cluster: Cluster, inventory: Inventory): readonly ShardFrame[] => {
  const profiles = new Map((cluster.needs ?? []).map((need) => [need.fingerprint, need]));
  const frames: ShardFrame[] = [];
  for (const [fingerprint, need] of profiles) {
    const availability = availabilityOf(need, inventory);
    const summary = `${availability.count} ${availability.kind?.key}`;
    if (cluster.reportedCapacity.get(fingerprint)?.summary === summary) continue;
    cluster.reportedCapacity.set(fingerprint, { need, summary });
    frames.push(capacityFrame(availability));
  }
  for (const [fingerprint, { need }] of cluster.reportedCapacity) {
    if (profiles.has(fingerprint)) continue;
    cluster.reportedCapacity.delete(fingerprint);
    frames.push(capacityFrame({ need, count: 0, kind: undefined }));
  }
  return frames;
};
