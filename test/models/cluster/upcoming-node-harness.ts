/** `upcomingNode` on a cluster: its UpcomingNode and its Node, which others may change. */
import { Layer, ManagedRuntime } from 'effect';
import {
  provideUpcomingNode,
  releaseFrom,
} from '../../../src/actors/upcoming-nodes/upcoming-node-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { type NodeProjection, projectNode } from '../../../src/domain/cluster-node.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { MACHINE_ID_KEY } from '../../../src/domain/ids.ts';
import { asRecord, parseJson, valueAt } from '../../../src/domain/json.ts';
import { type NodeLink, nodeLinkOf } from '../../../src/domain/node-link.ts';
import type { WriteOutcome } from '../../../src/domain/object-write.ts';
import {
  newUpcomingNode,
  projectUpcomingNode,
  specPatch,
  statusPatch,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../../../src/domain/upcoming-node.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { UPCOMING_NODES_PATH, upcomingNodesLayer } from '../../../src/effects/upcoming-nodes.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import type { UpcomingNodeInput } from '../../../src/machines/upcoming-node-context.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import { type ObjectFixture, objectFixture, type Wanted } from './object-fixture.ts';
import { observeCollection } from './observed-collection.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

type Current = UpcomingNodeProjection;

/** The object in the cluster, and the input of the write in flight. */
interface World extends WriteUnderWay<UpcomingNodeFacts> {
  readonly current: Current | null;
  /** Whether the Node has the key of a reclaim that ended, and is still cordoned. */
  readonly node: 'Open' | 'Keyed' | 'Cordoned';
}

const MACHINE = 'm1';
const OBJECT_ANSWER = /^xstate\.done\.actor\.(createObject|patchStatus|patchSpec|deleteObject)$/;
const RELEASED = 'xstate.done.actor.releaseNode';
const OBJECT_TYPE = { apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'UpcomingNode' };
const NODE_TYPE = { apiVersion: 'v1', kind: 'Node' };
const NODES = '/api/v1/nodes';
const KEY = 'cordon.tidegate.dev/reclaim';

const outcomeIn = ({ event }: Moment): WriteOutcome<Current> | undefined =>
  OBJECT_ANSWER.test(event.type) ? event['output'] as WriteOutcome<Current> : undefined;

const releaseIn = ({ event }: Moment): WriteOutcome<NodeLink> | undefined =>
  event.type === RELEASED ? event['output'] as WriteOutcome<NodeLink> : undefined;

const observing = ({ event }: Moment): Current | undefined =>
  event.type === 'object.observed' ? event['current'] as Current : undefined;

const isCordoned = (event: Moment['event']): boolean =>
  event.type === 'node.observed' && !(event['node'] as NodeLink).releasable;

const isOurVanishing = ({ event }: Moment): boolean =>
  event.type === 'object.vanished' && (event['last'] as Current).uid === 'u1';

/** A status field; null removes it. */
const orNone = (text: string): string | null => text === '' ? null : text;

/** When every object began. */
const BEGAN = '1970-01-01T00:00:00Z';

/** The condition of the object as it is on the wire; null removes it. */
const conditionsIn = ({ condition }: Current): readonly object[] | null =>
  condition === null ? null : [{
    type: 'Ready',
    status: condition.status,
    reason: condition.reason,
    message: '',
    lastTransitionTime: BEGAN,
  }];

/** The object in full, as it is on the wire. */
const rawOf = (current: Current): Required<Wanted> => ({
  metadata: { annotations: { [MACHINE_ID_KEY]: current.machineId } },
  spec: asRecord(parseJson(current.spec)) ?? {},
  status: {
    phase: current.phase,
    providerID: orNone(current.providerId),
    lastError: orNone(current.lastError),
    conditions: conditionsIn(current),
    provisioningStartTime: current.startedAt === '' ? null : BEGAN,
    nodeRef: current.nodeName === ''
      ? null
      : { apiVersion: 'v1', kind: 'Node', name: current.nodeName, uid: current.nodeUid },
  },
});

const isDrawnTime = (text: string): string => text === '' ? '' : 'T';

/** The complete status, whatever its initial state. */
const contentOf = (current: Current): string => {
  const { machineId, phase, nodeName, nodeUid, providerId, lastError, startedAt, spec } = current;
  const { status = '', reason = '' } = current.condition ?? {};
  const began = isDrawnTime(startedAt);
  return JSON.stringify([
    machineId,
    phase,
    nodeName,
    nodeUid,
    providerId,
    lastError,
    began,
    status,
    reason,
    spec,
  ]);
};

const projected = (raw: object): Current | undefined => {
  const { metadata } = raw as { readonly metadata?: object };
  return projectUpcomingNode({
    ...raw,
    metadata: { ...metadata, name: 'x', uid: 'x', resourceVersion: '1' },
  });
};

/** The object after the write in flight; `undefined` when there is none. */
const written = ({ current, asked }: World, type: string): Current | undefined => {
  if (asked === null) return undefined;
  if (type.endsWith('createObject')) {
    if (current !== null) return current;
    return projected(newUpcomingNode(MACHINE, 'x', asked.reported?.spec ?? '{}'));
  }
  if (current === null) return undefined;
  const patch = type.endsWith('patchStatus') ? statusPatch(asked, 0) : specPatch(MACHINE, asked);
  return projected(asRecord(mergePatched(rawOf(current), patch ?? {})) ?? {});
};

const hindrance = (world: World, moment: Moment): string | undefined => {
  const { event, before } = moment;
  const outcome = outcomeIn(moment);
  if (outcome?._tag === 'Written') {
    const result = written(world, event.type);
    if (result === undefined) return 'a deleted object cannot be written';
    if (contentOf(result) !== contentOf(outcome.current)) {
      return 'a server answers with what was written';
    }
  }
  if (event.type.endsWith('deleteObject') && world.stale && world.current !== null) {
    return 'another object of that name is not deleted';
  }
  const released = releaseIn(moment);
  if (released?._tag === 'Written' && (released.current.releasable || world.node === 'Cordoned')) {
    return 'a server answers with what was written';
  }
  const { newest } = before.context;
  const seen = observing(moment);
  const known = seen !== undefined && seen.resourceVersion === newest;
  return known && (world.current === null || world.current.resourceVersion !== newest)
    ? 'an object shown again after a change has another resourceVersion'
    : undefined;
};

const follows = (
  world: World,
  step: Parameters<ClusterHarness<World>['follows']>[1],
): World => {
  const { event } = step;
  const { asked } = world;
  let { current, node, stale } = world;
  const outcome = outcomeIn(step);
  if (outcome?._tag === 'Written') current = outcome.current;
  if (outcome?._tag === 'Absent') current = null;
  if (isOurVanishing(step)) {
    current = null;
    stale = true;
  }
  current = observing(step) ?? current;
  if (event.type === 'node.observed') node = isCordoned(event) ? 'Cordoned' : 'Keyed';
  if (releaseIn(step)?._tag === 'Written') node = 'Open';
  return {
    current,
    node,
    ...writeUnderWay(
      { asked, stale },
      step,
      (input) => valueAt(input, 'facts') as UpcomingNodeFacts,
    ),
  };
};

/** The condition of a machine in that phase. */
const readyIn = (phase: string): object => ({
  type: 'Ready',
  status: phase === 'Ready' ? 'True' : 'False',
  reason: phase,
  message: '',
  lastTransitionTime: BEGAN,
});

/** Results of a status write that the model summarizes as one answer. */
const statusAnswer = (phase: string, nodeName: string, lastError: string): object => {
  const name = 'un-m1';
  const current = projectUpcomingNode({
    metadata: {
      name,
      uid: 'u1',
      resourceVersion: [phase, nodeName, lastError].join(' '),
      annotations: { [MACHINE_ID_KEY]: MACHINE },
    },
    spec: { resources: { cpu: '1' } },
    status: {
      phase,
      providerID: 'host-1',
      provisioningStartTime: BEGAN,
      conditions: [readyIn(phase)],
      ...(lastError === '' ? {} : { lastError }),
      ...(nodeName === '' ? {} : { nodeRef: { name: nodeName, uid: 'nu1' } }),
    },
  });
  return { output: { _tag: 'Written', current } };
};

const TRUE_ANSWERS = {
  'xstate.done.actor.patchStatus': [
    statusAnswer('Ready', 'n1', ''),
    statusAnswer('Drained', 'n1', ''),
    statusAnswer('Failed', '', '1 pod remains'),
    statusAnswer('Failed', 'n1', '1 pod remains'),
  ],
};

const ENDED_KEY = printCordon({
  ids: ['i1'],
  deadlineMs: null,
  graceSeconds: 0,
  sinceMs: 0,
  ended: 'Drained',
});
const keyedNode = (unschedulable: boolean): Wanted => ({
  metadata: { annotations: { [KEY]: ENDED_KEY } },
  spec: { unschedulable },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

/** What others may change. */
interface Fixtures {
  readonly object: ObjectFixture<Current>;
  readonly node: ObjectFixture<NodeProjection>;
}

const runOf = (
  environment: RunEnvironment,
  fixtures: Fixtures,
  input: UpcomingNodeInput,
): PathRun<World> => {
  const { names, services } = environment;
  const { object, node } = fixtures;
  const telemetry = silentTelemetry;
  const runtime = ManagedRuntime.make(
    Layer.merge(
      upcomingNodesLayer({ telemetry, intern: (text) => text }),
      cordonsLayer(telemetry),
    ).pipe(Layer.provide(services)),
  );
  const release = releaseFrom({ nodeNamed: () => node.now(), putNode: () => [] });
  let uid = 'u1';
  const deaf = (): void => {};
  const machine = provideUpcomingNode(
    runtime,
    { requestSlot: deaf, recordNodeReady: deaf, recordRefused: deaf, recordFailing: deaf },
    { inFlight: (write) => write, releaseNode: release },
  );
  const arrange = async (pathStep: PathStep<World>): Promise<StepSource> => {
    const outcome = outcomeIn(pathStep) ?? releaseIn(pathStep);
    const hindered = await hinderWrite(environment, pathStep, outcome);
    if (hindered !== undefined) return hindered;
    const isPatch = pathStep.event.type.includes('.patch');
    if (outcome?._tag === 'Absent' && isPatch) await object.remove();
    return 'server';
  };
  const seeObject = async (
    pathStep: PathStep<World>,
    drawn: Current,
  ): ReturnType<PathRun['observe']> => {
    const anew = drawn.resourceVersion !== pathStep.before.context.newest;
    const current = await object.put(rawOf(drawn), { anew });
    names.match(current, drawn);
    uid = current.uid;
    return { event: { ...pathStep.event, current }, by: 'watch' };
  };
  const seeNode = async ({ event }: PathStep<World>): ReturnType<PathRun['observe']> => {
    const link = nodeLinkOf(await node.put(keyedNode(isCordoned(event))));
    names.match(link, event['node']);
    return { event: { ...event, node: link }, by: 'watch' };
  };
  const observe: PathRun<World>['observe'] = async (pathStep) => {
    const { event } = pathStep;
    const drawn = observing(pathStep);
    if (drawn !== undefined) return await seeObject(pathStep, drawn);
    if (event.type === 'node.observed') return await seeNode(pathStep);
    if (!isOurVanishing(pathStep)) {
      return { event, by: event.type === 'object.vanished' ? 'hand' : 'word' };
    }
    const gone = await object.remove();
    const last = event['last'] as Current;
    if (gone === undefined) return { event: { ...event, last: { ...last, uid } }, by: 'hand' };
    names.match(gone, last);
    return { event: { ...event, last: gone }, by: 'watch' };
  };
  return {
    machine,
    input: { ...input, name: object.name },
    arrange,
    observe,
    stop: async () => {
      await runtime.dispose();
      await object.remove();
      await node.remove();
    },
  };
};

/** The harness of `upcomingNode`. */
export const upcomingNodeHarness: ClusterHarness<World> = {
  world: { current: null, node: 'Open', asked: null, stale: false },
  events: TRUE_ANSWERS,
  limit: 3000,
  hindrance,
  follows,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const objects = await observeCollection(
      world,
      UPCOMING_NODES_PATH,
      (raw) => projectUpcomingNode(raw),
    );
    const nodes = await observeCollection(world, NODES, projectNode);
    return {
      begin: (environment, input) => {
        const name = `models-machine-${environment.number}`;
        const fixtures = {
          object: objectFixture(hand, objects, { ...OBJECT_TYPE, path: UPCOMING_NODES_PATH, name }),
          node: objectFixture(hand, nodes, { ...NODE_TYPE, path: NODES, name: `${name}-node` }),
        };
        return Promise.resolve(runOf(environment, fixtures, input as UpcomingNodeInput));
      },
      close: async () => {
        objects.stop();
        nodes.stop();
        await dispose();
      },
    };
  },
};
