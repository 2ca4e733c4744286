/** `nodeAvailability` on a cluster: one Node, its Lease and two pods that it may lose. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { provideNodeAvailability } from '../../../src/actors/node-availability/node-availability-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { resourceVersion } from '../../../src/domain/ids.ts';
import {
  conditionPatch,
  taintsPatch,
} from '../../../src/domain/node-availability/availability-writes.ts';
import {
  AVAILABILITY_LABELS,
  type AvailabilityLabel,
  type AvailableNode,
} from '../../../src/domain/node-availability/node-state.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import {
  NodeAvailabilityApi,
  nodeAvailabilityLayer,
} from '../../../src/effects/node-availability.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import {
  duePods,
  type NodeAvailabilityContext,
  type NodeAvailabilityInput,
  type RemovalEnd,
  type ReplacedPod,
} from '../../../src/machines/node-availability-context.ts';
import type { Step } from '../harness/interpreter.ts';
import { type ActGate, makeActGate } from './act-gate.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { type NodeFixtures, openNodes, projectAvailableNode } from './node-availability-objects.ts';
import { loseRequest, lostRequest, PASSED, refuseRequest } from './troubles.ts';

/** What the write in flight changes; null where it leaves the Node as it is. */
interface Asked {
  readonly label: AvailabilityLabel | null;
  readonly isTainted: boolean | null;
  readonly endsConfirmation: boolean;
}

/** The Node and its pods in the cluster, in the model's terms, and what is in flight. */
interface World {
  readonly node: AvailableNode | null;
  readonly asked: Asked | null;
  /** The Node was changed since the write in flight was made. */
  readonly isChanged: boolean;
  /** UIDs of the pods that the removal in flight began with. */
  readonly removing: readonly string[] | null;
  /** UIDs of pods that others took away: one that comes again has another UID. */
  readonly vanished: readonly string[];
}

const WRITTEN = 'node.written';
const FAILED = 'write.failed';
const REMOVED = 'removal.ended';
/** Why a write fails when the taints have changed since. */
const CONFLICT = 'conflict';

const contextOf = ({ before }: Moment): NodeAvailabilityContext => before.context;

const observing = ({ event }: Moment): AvailableNode | undefined =>
  event.type === 'node.observed' ? event['node'] as AvailableNode : undefined;

const podsIn = ({ event }: Moment): readonly ReplacedPod[] | undefined =>
  event.type === 'pods.observed' ? event['pods'] as readonly ReplacedPod[] : undefined;

const endIn = ({ event }: Moment): RemovalEnd => event['end'] as RemovalEnd;

const isRemoving = ({ before }: Moment): boolean =>
  before.matches({ availability: { offline: { replacing: 'removing' } } });

/** All that a Node shows, besides its identity. */
const contentOf = (
  { readyStatus, problem, isDisabled, isDraining, availability }: AvailableNode,
): string => JSON.stringify([readyStatus, problem, isDisabled, isDraining, availability]);

/** What is written of a Node that is to show this. */
const askedOf = ({ node, wanted }: NodeAvailabilityContext): Asked => {
  const hasTaints = taintsPatch(node, wanted) !== undefined;
  return {
    label: conditionPatch(node, wanted, 0) === undefined ? null : wanted.label,
    isTainted: hasTaints ? wanted.isTainted : null,
    endsConfirmation: hasTaints && wanted.endsConfirmation,
  };
};

/** The Node after the write in flight; `undefined` when the server refuses it. */
const written = ({ node, asked, isChanged }: World): AvailableNode | undefined => {
  if (node === null || asked === null) return undefined;
  if (asked.isTainted !== null && isChanged) return undefined;
  const { label, isTainted, isConfirmedGone, isConfirmedByCommand } = node.availability;
  return {
    ...node,
    availability: {
      label: asked.label ?? label,
      isTainted: asked.isTainted ?? isTainted,
      isConfirmedGone: isConfirmedGone && !asked.endsConfirmation,
      isConfirmedByCommand: isConfirmedByCommand && !asked.endsConfirmation,
    },
  };
};

const hindranceOfWritten = (world: World, { event }: Moment): string | undefined => {
  const result = written(world);
  if (result === undefined) return 'a patch of taints that have changed since is refused';
  return contentOf(result) === contentOf(event['node'] as AvailableNode)
    ? undefined
    : 'a server answers with what was written';
};

const hindranceOfRemoval = ({ removing }: World, moment: Moment): string | undefined => {
  const { removed, why } = endIn(moment);
  const due = removing ?? [];
  const isWhole = removed.join() === due.join();
  return removed.every((uid) => due.includes(uid)) && isWhole === (why === '')
    ? undefined
    : 'a removal ends with the pods that it began with';
};

const hindranceOfPods = (
  { removing, vanished }: World,
  moment: Moment,
  pods: readonly ReplacedPod[],
): string | undefined => {
  const handled = [...contextOf(moment).removed, ...removing ?? []];
  return pods.some(({ uid }) => vanished.includes(uid) && handled.includes(uid))
    ? 'a pod that comes again has another UID'
    : undefined;
};

const hindrance = (world: World, moment: Moment): string | undefined => {
  const { type } = moment.event;
  if (type === WRITTEN) return hindranceOfWritten(world, moment);
  if (type === FAILED && moment.event['why'] === CONFLICT && written(world) !== undefined) {
    return 'a patch of what has not changed is no conflict';
  }
  if (type === REMOVED) return hindranceOfRemoval(world, moment);
  const pods = podsIn(moment);
  if (pods !== undefined) return hindranceOfPods(world, moment, pods);
  const node = observing(moment);
  return node !== undefined && isOlder(node.resourceVersion, contextOf(moment).node.resourceVersion)
    ? 'a cluster does not send stale objects'
    : undefined;
};

const vanishedAfter = ({ vanished }: World, step: Step): readonly string[] => {
  const pods = podsIn(step);
  if (pods === undefined) return vanished;
  const known = contextOf(step).pods.map(({ uid }) => uid);
  return pods.length === 0 ? [...new Set([...vanished, ...known])].sort() : [];
};

const follows: ClusterHarness<World>['follows'] = (world, step) => {
  const { event, actions, after } = step;
  const context: NodeAvailabilityContext = after.context;
  let { node, asked, isChanged, removing } = world;
  if (event.type === 'xstate.init') node = context.node;
  const seen = observing(step);
  if (seen !== undefined) {
    isChanged ||= seen.resourceVersion !== node?.resourceVersion;
    node = seen;
  }
  if (event.type === WRITTEN) node = event['node'] as AvailableNode;
  if (event.type === WRITTEN || event.type === FAILED) asked = null;
  if (actions.includes('writeNode')) {
    asked = askedOf(context);
    isChanged = false;
  }
  if (asked === null) isChanged = false;
  if (actions.includes('removePods')) removing = duePods(context).map(({ uid }) => uid);
  else if (!isRemoving({ before: after, event })) removing = null;
  return { node, asked, isChanged, removing, vanished: vanishedAfter(world, step) };
};

/** A Node that stays lost, and the attempts to delete its pods. */
const isOfRemovals = (moment: Moment): boolean => {
  const { type } = moment.event;
  const seen = observing(moment);
  return seen === undefined
    ? !['lease.renewed', 'storm.detected', FAILED].includes(type)
    : seen.readyStatus === 'Unknown' && seen.availability.label === null;
};

/** What a server answers to the writes of these Nodes, whatever they are to show. */
const trueAnswers = (nodes: readonly AvailableNode[]): readonly object[] => {
  const kinds = nodes.flatMap((node) =>
    AVAILABILITY_LABELS.flatMap((label) =>
      [false, true].map((isTainted): AvailableNode => ({
        ...node,
        availability: { ...node.availability, label, isTainted },
      }))
    )
  );
  const byContent = new Map(kinds.map((node) => [contentOf(node), node]));
  return [...byContent].map(([content, node]) => ({
    node: { ...node, resourceVersion: resourceVersion(content) },
  }));
};

/** Ends of removals of some of these pods. */
const trueEnds = (pods: readonly ReplacedPod[]): readonly object[] => [
  ...pods.map(({ uid }) => ({ end: { removed: [uid], why: '' } })),
  { end: { removed: [], why: 'planted' } },
];

/** Gates before the two acts, which can be under way at once. */
const actGates = () => {
  const [write, removal] = [makeActGate(), makeActGate()];
  return {
    gateOf: (act: string): ActGate => act === 'writeNode' ? write : removal,
    layer: Layer.effect(
      NodeAvailabilityApi,
      Effect.map(NodeAvailabilityApi, (api) => ({
        ...api,
        write: (wanted) => Effect.andThen(write.pass, api.write(wanted)),
        remove: (pod) => Effect.andThen(removal.pass, api.remove(pod)),
      })),
    ),
  };
};

const ignore = (): void => {};
const ACTIONS = {
  requestPods: ignore,
  recordDegraded: ignore,
  recordOffline: ignore,
  recordBack: ignore,
  recordGivenUp: ignore,
};

/** What others do to the Node and its pods. */
const observationsOf = ({ names }: RunEnvironment, fixtures: NodeFixtures) => {
  const seeNode = async (
    { event, world }: PathStep<World>,
    drawn: AvailableNode,
  ): ReturnType<PathRun['observe']> => {
    const anew = world.node?.resourceVersion !== drawn.resourceVersion;
    const node = await fixtures.putNode(drawn, { anew });
    names.match(node, drawn);
    return { event: { ...event, node }, by: 'watch' };
  };
  const seePods = async (
    pathStep: PathStep<World>,
    drawn: readonly ReplacedPod[],
  ): ReturnType<PathRun['observe']> => {
    const { event } = pathStep;
    if (drawn.length === 0) {
      const wereThere = await fixtures.pods.removeAll();
      return { event, by: wereThere ? 'watch' : 'hand' };
    }
    const { removed } = contextOf(pathStep);
    const pods: ReplacedPod[] = [];
    for (const pod of drawn) {
      const live = await fixtures.pods.put(pod.name, removed.includes(pod.uid));
      names.match(live, pod);
      pods.push(live);
    }
    const isLate = drawn.some(({ uid }) => removed.includes(uid));
    return { event: { ...event, pods }, by: isLate ? 'hand' : 'watch' };
  };
  return { seeNode, seePods };
};

const runOf = async (
  environment: RunEnvironment,
  fixtures: NodeFixtures,
  drawn: NodeAvailabilityInput,
): Promise<PathRun<World>> => {
  const { names, gate, line, number, services } = environment;
  const { gateOf, layer } = actGates();
  const runtime = ManagedRuntime.make(
    layer.pipe(Layer.provide(nodeAvailabilityLayer), Layer.provide(services)),
  );
  gate.open();
  const node = await fixtures.putNode(drawn.node, { anew: false });
  names.match(node, drawn.node);
  const { seeNode, seePods } = observationsOf(environment, fixtures);
  const failWrite = async ({ world }: PathStep<World>): Promise<StepSource> => {
    if (written(world) === undefined) return 'server';
    return number % 3 === 0 ? refuseRequest(environment) : await loseRequest(environment);
  };
  const arrangeRemoval = (pathStep: PathStep<World>): StepSource => {
    const { removed, why } = endIn(pathStep);
    if (why === '') return 'server';
    const due = pathStep.world.removing ?? [];
    line.order(...due.map((uid) => removed.includes(uid) ? PASSED : lostRequest(number)));
    return 'line';
  };
  return {
    machine: provideNodeAvailability(
      { runtime, time: realTime, telemetry: silentTelemetry, project: projectAvailableNode },
      ACTIONS,
      (write) => write,
    ),
    input: { ...drawn, node },
    gateOf,
    arrange: async (pathStep) => {
      const { type } = pathStep.event;
      if (type === REMOVED) return arrangeRemoval(pathStep);
      return type === FAILED ? await failWrite(pathStep) : 'server';
    },
    observe: async (pathStep) => {
      const { event } = pathStep;
      const seen = observing(pathStep);
      if (seen !== undefined) return await seeNode(pathStep, seen);
      const pods = podsIn(pathStep);
      if (pods !== undefined) return await seePods(pathStep, pods);
      if (event.type !== 'lease.renewed') return { event, by: 'word' };
      await fixtures.renewLease();
      return { event, by: 'watch' };
    },
    stop: async () => {
      await runtime.dispose();
      await fixtures.strike();
    },
  };
};

/** The harness of `nodeAvailability`, by the Nodes and pods of its model. */
export const nodeAvailabilityHarness = (
  nodes: readonly AvailableNode[],
  pods: readonly ReplacedPod[],
): ClusterHarness<World> => ({
  world: { node: null, asked: null, isChanged: false, removing: null, vanished: [] },
  answers: { [WRITTEN]: 'writeNode', [FAILED]: 'writeNode', [REMOVED]: 'removePods' },
  events: {
    [WRITTEN]: trueAnswers(nodes),
    [FAILED]: [{ why: CONFLICT }],
    [REMOVED]: trueEnds(pods),
  },
  limit: 1000,
  parts: [isOfRemovals],
  hindrance,
  follows,
  open: async (environment) => {
    const cluster = await openNodes(environment);
    return {
      begin: (run, input) =>
        runOf(
          run,
          cluster.fixturesOf(`models-lost-${run.number}`),
          input as NodeAvailabilityInput,
        ),
      close: cluster.close,
    };
  },
});
