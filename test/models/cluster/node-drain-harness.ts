/** `nodeDrain` on a cluster: one Node, on which others write, too. */
import { Layer, ManagedRuntime } from 'effect';
import { provideNodeDrain } from '../../../src/actors/node-drains/node-drain-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { type DrainedNode, projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../../../src/domain/drain/node-write.ts';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import { isOlder } from '../../../src/domain/resource-versions.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';
import type { NodeDrainInput } from '../../../src/machines/node-drain-context.ts';
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
import { loseRequest, refuseRequest } from './troubles.ts';

/** The Node in the cluster, and the patch in flight. */
interface World {
  readonly node: DrainedNode | null;
  /** Changed since, without an event. */
  readonly touched: boolean;
  readonly asked: object | null;
  /** The patch is based on a stale Node. */
  readonly doomed: boolean;
}

const TYPE = { apiVersion: 'v1', kind: 'Node' };
const PATH = '/api/v1/nodes';
const PREFIX = 'cordon.tidegate.dev/';
const PAUSE = 'tidegate.dev/pause';
const ANSWER = /^xstate\.done\.actor\.(cordonNode|writeEnd)$/;

const outcomeIn = ({ event }: Moment): NodeWriteOutcome | undefined =>
  ANSWER.test(event.type) ? event['output'] as NodeWriteOutcome : undefined;

const observing = ({ event }: Moment): DrainedNode | undefined =>
  event.type === 'node.observed' ? event['node'] as DrainedNode : undefined;

/** All drain annotations of a Node; null removes a key. */
const wantedOf = ({ cordons, paused, unschedulable }: DrainedNode): Wanted => ({
  metadata: {
    annotations: {
      [`${PREFIX}reclaim`]: cordons['reclaim'] ?? null,
      [`${PREFIX}person`]: cordons['person'] ?? null,
      [PAUSE]: paused ? 'true' : null,
    },
  },
  spec: { unschedulable },
});

const sameContent = (left: DrainedNode, right: DrainedNode): boolean =>
  JSON.stringify(wantedOf(left)) === JSON.stringify(wantedOf(right));

/** The Node after the patch in flight; `undefined` when the server would refuse it. */
const patched = ({ node, touched, asked, doomed }: World): DrainedNode | undefined => {
  if (node === null || asked === null || touched || doomed) return undefined;
  if (textAt(asked, 'metadata', 'resourceVersion') !== node.resourceVersion) return undefined;
  const { name, uid, resourceVersion } = node;
  const raw = mergePatched(
    mergePatched({ metadata: { name, uid } }, wantedOf(node)),
    { ...asked, metadata: { ...Object(valueAt(asked, 'metadata')), resourceVersion } },
  );
  return projectDrainedNode(raw);
};

const hindranceOfAnswer = (
  world: World,
  outcome: NodeWriteOutcome,
): string | undefined => {
  if (outcome._tag === 'Conflict' && world.node === null) {
    return 'a conflict needs a Node';
  }
  if (outcome._tag !== 'Written') return undefined;
  const result = patched(world);
  if (result === undefined) return 'a patch of what has changed since is refused';
  if (!sameContent(result, outcome.node)) return 'a server answers with what was written';
  return world.node !== null && isOlder(outcome.node.resourceVersion, world.node.resourceVersion)
    ? 'the last write has the newest resourceVersion'
    : undefined;
};

const hindrance = (world: World, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  if (outcome !== undefined) return hindranceOfAnswer(world, outcome);
  const seen = observing(moment);
  const known: DrainedNode | null = moment.before.context.node;
  if (seen === undefined || known === null) return undefined;
  if (isOlder(seen.resourceVersion, known.resourceVersion)) {
    return 'a cluster does not send stale objects';
  }
  if (seen.resourceVersion !== known.resourceVersion) return undefined;
  const isOther = world.node?.resourceVersion !== seen.resourceVersion ||
    (world.touched && world.asked !== null);
  return isOther ? 'an object shown again after a change has another resourceVersion' : undefined;
};

const follows = (
  world: World,
  step: Parameters<ClusterHarness<World>['follows']>[1],
): World => {
  const { event, invokes, after } = step;
  let { node, touched, asked, doomed } = world;
  if (event.type === 'xstate.init') node = after.context.node;
  const outcome = outcomeIn(step);
  if (outcome?._tag === 'Written') node = outcome.node;
  if (outcome?._tag === 'Gone' || event.type === 'node.vanished') node = null;
  if (outcome?._tag === 'Conflict' && patched(world) !== undefined) touched = true;
  const seen = observing(step);
  if (seen !== undefined) {
    // A recreated Node is a different one.
    doomed ||= node === null || touched;
    touched = false;
    node = seen;
  }
  const begun = invokes.find(({ id }) => id !== 'showEnd');
  if (begun !== undefined) asked = valueAt(begun.input, 'body') as object;
  else if (outcome !== undefined) asked = null;
  if (begun !== undefined || asked === null) doomed = false;
  return { node, touched, asked, doomed };
};

const raw = (resourceVersion: string, key: string, unschedulable: boolean): DrainedNode => {
  const node = projectDrainedNode({
    metadata: {
      name: 'n1',
      uid: 'u1',
      resourceVersion,
      annotations: { [`${PREFIX}reclaim`]: key },
    },
    spec: { unschedulable },
  });
  if (node === undefined) throw new Error('No projection');
  return node;
};

const annotation = (ids: readonly string[], ended: 'Drained' | 'Failed' | 'Cancelled' | null) =>
  printCordon({ deadlineMs: 100_000, graceSeconds: 100, sinceMs: 0, ids, ended });
const BOTH = ['i1', 'i2'];

/** The server's answers that the model summarizes as one. */
const TRUE_ANSWERS = {
  'xstate.done.actor.cordonNode': [
    { output: { _tag: 'Written', node: raw('20', annotation(['i1'], null), true) } },
  ],
  'xstate.done.actor.writeEnd': [
    { output: { _tag: 'Written', node: raw('50', annotation(BOTH, 'Drained'), true) } },
    { output: { _tag: 'Written', node: raw('51', annotation(BOTH, 'Cancelled'), false) } },
    { output: { _tag: 'Written', node: raw('52', annotation(BOTH, 'Failed'), true) } },
  ],
};

const runOf = async (
  environment: RunEnvironment,
  object: ObjectFixture<DrainedNode>,
  drawn: NodeDrainInput,
): Promise<PathRun<World>> => {
  const { names } = environment;
  const runtime = ManagedRuntime.make(
    cordonsLayer(silentTelemetry).pipe(Layer.provide(environment.services)),
  );
  const node = await object.put(wantedOf(drawn.node));
  names.match(node, drawn.node);
  const asked = Promise.withResolvers<() => void>();
  const ignore = (): void => {};
  const machine = provideNodeDrain(runtime, {
    requestSlot: ignore,
    recordStarted: ignore,
    showDraining: ignore,
    recordCordonFailing: ignore,
    recordLeftAlone: ignore,
    evictPods: ignore,
    countPods: ignore,
    releasePods: ignore,
    conditionAtEnd: () => undefined,
    showEnd: () => new Promise((resolve) => asked.resolve(resolve)),
  });
  const arrange = async (pathStep: PathStep<World>): Promise<StepSource> => {
    const outcome = outcomeIn(pathStep);
    switch (outcome?._tag) {
      case undefined:
        (await asked.promise)();
        return 'word';
      case 'Fault':
        return await loseRequest(environment);
      case 'Refused':
        return refuseRequest(environment);
      case 'Gone':
        await object.remove();
        return 'server';
      case 'Conflict':
        if (patched(pathStep.world) !== undefined) await object.touch();
        return 'server';
      case 'Written':
        return 'server';
    }
  };
  const observe: PathRun<World>['observe'] = async (pathStep) => {
    const { event } = pathStep;
    const seen = observing(pathStep);
    if (seen !== undefined) {
      const anew = pathStep.before.context.node?.resourceVersion !== seen.resourceVersion;
      const known = await object.put(wantedOf(seen), { anew });
      names.match(known, seen);
      return { event: { ...event, node: known }, by: 'watch' };
    }
    if (event.type !== 'node.vanished') return { event, by: 'word' };
    await object.remove();
    return { event, by: 'watch' };
  };
  return {
    machine,
    input: { ...drawn, node },
    arrange,
    observe,
    stop: async () => {
      await runtime.dispose();
      await object.remove();
    },
  };
};

/** The harness of `nodeDrain`. */
export const nodeDrainHarness: ClusterHarness<World> = {
  world: { node: null, touched: false, asked: null, doomed: false },
  events: TRUE_ANSWERS,
  limit: 1500,
  hindrance,
  follows,
  open: async ({ hand, source }) => {
    const { environment: world, dispose } = liveEnvironment(source);
    const collection = await observeCollection(world, PATH, projectDrainedNode);
    return {
      begin: (environment, input) => {
        const name = `models-drain-${environment.number}`;
        const object = objectFixture(hand, collection, { ...TYPE, path: PATH, name });
        return runOf(environment, object, input as NodeDrainInput);
      },
      close: async () => {
        collection.stop();
        await dispose();
      },
    };
  },
};
