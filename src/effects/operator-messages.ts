/** Encodes the operator's messages to the shard; roll-ups are in `rollup-frame.ts`. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { ClusterId } from '../domain/ids.ts';
import type { BootstrapAnswer, Reply } from '../domain/session.ts';
import { OperatorMessageSchema } from '../gen/bigfleet/v1alpha1/shard_pb.ts';

const PROTOCOL_VERSION = 'v1alpha1';
/** The lifetime of user data; constant. */
const BLOB_TTL_SECONDS = 600n;

type Payload = NonNullable<MessageInitShape<typeof OperatorMessageSchema>['payload']>;

const bytesOf = (payload: Payload): Uint8Array =>
  toBinary(OperatorMessageSchema, create(OperatorMessageSchema, { payload }));

/** The first frame of every stream (WIRE-01). */
export const helloBytes = (clusterId: ClusterId): Uint8Array =>
  bytesOf({ case: 'hello', value: { clusterId, protocolVersion: PROTOCOL_VERSION } });

const bootstrapBytes = (requestId: string, answer: BootstrapAnswer): Uint8Array =>
  bytesOf({
    case: 'bootstrapResponse',
    value: answer._tag === 'Rendered'
      ? {
        requestId,
        userData: new TextEncoder().encode(answer.userData),
        ttlSeconds: BLOB_TTL_SECONDS,
      }
      // An empty error would read as success.
      : { requestId, error: answer.problem || 'Cannot render', ttlSeconds: BLOB_TTL_SECONDS },
  });

/** The bytes of a reply. */
export const replyBytes = (reply: Reply): Uint8Array => {
  switch (reply._tag) {
    case 'BootstrapAnswered':
      return bootstrapBytes(reply.requestId, reply.answer);
    case 'ReclaimAcknowledged':
      return bytesOf({
        case: 'reclaimAck',
        value: { instructionId: reply.instructionId, nodesStarted: reply.nodesStarted },
      });
  }
};
