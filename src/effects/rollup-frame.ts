/**
 * Encodes the cluster's demand as one roll-up, an `OperatorMessage` with a `ClusterCapacityNeeds`.
 *
 * Promises: an unchanged need is not encoded again, so a roll-up costs its changes plus one copy of
 * its bytes; a frame over the limit is not built, and the result has its size and its largest
 * needs.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Need } from '../domain/demand/need.ts';
import type { ClusterId } from '../domain/ids.ts';
import type { RequirementOperator } from '../domain/resources.ts';
import type { Rollup } from '../domain/session.ts';
import { cutText } from '../domain/text.ts';
import {
  CapacityNeedSchema,
  ClusterCapacityNeedsSchema,
  NodeSelectorRequirement_Operator as Operator,
  PenaltyBucket,
  TopologySpread_WhenUnsatisfiable,
} from '../gen/bigfleet/v1alpha1/capacity_pb.ts';
import { OperatorMessageSchema } from '../gen/bigfleet/v1alpha1/shard_pb.ts';

/** Both directions of the session carry frames up to 256 MiB. */
export const FRAME_BYTES_MAX = 256 * 1024 * 1024;

/** The number of needs named in a report about an oversized frame. */
const LARGEST_NAMED = 3;
const NEED_TEXT_MAX = 160;
const NANOS_PER_MS = 1_000_000n;

const OPERATORS = {
  In: Operator.IN,
  NotIn: Operator.NOT_IN,
  Exists: Operator.EXISTS,
  DoesNotExist: Operator.DOES_NOT_EXIST,
  Same: Operator.SAME,
} as const satisfies Record<RequirementOperator, number>;

/** By number; invalid buckets were refused when the request was read (WIRE-02). */
const BUCKETS: readonly PenaltyBucket[] = Object.values(PenaltyBucket);

const WHEN = {
  DoNotSchedule: TopologySpread_WhenUnsatisfiable.DO_NOT_SCHEDULE,
  ScheduleAnyway: TopologySpread_WhenUnsatisfiable.SCHEDULE_ANYWAY,
} as const;

/** One of the largest needs of an oversized roll-up. */
export interface LargeNeed {
  readonly need: string;
  readonly bytes: number;
  readonly requests: number;
}

/** The bytes of a roll-up, or why there are none. */
export type RollupFrame =
  | { readonly _tag: 'Encoded'; readonly bytes: Uint8Array }
  | {
    readonly _tag: 'TooLarge';
    readonly bytes: number;
    readonly limit: number;
    readonly largest: readonly LargeNeed[];
  };

/** `field` of a message, when it is length-delimited. */
const tagOf = (field: number): number => (field << 3) | WireType.LengthDelimited;

const FIELD = {
  message: OperatorMessageSchema.field.rollup.number,
  needs: ClusterCapacityNeedsSchema.field.needs.number,
} as const;

const varintSize = (value: number): number => {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1;
  return size;
};

const bucketOf = (bucket: number): PenaltyBucket =>
  BUCKETS[bucket] ?? PenaltyBucket.PENALTY_BUCKET_UNSPECIFIED;

const encodeNeed = (need: Need): Uint8Array =>
  toBinary(
    CapacityNeedSchema,
    create(CapacityNeedSchema, {
      requirements: need.requirements.map(({ key, operator, values }) => ({
        key,
        operator: OPERATORS[operator],
        values: [...values],
      })),
      aggregateResources: { ...need.aggregateResources },
      priority: need.priority,
      spread: need.spread.map(({ topologyKey, maxSkew, whenUnsatisfiable }) => ({
        topologyKey,
        maxSkew,
        whenUnsatisfiable: WHEN[whenUnsatisfiable],
      })),
      interruptionPenaltyBucket: bucketOf(need.interruptionBucket),
      reclamationPenaltyBucket: bucketOf(need.reclamationBucket),
      minUnit: { ...need.minUnit },
      group: need.group,
    }),
  );

interface EncodedNeed {
  readonly need: Need;
  readonly bytes: Uint8Array;
}

const largestOf = (needs: readonly EncodedNeed[]): readonly LargeNeed[] =>
  needs.toSorted((left, right) => right.bytes.length - left.bytes.length)
    .slice(0, LARGEST_NAMED)
    .map(({ need, bytes }) => ({
      need: cutText(need.key, NEED_TEXT_MAX),
      bytes: bytes.length,
      requests: need.requests,
    }));

/** Header, then every need with its tag and length, in one buffer. */
const assemble = (header: Uint8Array, needs: readonly EncodedNeed[], bodyBytes: number) => {
  const start = new BinaryWriter().uint32(tagOf(FIELD.message)).uint32(bodyBytes).finish();
  const frame = new Uint8Array(start.length + bodyBytes);
  let at = 0;
  const put = (bytes: Uint8Array): void => {
    frame.set(bytes, at);
    at += bytes.length;
  };
  put(start);
  put(header);
  const needTag = tagOf(FIELD.needs);
  for (const { bytes } of needs) {
    frame[at++] = needTag;
    let rest = bytes.length;
    for (; rest >= 128; rest = Math.floor(rest / 128)) frame[at++] = rest % 128 + 128;
    frame[at++] = rest;
    put(bytes);
  }
  return frame;
};

/** Encodes roll-up frames of one cluster and caches encoded needs. */
export const rollupFrames = (
  cluster: ClusterId,
  limit = FRAME_BYTES_MAX,
): (rollup: Rollup) => RollupFrame => {
  const encoded = new WeakMap<Need, Uint8Array>();
  const bytesOf = (need: Need): Uint8Array => {
    const known = encoded.get(need);
    if (known !== undefined) return known;
    const bytes = encodeNeed(need);
    encoded.set(need, bytes);
    return bytes;
  };
  return ({ builtAtMs, needs }) => {
    const header = toBinary(
      ClusterCapacityNeedsSchema,
      create(ClusterCapacityNeedsSchema, {
        clusterId: cluster,
        timestampUnixNanos: BigInt(Math.trunc(builtAtMs)) * NANOS_PER_MS,
      }),
    );
    const parts = needs.map((need): EncodedNeed => ({ need, bytes: bytesOf(need) }));
    let bodyBytes = header.length;
    for (const { bytes } of parts) bodyBytes += 1 + varintSize(bytes.length) + bytes.length;
    const frameBytes = 1 + varintSize(bodyBytes) + bodyBytes;
    return frameBytes > limit
      ? { _tag: 'TooLarge', bytes: frameBytes, limit, largest: largestOf(parts) }
      : { _tag: 'Encoded', bytes: assemble(header, parts, bodyBytes) };
  };
};
