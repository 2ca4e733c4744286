/** One machine and its object, walked through every configuration. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect } from 'vitest';
import { provideUpcomingNode } from '../../src/actors/upcoming-nodes/upcoming-node-actor.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import type { MachineObservation, MachineState } from '../../src/domain/frames.ts';
import { machineId } from '../../src/domain/ids.ts';
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
  reportOf,
  UNBOUND,
  type UpcomingNodeProjection,
} from '../../src/domain/upcoming-node.ts';
import { Cordons } from '../../src/effects/cordons.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import { upcomingNodesLayer } from '../../src/effects/upcoming-nodes.ts';
import type { UpcomingNodeContext } from '../../src/machines/upcoming-node-context.ts';
import { upcomingNode } from '../../src/machines/upcoming-node.ts';
import { answeringApi, answerOf } from '../support/api/fake-api.ts';
import { upcomingNodeHarness } from './cluster/upcoming-node-harness.ts';
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
const FAILED: HoldingFact = { _tag: 'Failed', lastError: '1 pod remains' };
const failedOnNode = current('Failed', '1', 'n1');
/** After the end of a drain, if any: without the Node's key. */
const CONFIGURED: MachineReport = { ...reported('Configured'), servesAgain: true };

/** What outlives the process: the object, the Node, and what the shard would replay. */
interface World {
  readonly current: UpcomingNodeProjection | null;
  readonly node: NodeLink | null;
  /** `Unbound` machines are not replayed; the end of the replay implies them. */
  readonly shard: 'Silent' | 'Unbound' | 'Configured';
  /** The drain state that the Node reports until its end is recorded. */
  readonly drain: HoldingFact | null;
}

const shardAfter = ({ phase }: MachineReport): World['shard'] =>
  phase === null || endsObject(phase) ? 'Unbound' : 'Configured';

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

const WRITTEN_TWICE = 'two writes of one machine were in flight at a time';

describeModel('upcomingNode', {
  machine: upcomingNode,
  wire,
  harness: upcomingNodeHarness,
  inputs: [inputOf(null)],
  events: {
    'machine.observed': [
      { reported: CONFIGURED },
      { reported: reported('Configuring', 'Draining', 'Idle') },
      { reported: reported('Idle') },
    ],
    'object.observed': [
      { current: current('Ready') },
      { current: current('Ready', '2') },
    ],
    'object.vanished': [{ last: current('Ready') }, {
      last: { uid: 'another', resourceVersion: 'r' },
    }],
    'node.observed': [{ node: releasable }],
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
    base,
    sent,
    reported: facts.reported && [facts.reported.phase, facts.reported.state],
    current: facts.current === null
      ? null
      : [facts.current.resourceVersion, facts.current.nodeName],
    node: facts.node && [facts.node.held, facts.node.releasable],
    drain: facts.drain,
    newest,
    readyRecorded,
    attempt: Math.min(attempt, 5),
    verdict,
  }),
  invariant: (snapshot, actions) => {
    const { facts } = snapshot.context;
    const begun = actions.filter((action) => action.startsWith('invoke:'));
    expect(begun.length, WRITTEN_TWICE).toBeLessThanOrEqual(1);
    if (begun.length > 0) expect(snapshot.hasTag('acting'), 'writes need a turn').toBe(true);
    if (snapshot.hasTag('settled')) expect(pendingWrite('m1', facts)).toBeUndefined();
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
    if (actions.includes('recordNodeReady')) expect(facts.node?.ready).toBe(true);
  },
  crash: {
    world: { current: null, node: null, shard: 'Silent', drain: null } satisfies World as World,
    record: (world: World, { event, before, after }): World => {
      const { facts } = after.context;
      switch (event.type) {
        case 'machine.observed':
          return {
            ...world,
            shard: facts.reported === null ? 'Silent' : shardAfter(facts.reported),
          };
        case 'machine.unbound':
          return { ...world, shard: 'Unbound' };
        case 'drain.observed':
          return { ...world, drain: facts.drain };
        default:
          return before === after ? world : { ...world, current: facts.current, node: facts.node };
      }
    },
    restart: (world) => ({
      input: inputOf(world.current),
      events: [
        ...(world.shard === 'Configured'
          ? [{ type: 'machine.observed', reported: CONFIGURED }]
          : []),
        ...(world.drain === null ? [] : [{ type: 'drain.observed', drain: world.drain }]),
        ...(world.shard === 'Unbound' ? [{ type: 'machine.unbound' }] : []),
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
  limit: 40_000,
});
