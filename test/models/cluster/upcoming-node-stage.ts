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
import type { UpcomingNodeInput } from '../../../src/machines/upcoming-node-terms.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import { type ObjectScenery, objectScenery, type Wanted } from './object-scenery.ts';
import { watchSight } from './sight.ts';
import type { Cue, Moment, Mover, Place, Scene, Stage } from './stage.ts';
import { hinderWrite, type WriteUnderWay, writeUnderWay } from './write-under-way.ts';

type Shown = UpcomingNodeProjection;

/** What the cluster shows, and what the write under way was made from. */
interface World extends WriteUnderWay<UpcomingNodeFacts> {
  readonly shown: Shown | null;
  /** The Node has the key of a reclaim that ended, and is schedulable. */
  readonly keyed: boolean;
}

const MACHINE = 'm1';
const OBJECT_ANSWER = /^xstate\.done\.actor\.(createObject|patchStatus|patchSpec|deleteObject)$/;
const RELEASED = 'xstate.done.actor.releaseNode';
const OBJECT_TYPE = { apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'UpcomingNode' };
const NODE_TYPE = { apiVersion: 'v1', kind: 'Node' };
const NODES = '/api/v1/nodes';
const KEY = 'cordon.tidegate.dev/reclaim';

const outcomeIn = ({ event }: Moment): WriteOutcome<Shown> | undefined =>
  OBJECT_ANSWER.test(event.type) ? event['output'] as WriteOutcome<Shown> : undefined;

const releaseIn = ({ event }: Moment): WriteOutcome<NodeLink> | undefined =>
  event.type === RELEASED ? event['output'] as WriteOutcome<NodeLink> : undefined;

const observing = ({ event }: Moment): Shown | undefined =>
  event.type === 'object.observed' ? event['shown'] as Shown : undefined;

const isOurVanishing = ({ event }: Moment): boolean =>
  event.type === 'object.vanished' && (event['last'] as Shown).uid === 'u1';

/** A field of a status; null takes it away. */
const orNone = (text: string): string | null => text === '' ? null : text;

/** When every object began. */
const BEGAN = '1970-01-01T00:00:00Z';

/** The object in full, as it is on the wire. */
const rawOf = (shown: Shown): Required<Wanted> => ({
  metadata: { annotations: { [MACHINE_ID_KEY]: shown.machineId } },
  spec: asRecord(parseJson(shown.spec)) ?? {},
  status: {
    phase: shown.phase,
    providerID: orNone(shown.providerId),
    lastError: orNone(shown.lastError),
    provisioningStartTime: shown.startedAt === '' ? null : BEGAN,
    nodeRef: shown.nodeName === ''
      ? null
      : { apiVersion: 'v1', kind: 'Node', name: shown.nodeName, uid: shown.nodeUid },
  },
});

const isDrawnTime = (text: string): string => text === '' ? '' : 'T';

/** All that an object says, whenever it began. */
const saying = (shown: Shown): string => {
  const { machineId, phase, nodeName, nodeUid, providerId, lastError, startedAt, spec } = shown;
  const began = isDrawnTime(startedAt);
  return JSON.stringify([
    machineId,
    phase,
    nodeName,
    nodeUid,
    providerId,
    lastError,
    began,
    spec,
  ]);
};

const projected = (raw: object): Shown | undefined => {
  const { metadata } = raw as { readonly metadata?: object };
  return projectUpcomingNode({
    ...raw,
    metadata: { ...metadata, name: 'x', uid: 'x', resourceVersion: '1' },
  });
};

/** What the object says after the write under way; `undefined` when there is none to write to. */
const written = ({ shown, asked }: World, type: string): Shown | undefined => {
  if (asked === null) return undefined;
  if (type.endsWith('createObject')) {
    if (shown !== null) return shown;
    return projected(newUpcomingNode(MACHINE, 'x', asked.said?.spec ?? '{}'));
  }
  if (shown === null) return undefined;
  const patch = type.endsWith('patchStatus') ? statusPatch(asked) : specPatch(MACHINE, asked);
  return projected(asRecord(mergePatched(rawOf(shown), patch ?? {})) ?? {});
};

const hindrance = (world: World, moment: Moment): string | undefined => {
  const { event, before } = moment;
  const outcome = outcomeIn(moment);
  if (outcome?._tag === 'Written') {
    const result = written(world, event.type);
    if (result === undefined) return 'what is gone cannot be written';
    if (saying(result) !== saying(outcome.shown)) return 'a server answers with what was written';
  }
  if (event.type.endsWith('deleteObject') && world.stale && world.shown !== null) {
    return 'another object of that name is not deleted';
  }
  const released = releaseIn(moment);
  if (released?._tag === 'Written' && released.shown.releasable) {
    return 'a server answers with what was written';
  }
  const { newest } = before.context;
  const seen = observing(moment);
  const known = seen !== undefined && seen.revision === newest;
  return known && (world.shown === null || world.shown.revision !== newest)
    ? 'what is shown again after a change has another revision'
    : undefined;
};

const follows = (
  world: World,
  step: Parameters<Stage<World>['follows']>[1],
): World => {
  const { event } = step;
  const { asked } = world;
  let { shown, keyed, stale } = world;
  const outcome = outcomeIn(step);
  if (outcome?._tag === 'Written') shown = outcome.shown;
  if (outcome?._tag === 'Absent') shown = null;
  if (isOurVanishing(step)) {
    shown = null;
    stale = true;
  }
  shown = observing(step) ?? shown;
  if (event.type === 'node.observed') keyed = true;
  if (releaseIn(step)?._tag === 'Written') keyed = false;
  return {
    shown,
    keyed,
    ...writeUnderWay(
      { asked, stale },
      step,
      (input) => valueAt(input, 'facts') as UpcomingNodeFacts,
    ),
  };
};

/** What a status may come to; the drawing has one answer for several. */
const statusAnswer = (phase: string, nodeName: string, lastError: string): object => {
  const name = 'un-m1';
  const shown = projectUpcomingNode({
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
      ...(lastError === '' ? {} : { lastError }),
      ...(nodeName === '' ? {} : { nodeRef: { name: nodeName, uid: 'nu1' } }),
    },
  });
  return { output: { _tag: 'Written', shown } };
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
const RELEASABLE: Wanted = {
  metadata: { annotations: { [KEY]: ENDED_KEY } },
  spec: { unschedulable: false },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

/** What others may change. */
interface Sceneries {
  readonly object: ObjectScenery<Shown>;
  readonly node: ObjectScenery<NodeProjection>;
}

const sceneOf = (
  place: Place,
  sceneries: Sceneries,
  input: UpcomingNodeInput,
): Scene<World> => {
  const { names, services } = place;
  const { object, node } = sceneries;
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
  const arrange = async (cue: Cue<World>): Promise<Mover> => {
    const outcome = outcomeIn(cue) ?? releaseIn(cue);
    const hindered = await hinderWrite(place, cue, outcome);
    if (hindered !== undefined) return hindered;
    const isPatch = cue.event.type.includes('.patch');
    if (outcome?._tag === 'Absent' && isPatch) await object.remove();
    return 'server';
  };
  const seeObject = async (
    cue: Cue<World>,
    drawn: Shown,
  ): ReturnType<Scene['observe']> => {
    const anew = drawn.revision !== cue.before.context.newest;
    const shown = await object.put(rawOf(drawn), { anew });
    names.match(shown, drawn);
    uid = shown.uid;
    return { event: { ...cue.event, shown }, by: 'watch' };
  };
  const seeNode = async ({ event }: Cue<World>): ReturnType<Scene['observe']> => {
    const link = nodeLinkOf(await node.put(RELEASABLE));
    names.match(link, event['node']);
    return { event: { ...event, node: link }, by: 'watch' };
  };
  const observe: Scene<World>['observe'] = async (cue) => {
    const { event } = cue;
    const drawn = observing(cue);
    if (drawn !== undefined) return await seeObject(cue, drawn);
    if (event.type === 'node.observed') return await seeNode(cue);
    if (!isOurVanishing(cue)) {
      return { event, by: event.type === 'object.vanished' ? 'hand' : 'word' };
    }
    const gone = await object.remove();
    const last = event['last'] as Shown;
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

/** The stage of `upcomingNode`. */
export const upcomingNodeStage: Stage<World> = {
  world: { shown: null, keyed: false, asked: null, stale: false },
  events: TRUE_ANSWERS,
  limit: 3000,
  hindrance,
  follows,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const objects = await watchSight(world, UPCOMING_NODES_PATH, (raw) => projectUpcomingNode(raw));
    const nodes = await watchSight(world, NODES, projectNode);
    return {
      begin: (place, input) => {
        const name = `models-machine-${place.number}`;
        const sceneries = {
          object: objectScenery(hand, objects, { ...OBJECT_TYPE, path: UPCOMING_NODES_PATH, name }),
          node: objectScenery(hand, nodes, { ...NODE_TYPE, path: NODES, name: `${name}-node` }),
        };
        return Promise.resolve(sceneOf(place, sceneries, input as UpcomingNodeInput));
      },
      close: async () => {
        objects.stop();
        nodes.stop();
        await dispose();
      },
    };
  },
};
