/** A shard that accepts every roll-up and provides nothing, for tests of demand over time. */
import { fromBinary } from '@bufbuild/protobuf';
import { onTestFinished } from 'vitest';
import { realTime } from '../../../src/effects/real-time.ts';
import type { ClusterCapacityNeeds } from '../../../src/gen/bigfleet/v1alpha1/capacity_pb.ts';
import { OperatorMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { startShard } from '../fleet/shard-process.ts';

const LOOK_MS = 10;

/** The shard. */
export interface ListeningShard {
  /** For `--shard-addr`. */
  readonly address: string;
  /** Every roll-up so far, oldest first. */
  readonly rollups: () => readonly ClusterCapacityNeeds[];
}

/** Starts a shard that acks everything. Must be called inside a test, with which it ends. */
export const listeningShard = async (): Promise<ListeningShard> => {
  const shard = await startShard();
  const rollups: ClusterCapacityNeeds[] = [];
  let answered = 0;
  let stopped = false;
  const answer = (): void => {
    if (stopped) return;
    for (const event of shard.events.slice(answered)) {
      answered += 1;
      if (event.event !== 'received') continue;
      const { stream } = event;
      const bytes = new Uint8Array(Buffer.from(event.bytes, 'base64'));
      const { payload } = fromBinary(OperatorMessageSchema, bytes);
      if (payload.case === 'rollup') rollups.push(payload.value);
      if (payload.case === 'hello' || payload.case === 'rollup') {
        shard.send(stream, { case: 'ack', value: { echo: payload.case } });
      }
    }
    realTime.schedule(LOOK_MS, answer);
  };
  answer();
  onTestFinished(async () => {
    stopped = true;
    await shard.kill('SIGKILL');
  });
  return { address: `localhost:${shard.port}`, rollups: () => rollups };
};

/** The sum of a resource over all needs, in whole units. */
export const totalOf = ({ needs }: ClusterCapacityNeeds, resource: string): number =>
  needs.reduce((sum, { aggregateResources }) => sum + Number(aggregateResources[resource] ?? 0), 0);
