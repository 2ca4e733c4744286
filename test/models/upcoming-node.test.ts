/** One machine and its object, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideUpcomingNode } from '../../src/actors/upcoming-nodes/upcoming-node-actor.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import type { MachineObservation, MachineState } from '../../src/domain/frames.ts';
import { machineId, resourceVersion } from '../../src/domain/ids.ts';
import { textAt, valueAt } from '../../src/domain/json.ts';
import { endsObject } from '../../src/domain/machine-phase.ts';
import type { NodeLink } from '../../src/domain/node-link.ts';
import type { WriteOutcome } from '../../src/domain/object-write.ts';
import type { HoldingFact } from '../../src/domain/object-phase.ts';
import {
  machinePhaseOf,
  type MachineReport,
  pendingWrite,
  phaseOf,
  projectUpcomingNode,
  readinessUnrecorded,
  reportOf,
  UNBOUND,
  type UpcomingNodeProjection,
} from '../../src/domain/upcoming-node.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { Cordons } from '../../src/effects/cordons.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import { upcomingNodesLayer } from '../../src/effects/upcoming-nodes.ts';
import type { UpcomingNodeContext } from '../../src/machines/upcoming-node-context.ts';
import { upcomingNode } from '../../src/machines/upcoming-node.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import { upcomingNodeHarness } from './cluster/upcoming-node-harness.ts';
import type { Received } from './harness/crash.ts';
import type { Step, StepEvent } from './harness/interpreter.ts';
import { must } from './harness/step-invariants.ts';
import { triesOf } from './harness/tries.ts';
import { writerInvariant } from './harness/writer-invariants.ts';
import { describeModel, type InvokedActors } from './model.ts';

const frame = (state: MachineState): MachineObservation => ({
  machineId: machineId('m1'),
  state,
  nodeName: '',
  providerId: 'host-1',
  lastError: '',
  labels: {},
  resources: { cpu: '1' },
  taints: [],
});

const reported = (...states: readonly MachineState[]): MachineReport =>
  states.reduce<MachineReport | undefined>(
    (before, state) => reportOf(before, frame(state), 0),
    undefined,
  ) ??
    UNBOUND;

/** What the API server would answer with, by revision. */
const served = new Map<string, object>();

/** The resourceVersion derives from the content, so equal ones mean equal objects. */
const current = (phase: string, cpu = '1', nodeName = ''): UpcomingNodeProjection => {
  const raw = {
    metadata: {
      name: 'un-m1',
      uid: 'u1',
      resourceVersion: `${phase}${cpu}${nodeName}`,
      annotations: { 'bigfleet.lucy.sh/machine-id': 'm1' },
    },
    spec: { resources: { cpu } },
    status: phase === '' ? {} : {
      phase,
      providerID: 'host-1',
      provisioningStartTime: 'T',
      conditions: [{
        type: 'Ready',
        status: phase === 'Ready' ? 'True' : 'False',
        reason: phase,
        message: '',
        lastTransitionTime: '1970-01-01T00:00:00Z',
      }],
      ...(nodeName === '' ? {} : { nodeRef: { name: nodeName, uid: 'nu1' } }),
    },
  };
  const projection = projectUpcomingNode(raw);
  if (projection === undefined) throw new Error('No projection');
  served.set(projection.resourceVersion, raw);
  return projection;
};

const node: NodeLink = {
  name: 'n1',
  uid: 'nu1',
  ready: true,
  held: false,
  ended: null,
  releasable: false,
};
/** With the key of an ended reclaim, and made schedulable by a user. */
const releasable: NodeLink = { ...node, held: true, ended: 'Drained', releasable: true };
/** The same, still cordoned. */
const drained: NodeLink = { ...releasable, releasable: false };
const NODES = [releasable, drained];
const FAILED: HoldingFact = { _tag: 'Failed', lastError: '1 pod remains' };
const failedOnNode = current('Failed', '1', 'n1');
/** After the end of a drain, if any: without the Node's key. */
const CONFIGURED: MachineReport = { ...reported('Configured'), servesAgain: true };

/** What outlives the process: the object, the Node, and what the shard would replay. */
interface World {
  readonly current: UpcomingNodeProjection | null;
  readonly newest: string | null;
  readonly node: NodeLink | null;
  /** `Unbound` machines are not replayed; the end of the replay implies them. */
  readonly shard: 'Silent' | 'Unbound' | 'Configured';
  /** The drain state that the Node reports until its end is recorded. */
  readonly drain: HoldingFact | null;
}

const NOTHING: World = { current: null, newest: null, node: null, shard: 'Silent', drain: null };
const REPORTS = [CONFIGURED, reported('Configuring', 'Draining', 'Idle'), reported('Idle')];

const shardAfter = ({ phase }: MachineReport): World['shard'] =>
  phase === null || endsObject(phase) ? 'Unbound' : 'Configured';

/** The object that is written about: as served, not as the machine remembers it. */
const objectIn = (value: unknown): UpcomingNodeProjection | undefined =>
  projectUpcomingNode(served.get(textAt(value, 'resourceVersion') ?? ''));

/** An older object, and the echo of a known one, says nothing. */
const withObject = (world: World, seen: UpcomingNodeProjection, isEcho: boolean): World =>
  world.newest !== null && (isEcho || isOlder(seen.resourceVersion, resourceVersion(world.newest)))
    ? world
    : { ...world, current: seen, newest: seen.resourceVersion };

const withoutObject = (world: World, last: unknown): World => {
  const version = textAt(last, 'resourceVersion') ?? '';
  if (textAt(last, 'uid') !== world.current?.uid) return world;
  const isOld = world.newest !== null &&
    isOlder(resourceVersion(version), resourceVersion(world.newest));
  return { ...world, current: null, newest: isOld ? world.newest : version };
};

const withAnswer = (world: World, { type, output }: StepEvent): World => {
  if (type.endsWith('.releaseNode')) {
    return valueAt(output, 'current') === node ? { ...world, node } : world;
  }
  if (textAt(output, '_tag') === 'Absent') return { ...world, current: null };
  const written = objectIn(valueAt(output, 'current'));
  return written === undefined ? world : withObject(world, written, false);
};

const recorded = (world: World, { event }: Pick<Received, 'event'>): World => {
  switch (event.type) {
    case 'machine.observed': {
      const report = REPORTS.find((one) => one === event['reported']);
      return report === undefined ? world : { ...world, shard: shardAfter(report) };
    }
    case 'drain.observed':
      return { ...world, drain: event['drain'] === FAILED ? FAILED : null };
    case 'node.observed':
      return { ...world, node: NODES.find((one) => one === event['node']) ?? null };
    case 'object.vanished':
      return withoutObject(world, event['last']);
    case 'object.observed': {
      const seen = objectIn(event['current']);
      return seen === undefined
        ? world
        : withObject(world, seen, seen.resourceVersion === world.newest);
    }
    default:
      return withAnswer(world, event);
  }
};

const inputOf = (object: UpcomingNodeProjection | null, report: MachineReport | null = null) => ({
  machineId: 'm1',
  name: 'un-m1',
  facts: { reported: report, current: object, node: null, drain: null },
  readyRecorded: '',
  seed: 1,
});

type Outcome = WriteOutcome<UpcomingNodeProjection>;

const actIn = ({ method, path }: KubeCall): string => {
  if (method === 'PATCH') return path.endsWith('/status') ? 'patchStatus' : 'patchSpec';
  return method === 'POST' ? 'createObject' : 'deleteObject';
};

const NO_CORDONS = Layer.succeed(Cordons, {
  patch: () => Effect.succeed({ _tag: 'Fault', why: 'Nodes are not patched here' }),
  setCondition: () => Effect.void,
});

/** The statechart with its real effects, down to its requests. */
const wire = (invoked: InvokedActors) => {
  const api = answeringApi((call) =>
    Effect.flatMap(
      Effect.promise(() => invoked.perform<Outcome>(actIn(call), call)),
      (outcome) => answerOf(outcome, (resourceVersion) => served.get(resourceVersion)),
    )
  );
  const layer = upcomingNodesLayer({ telemetry: silentTelemetry, intern: (text) => text }).pipe(
    Layer.provide(api),
  );
  const deaf = () => {};
  return provideUpcomingNode(
    ManagedRuntime.make(Layer.merge(layer, NO_CORDONS)),
    { requestSlot: deaf, recordNodeReady: deaf, recordRefused: deaf, recordFailing: deaf },
    {
      inFlight: (write) => write,
      releaseNode: (name) =>
        Effect.promise(() => invoked.perform<WriteOutcome<NodeLink>>('releaseNode', name)),
    },
  );
};

const checkWriter = writerInvariant({
  pendingIn: ({ context }) => pendingWrite('m1', context.facts),
  actorOf: {
    create: 'createObject',
    status_update: 'patchStatus',
    spec_update: 'patchSpec',
    delete: 'deleteObject',
    node_release: 'releaseNode',
  },
  baseOf: ({ context }) => context.facts.current?.resourceVersion ?? null,
  restsIn: ({ context: { facts } }) => {
    const phase = machinePhaseOf(facts);
    return facts.current === null && (phase === null || endsObject(phase)) ? 'gone' : 'settled';
  },
  retries: 'WithSlot',
  reconsiders: ({ event, before: { context: { facts } } }) => {
    const [name, received] = event.type === 'machine.observed'
      ? ['reported', event['reported']]
      : ['drain', event['drain']];
    return received !== undefined && JSON.stringify(received) !== JSON.stringify(facts[name]);
  },
});

/** The readiness of each Node is told once, when its object is settled. */
const readiness = ({ before, after, actions, event }: Step): void => {
  const { facts, readyRecorded }: UpcomingNodeContext = after.context;
  if (after.matches('settled')) {
    must(!readinessUnrecorded(facts, readyRecorded), 'a ready Node is told of');
  }
  if (event.type === 'xstate.init') return;
  const records = actions.includes('recordNodeReady');
  must(records === (readyRecorded !== before.context.readyRecorded), 'readiness is told once');
};

describeModel('upcomingNode', {
  machine: upcomingNode,
  wire,
  harness: upcomingNodeHarness,
  inputs: [inputOf(null)],
  events: {
    'machine.observed': REPORTS.map((received) => ({ reported: received })),
    'object.observed': [
      { current: current('Ready') },
      { current: current('Ready', '2') },
    ],
    'object.vanished': [{ last: current('Ready') }, {
      last: { uid: 'another', resourceVersion: 'r' },
    }],
    'node.observed': NODES.map((one) => ({ node: one })),
    'drain.observed': [{ drain: FAILED }, { drain: null }],
    'xstate.done.actor.createObject': [
      { output: { _tag: 'Written', current: current('') } },
      { output: { _tag: 'Fault', why: 'planted' } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
    'xstate.done.actor.patchStatus': [
      { output: { _tag: 'Written', current: current('Ready') } },
      { output: { _tag: 'Written', current: current('Drained') } },
      { output: { _tag: 'Written', current: failedOnNode } },
      { output: { _tag: 'Absent' } },
    ],
    'xstate.done.actor.patchSpec': [{ output: { _tag: 'Written', current: current('Ready') } }],
    'xstate.done.actor.deleteObject': [{ output: { _tag: 'Absent' } }],
    'xstate.done.actor.releaseNode': [
      { output: { _tag: 'Written', current: node } },
      { output: { _tag: 'Written', current: releasable } },
      { output: { _tag: 'Refused', why: 'planted' } },
    ],
  },
  project: (
    { facts, base, sent, attempt, verdict, newest, readyRecorded }: UpcomingNodeContext,
  ) => ({
    // What else the last write was based on changes no verdict.
    isBase: base === (facts.current?.resourceVersion ?? null),
    sent,
    reported: facts.reported && [facts.reported.phase, facts.reported.state],
    current: facts.current === null
      ? null
      : [facts.current.resourceVersion, facts.current.nodeName],
    node: facts.node && [facts.node.held, facts.node.releasable],
    drain: facts.drain,
    newest,
    readyRecorded,
    attempt: triesOf(attempt, facts.current === null && facts.node === null),
    verdict,
  }),
  invariant: (snapshot, actions) => {
    const { facts } = snapshot.context;
    if (actions.includes('invoke:createObject')) expect(facts.current).toBeNull();
    if (actions.includes('invoke:deleteObject')) {
      expect(machinePhaseOf(facts), 'only what ended is deleted').toSatisfy(endsObject);
    }
    if (actions.includes('invoke:releaseNode')) {
      expect(facts.node, 'only who ended and serves again').toMatchObject({ releasable: true });
      expect(facts.reported?.servesAgain).toBe(true);
    }
    const { current: object, node: link } = facts;
    if (link?.held === true && object?.phase === 'Failed') {
      const back = ['Ready', 'Registered', 'Draining'];
      if (facts.drain === null) expect(back, 'moved back by a frame').not.toContain(phaseOf(facts));
    }
    if (link === drained && object?.phase === null && facts.drain === null) {
      expect(phaseOf(facts), 'a new object forgets the end on its Node').not.toBe('Ready');
    }
    if (actions.includes('recordNodeReady')) expect(facts.node?.ready).toBe(true);
  },
  stepInvariant: (step) => {
    checkWriter(step);
    readiness(step);
  },
  crash: {
    world: NOTHING,
    record: recorded,
    restart: (world) => ({
      input: inputOf(world.current),
      events: [
        ...(world.shard === 'Configured'
          ? [{ type: 'machine.observed', reported: CONFIGURED }]
          : []),
        ...(world.drain === null ? [] : [{ type: 'drain.observed', drain: world.drain }]),
        ...(world.shard === 'Unbound' ? [{ type: 'machine.observed', reported: UNBOUND }] : []),
        ...(world.node === null ? [] : [{ type: 'node.observed', node: world.node }]),
      ],
    }),
    obligations: ({ context }: { context: UpcomingNodeContext }) => {
      const { facts } = context;
      const machinePhase = machinePhaseOf(facts);
      const phase = phaseOf(facts);
      if (facts.reported === null) return facts.current === null ? 'nothing' : { phase };
      if (machinePhase === null || endsObject(machinePhase)) {
        return { object: facts.current === null ? 'absent' : 'to be deleted' };
      }
      const release = facts.reported.servesAgain && facts.node?.releasable === true;
      return { phase, spec: facts.reported.spec, node: facts.node, release };
    },
  },
  forgets: 'node.observed',
  limit: 40_000,
});
