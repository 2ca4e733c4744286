/** Objects of `lifecycle.k8s.io` as an API server returns them. */
import {
  type ControlledStatus,
  CONTROLLER_MANAGER,
} from '../../../src/domain/eviction-requests/observed-request.ts';
import {
  type JoinedRequest,
  joinRequests,
} from '../../../src/domain/native-evictions/joined-request.ts';
import {
  type NativeEviction,
  type NativeRequest,
  projectNativeEviction,
  projectNativeRequest,
} from '../../../src/domain/native-evictions/objects.ts';
import { asRecord, type JsonRecord, recordAt } from '../../../src/domain/json.ts';
import { rfc3339Seconds } from '../../../src/domain/time.ts';
import { ACTOR_A, CREATED_MS, IMPERATIVE } from './request-fixture.ts';

const POD_UID = '6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6';

/** The status of a request whose first interceptor has just become active. */
export const ACTIVE_STATUS: ControlledStatus = {
  observedGeneration: 2,
  conditions: [],
  targets: [ACTOR_A, IMPERATIVE],
  active: ACTOR_A,
  processed: [],
  starts: { [ACTOR_A]: CREATED_MS },
};

const metadataOf = (name: string) => ({
  name,
  namespace: 'blueberry',
  uid: `uid-of-${name}`,
  resourceVersion: '10',
  generation: 1,
  creationTimestamp: rfc3339Seconds(CREATED_MS),
});

/** An EvictionRequest. */
export const rawNativeRequest = (
  requester: string,
  { intent = 'Eviction', metadata, status }: {
    readonly intent?: string;
    readonly metadata?: JsonRecord;
    readonly status?: unknown;
  } = {},
): JsonRecord => ({
  metadata: { ...metadataOf(`request-of-${requester.replace('/', '-')}`), ...metadata },
  spec: { target: { pod: { name: 'p-1', uid: POD_UID } }, requester, intent },
  ...(status === undefined ? {} : { status }),
});

/** An Eviction. */
export const rawNativeEviction = (
  { metadata, status, manager = CONTROLLER_MANAGER }: {
    readonly metadata?: JsonRecord;
    readonly status?: unknown;
    readonly manager?: string;
  } = {},
): JsonRecord => ({
  metadata: {
    ...metadataOf('pod-1-p-1'),
    managedFields: [{ manager, fieldsV1: { 'f:status': { 'f:targetResponders': {} } } }],
    ...metadata,
  },
  spec: { target: { pod: { name: 'p-1', uid: POD_UID } } },
  ...(status === undefined ? {} : { status }),
});

/** An object with the status of an applied body. */
export const withStatusOf = (raw: JsonRecord, body: object): JsonRecord => ({
  ...raw,
  status: { ...recordAt(raw, 'status'), ...recordAt(body, 'status') },
});

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('Not such an object');
  return value;
};

export const nativeRequest = (raw: JsonRecord): NativeRequest => present(projectNativeRequest(raw));
export const nativeEviction = (raw: JsonRecord): NativeEviction =>
  present(projectNativeEviction(raw));

/** The request of the pod from raw objects; undefined when nobody has one. */
export const joinedOf = (
  { evictions = [], requests = [] }: {
    readonly evictions?: readonly JsonRecord[];
    readonly requests?: readonly JsonRecord[];
  },
): JoinedRequest | undefined =>
  joinRequests(evictions.map(nativeEviction), requests.map(nativeRequest))[0];

/** The same, of objects that make up a request. */
export const joined = (objects: Parameters<typeof joinedOf>[0]): JoinedRequest =>
  present(joinedOf(objects));

/** The status in a body. */
export const statusIn = (body: object): JsonRecord => present(asRecord(recordAt(body, 'status')));
