/** CapacityRequests: read, counted in the demand, sent as a roll-up, and forgotten. */
import { fromBinary } from '@bufbuild/protobuf';
import { makeDemand } from '../../../src/domain/demand/demand.ts';
import { problemsText } from '../../../src/domain/demand/reading.ts';
import {
  type CapacityRequestProjection,
  capacityRequestProjector,
} from '../../../src/domain/demand/request.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { rollupFrames } from '../../../src/effects/rollup-frame.ts';
import { OperatorMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { expectThat, type FuzzTarget, masked } from '../fuzz-target.ts';
import { mutateJson, smallerJson } from '../json-mutation.ts';

const EVENT_NOTE_MAX = 1024;
const METADATA = { name: 'a', namespace: 'ns', uid: 'uid-1', resourceVersion: '1' };

const SEEDS: readonly object[] = [
  {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: METADATA,
    spec: {
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['standard-8'] },
        { key: 'gpu', operator: 'DoesNotExist' },
      ],
      resources: { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': 1 },
      priority: 1000,
      topologySpread: [
        { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
        { topologyKey: 'host', maxSkew: 0, whenUnsatisfiable: 'ScheduleAnyway' },
      ],
      coLocation: {
        topologyKey: 'rack',
        labelSelector: {
          matchLabels: { app: 'a' },
          matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['x'] }],
        },
      },
      interruptionPenalty: '16',
      reclamationPenalty: '500m',
    },
    status: { phase: 'Pending' },
  },
  { metadata: METADATA, spec: { resources: { cpu: 1 } } },
];

/** CapacityRequests, as JSON. */
export const CAPACITY_REQUESTS: FuzzTarget = {
  name: 'capacity-requests',
  seeds: SEEDS.map((seed) => JSON.stringify(seed)),
  words: [
    ...['In', 'NotIn', 'Exists', 'DoesNotExist', 'Same', 'DoNotSchedule', 'ScheduleAnyway'],
    ...['resources', 'requirements', 'values', 'coLocation', 'matchLabels', 'priority', 'cpu'],
    ...['1Gi', '500m', '1e3', '0.1', '1E', '100000000000000000n', 'Pending', 'Acknowledged'],
  ],
  mutate: mutateJson,
  smaller: smallerJson,
  open: () => {
    const project = capacityRequestProjector();
    const frames = rollupFrames(clusterId('prod-1'));
    const demand = makeDemand();
    /** The last good reading stays while its object does, so that every other input has one. */
    let last: CapacityRequestProjection | undefined;
    return ({ value }) => {
      const request = project(value);
      if (request === undefined) return 'no identity';
      const observed = demand.observe(request);
      const rollup = { number: 1, builtAtMs: 1, needs: demand.needs(), unacknowledged: [] };
      const frame = frames(rollup);
      expectThat(frame._tag === 'Encoded', 'one request is too large for a roll-up');
      if (frame._tag === 'Encoded') fromBinary(OperatorMessageSchema, frame.bytes);
      if (observed._tag === 'LeftOut') {
        const words = problemsText(observed.problems);
        expectThat(words.length <= EVENT_NOTE_MAX, 'the problems are too long for an Event');
      }
      demand.unacknowledged();
      if (last !== undefined) demand.forget(last.key);
      last = request;
      const outcome = request.reading._tag === 'Readable'
        ? `${request.reading.terms.profile.requirements.length} ` +
          `${request.reading.terms.profile.spread.length} ${request.reading.amounts.list.length}`
        : masked(problemsText(request.reading.problems));
      demand.forget(request.key);
      expectThat(demand.size === 0 && demand.needs().length === 0, 'a forgotten request counts');
      return `${observed._tag} ${outcome}`;
    };
  },
};
