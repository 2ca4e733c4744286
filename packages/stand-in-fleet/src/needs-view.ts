/** The accepted demand, as `ShardRead.InspectNeeds` and scripts see it. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type InspectNeedsRequest,
  InspectNeedsRequestSchema,
  type InspectNeedsResponse,
  InspectNeedsResponseSchema,
} from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { unixNanos } from './fleet-time.ts';
import type { Shard } from './shard.ts';

/** The response to a request: the header, then one need per frame. */
export const inspectNeeds = (
  shard: Shard,
  { clusterId, limit }: Pick<InspectNeedsRequest, 'clusterId' | 'limit'>,
): readonly InspectNeedsResponse[] => {
  const needs = [...shard.clusters.values()]
    .filter(({ id }) => clusterId === '' || id === clusterId)
    .flatMap((cluster) => (cluster.needs ?? []).map((need) => ({ cluster, need })));
  const header = create(InspectNeedsResponseSchema, {
    payload: {
      case: 'header',
      value: {
        cycle: BigInt(shard.cycles),
        computedAtUnixNanos: unixNanos(shard.computedAt),
        totalNeeds: needs.length,
      },
    },
  });
  const views = needs.slice(0, limit > 0 ? limit : needs.length).map(({ cluster, need }) =>
    create(InspectNeedsResponseSchema, {
      payload: {
        case: 'need',
        value: {
          need: need.wire,
          clusterId: cluster.id,
          arrivalUnixNanos: unixNanos(need.arrivedAt),
          profileFingerprint: need.fingerprint,
          satisfied: cluster.satisfied.has(need.key),
        },
      },
    })
  );
  return [header, ...views];
};

/** The same for encoded messages; undefined when the request is malformed. */
export const inspectNeedsFrames = (
  shard: Shard,
  request: Uint8Array,
): readonly Uint8Array[] | undefined => {
  try {
    return inspectNeeds(shard, fromBinary(InspectNeedsRequestSchema, request))
      .map((frame) => toBinary(InspectNeedsResponseSchema, frame));
  } catch {
    return undefined;
  }
};
