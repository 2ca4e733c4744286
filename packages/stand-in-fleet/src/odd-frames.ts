/** Malformed and unexpected frames for robustness tests. */
import { fromBinary } from '@bufbuild/protobuf';
import { MachineState } from './gen/bigfleet/v1alpha1/provider_pb.ts';
import { NodeStateUpdateSchema } from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { type ShardFrame, shardFrameBytes } from './shard-frames.ts';

/** The kinds of odd frames. */
export const ODD_FRAMES = [
  'unknown-state',
  'unspecified-state',
  'empty-machine-id',
  'no-dns-label',
  'enormous-labels',
  'empty-frame',
  'no-message',
  'truncated',
  'unknown-ack',
] as const;
export type OddFrame = (typeof ODD_FRAMES)[number];

/** Unknown to the contract: field 4, value 99. */
const UNKNOWN_STATE = fromBinary(NodeStateUpdateSchema, new Uint8Array([0x20, 99])).state;
const LABELS = 10;
const LABEL_BYTES = 1024 * 1024;
/** A tag of wire type 7, which does not exist. */
const NO_MESSAGE = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0x0f, 0x07, 0x07]);

const machine = (
  machineId: string,
  state: MachineState,
  labels: Readonly<Record<string, string>> = {},
): ShardFrame => ({
  case: 'nodeStateUpdate',
  value: {
    supersedesKey: `node:${machineId}`,
    machineId,
    state,
    providerId: `host-${machineId}`,
    labels: { ...labels },
  },
});

const enormousLabels = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: LABELS }, (_, index) => [`label-${index}`, 'x'.repeat(LABEL_BYTES)]),
  );

/** The bytes of an odd frame. */
export const oddFrame = (kind: OddFrame): Uint8Array => {
  switch (kind) {
    case 'unknown-state':
      return shardFrameBytes(machine('odd-unknown-state', UNKNOWN_STATE));
    case 'unspecified-state':
      return shardFrameBytes(machine('odd-unspecified-state', MachineState.UNSPECIFIED));
    case 'empty-machine-id':
      return shardFrameBytes(machine('', MachineState.CONFIGURED));
    case 'no-dns-label':
      return shardFrameBytes(machine('Odd_Machine/№ 1', MachineState.CONFIGURED));
    case 'enormous-labels':
      return shardFrameBytes(machine('odd-labels', MachineState.CONFIGURED, enormousLabels()));
    case 'empty-frame':
      return new Uint8Array();
    case 'no-message':
      return NO_MESSAGE;
    case 'truncated':
      return shardFrameBytes(machine('odd-truncated', MachineState.CONFIGURED)).slice(0, -3);
    case 'unknown-ack':
      return shardFrameBytes({ case: 'ack', value: { echo: 'reclaim_ack' } });
  }
};
