/**
 * Frames of the shard: decoded, handled by the session, and turned into the objects that show them.
 */
import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { frameHandler } from '../../../src/actors/fleet-session/session-frames.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import {
  capacityPatch,
  capacityReport,
  newAvailableCapacity,
  projectAvailableCapacity,
} from '../../../src/domain/available-capacity.ts';
import { bootstrapRenderer } from '../../../src/domain/bootstrap.ts';
import type {
  CapacityObservation,
  MachineObservation,
  ShardEvent,
} from '../../../src/domain/frames.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { parseJson, recordAt } from '../../../src/domain/json.ts';
import { wellFormed } from '../../../src/domain/machine-spec.ts';
import { availableCapacityName, isSubdomain, upcomingNodeName } from '../../../src/domain/names.ts';
import {
  newUpcomingNode,
  projectUpcomingNode,
  reportOf,
  specPatch,
} from '../../../src/domain/upcoming-node.ts';
import { readShardFrame } from '../../../src/effects/frames.ts';
import { replyBytes } from '../../../src/effects/operator-messages.ts';
import { ShardMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { expectThat, type FuzzTarget, masked, smallerText } from '../fuzz-target.ts';
import { mutateWire } from '../wire-mutation.ts';

const CLUSTER = 'prod-1';
const PROBLEM_MAX = 2000;
const EVENT_NOTE_MAX = 1024;

const requirements = [
  { key: 'topology.kubernetes.io/zone', operator: 'IN', values: ['a', 'b'] },
  { key: 'gpu', operator: 'DOES_NOT_EXIST' },
];
const MESSAGES: readonly JsonValue[] = [
  { ack: { echo: 'hello', shardEpoch: '7' } },
  { ack: { echo: 'rollup' } },
  { bootstrapRequest: { requestId: 'pull-1', clusterId: CLUSTER, requirements } },
  {
    reclaimInstruction: {
      instructionId: 'reclaim-1',
      nodes: ['machine-1', 'machine-2'],
      gracePeriodSeconds: '600',
      preemptorPriority: 1000,
    },
  },
  {
    nodeStateUpdate: {
      supersedesKey: 'node:machine-1',
      machineId: 'machine-1',
      state: 'CONFIGURED',
      nodeName: 'node-1',
      providerId: 'host-1',
      lastError: 'out of capacity',
      labels: { zone: 'a', 'node.kubernetes.io/instance-type': 'standard-8' },
      resources: { resources: { cpu: '8', memory: '32Gi' } },
      taints: [{ key: 'gpu', value: 'true', effect: 'NoSchedule' }],
    },
  },
  {
    availableCapacity: {
      supersedesKey: 'capacity-1',
      requirements,
      resources: { resources: { cpu: '8' } },
      availableCount: 3,
      confidence: 'HIGH',
      costPerHour: 0.39,
    },
  },
];

const encoded = (message: JsonValue): string =>
  Buffer.from(
    toBinary(
      ShardMessageSchema,
      fromJson(ShardMessageSchema, message, { ignoreUnknownFields: true }),
    ),
  ).toString('latin1');

const TEMPLATE = 'cluster: {{.ClusterID}}\n{{range .Requirements}}{{.Key}}: {{.Values}}\n{{end}}';

const asCreated = (object: object, name: string): object => ({
  ...object,
  metadata: { ...recordAt(object, 'metadata'), name, uid: 'uid-1', resourceVersion: '1' },
});

/** The object of a machine says exactly what was reported: otherwise it is written for ever. */
const checkMachine = (observed: MachineObservation): string => {
  const { machine, leftOut } = wellFormed(observed);
  expectThat(leftOut.length <= EVENT_NOTE_MAX, 'what was left out is too long for an Event');
  const reported = reportOf(undefined, machine, 0);
  const name = upcomingNodeName(machine.machineId);
  expectThat(isSubdomain(name), `"${name}" is no name of an object`);
  const written = newUpcomingNode(machine.machineId, name, reported.spec);
  const current = projectUpcomingNode(asCreated(parsedAgain(written), name));
  expectThat(current !== undefined, 'the UpcomingNode cannot be read');
  const facts = { reported, current: current ?? null, node: null, drain: null };
  const patch = specPatch(machine.machineId, facts);
  expectThat(patch === undefined, `the UpcomingNode is patched again: ${JSON.stringify(patch)}`);
  return `${machine.state} ${leftOut === '' ? 'whole' : masked(leftOut)}`;
};

const parsedAgain = (object: object): object => recordAt(parseJson(JSON.stringify(object))) ?? {};

const checkCapacity = (capacity: CapacityObservation): string => {
  const reported = capacityReport(capacity);
  const name = availableCapacityName(capacity.supersedesKey);
  const written = newAvailableCapacity(name, reported.spec);
  const current = projectAvailableCapacity(asCreated(parsedAgain(written), name)) ?? null;
  expectThat(current !== null, 'the AvailableCapacity cannot be read');
  const patch = capacityPatch({ reported, current });
  expectThat(patch === undefined, `the capacity is patched again: ${JSON.stringify(patch)}`);
  return `${capacity.confidence} ${reported.exhausted}`;
};

const published = (event: ShardEvent): string => {
  if (event._tag === 'MachineObserved') return checkMachine(event.machine);
  if (event._tag === 'CapacityObserved') return checkCapacity(event.capacity);
  if (event._tag === 'ReclaimInstructed') {
    const { machines, leftOut = [] } = event.instruction;
    return `${Math.min(machines.length, 3)} ${leftOut.map(({ limit }) => limit).join(' ')}`;
  }
  return '';
};

/** Frames of the shard; the characters are bytes. */
export const FRAMES: FuzzTarget = {
  name: 'frames',
  seeds: MESSAGES.map(encoded),
  words: [
    'hello',
    'rollup',
    CLUSTER,
    'machine-1',
    'cpu',
    '8',
    '1Gi',
    'NoSchedule',
    'x'.repeat(256),
  ],
  mutate: mutateWire,
  smaller: smallerText,
  open: () => {
    const template = bootstrapRenderer(TEMPLATE);
    let words: string[] = [];
    const handle = frameHandler({
      clusterId: clusterId(CLUSTER),
      telemetry: silentTelemetry,
      render: (pull) =>
        template._tag === 'Ready'
          ? template.render(pull)
          : { _tag: 'Failed', problem: template.problem },
      reply: (reply) => {
        words.push(reply._tag === 'BootstrapAnswered' ? reply.answer._tag : reply._tag);
        return replyBytes(reply).length > 0;
      },
      shardEvents: { next: (event) => words.push(event._tag, published(event)) },
      record: (_reason, note) => {
        expectThat(note.length <= EVENT_NOTE_MAX, 'the note of an Event is too long');
      },
      onHelloAck: () => words.push('hello'),
      onRollupAck: () => words.push('rollup'),
      onReplayGap: () => words.push('gap'),
      onReceived: () => {},
    });
    return ({ text }) => {
      words = [];
      const frame = readShardFrame(Buffer.from(text, 'latin1'));
      if ('problem' in frame) {
        expectThat(frame.problem.length <= PROBLEM_MAX, 'a problem is as long as its frame');
        words.push(masked(frame.problem));
      }
      handle(frame);
      return `${frame._tag} ${words.join(' ')}`;
    };
  },
};
