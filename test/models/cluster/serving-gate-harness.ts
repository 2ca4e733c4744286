/** `servingGate` on a cluster: one pod with the gate, and the EndpointSlice that may list it. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { provideServingGate } from '../../../src/actors/pod-evictions/serving-gate-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { type DrainPod, projectPod } from '../../../src/domain/drain/pod.ts';
import { SERVING_GATE, type ServingGate } from '../../../src/domain/drain/serving-gate.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { ServingGates, servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import type { ServingGateInput } from '../../../src/machines/serving-gate.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import { type ActGate, makeActGate } from './act-gate.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { type ObjectFixture, objectFixture } from './object-fixture.ts';
import { observeCollection } from './observed-collection.ts';
import type { Hand, SiteAddress } from './site.ts';
import { loseRequest, refuseRequest } from './troubles.ts';

/** Whether the pod is terminating or gone. */
interface World {
  readonly hasLeft: boolean;
}

const NAMESPACE = 'models-gates';
const TYPE = { apiVersion: 'v1', kind: 'Pod' };
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
const WRITTEN = 'gate.written';
const READ = 'backends.read';
const GRACE_SECONDS = 300;

const follows: ClusterHarness<World>['follows'] = ({ hasLeft }, { event }) => ({
  hasLeft: hasLeft || event.type === 'pod.left',
});

const hindrance = ({ hasLeft }: World, { event }: Moment): string | undefined =>
  hasLeft && event.type === 'pod.observed' ? 'a pod that has left is not looked at' : undefined;

/** The conditions of a pod with this gate. */
const conditionsOf = (
  { isOpen, isEvicting, areContainersReady }: ServingGate,
): readonly object[] => [
  { type: 'ContainersReady', status: areContainersReady ? 'True' : 'False' },
  ...(isOpen || isEvicting
    ? [{
      type: SERVING_GATE,
      status: isOpen ? 'True' : 'False',
      reason: isOpen ? 'Serving' : 'Evicting',
    }]
    : []),
];

/** A pod that stays while it is terminating: it has a node, and no kubelet. */
const podNamed = (name: string): object => ({
  ...TYPE,
  metadata: { name },
  spec: {
    nodeName: 'models-gates',
    containers: [{ name: 'c', image: 'none' }],
    readinessGates: [{ conditionType: SERVING_GATE }],
  },
});

/** The embedded cluster has no EndpointSlices of its own: a custom resource of that name. */
const SLICE_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'endpointslices.discovery.k8s.io' },
  spec: {
    group: 'discovery.k8s.io',
    scope: 'Namespaced',
    names: { kind: 'EndpointSlice', plural: 'endpointslices', singular: 'endpointslice' },
    versions: [{
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    }],
  },
};

const serveSlices = async (hand: Hand, { name }: SiteAddress): Promise<void> => {
  if (name !== 'embedded') return;
  await hand.call(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    SLICE_DEFINITION,
  );
};

/** The EndpointSlice of the path: whether it lists the pod as ready. */
const listPod = async (
  hand: Hand,
  { name, uid }: { readonly name: string; readonly uid: string },
  isReady: boolean,
): Promise<void> => {
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name },
    addressType: 'IPv4',
    endpoints: [{
      addresses: ['10.0.0.1'],
      conditions: { ready: isReady },
      targetRef: { kind: 'Pod', namespace: NAMESPACE, name, uid },
    }],
  };
  await hand.apply(`${SLICES}/${name}`, slice, 'models');
};

/** Whether the pod is still there when a later write of its gate arrives. */
const isWrittenLater = ({ rest }: PathStep<World>): boolean =>
  rest.find(({ event }) => event.type === WRITTEN)?.event['outcome'] === 'Written';

/** Gates before the two acts: a read that is given up, and a write that is begun, both wait. */
const actGates = () => {
  const [write, read] = [makeActGate(), makeActGate()];
  return {
    gateOf: (act: string): ActGate => act === 'writeGate' ? write : read,
    layer: Layer.effect(
      ServingGates,
      Effect.map(ServingGates, (gates) => ({
        write: (wanted) => Effect.andThen(write.pass, gates.write(wanted)),
        isListed: (namespace, uid) => Effect.andThen(read.pass, gates.isListed(namespace, uid)),
      })),
    ),
  };
};

/** The pod of one path, and how to wait until the watch shows that it is terminating. */
interface Fixtures {
  readonly pod: ObjectFixture<DrainPod>;
  readonly untilTerminating: () => Promise<unknown>;
}

const runOf = async (
  environment: RunEnvironment,
  { pod, untilTerminating }: Fixtures,
  drawn: ServingGateInput,
): Promise<PathRun<World>> => {
  const { names, hand, gate, services, number } = environment;
  const { name } = pod;
  const { gateOf, layer } = actGates();
  const runtime = ManagedRuntime.make(
    layer.pipe(Layer.provide(servingGatesLayer), Layer.provide(services)),
  );
  gate.open();
  await hand.must('POST', PODS, podNamed(name));
  const put = (wanted: ServingGate): Promise<DrainPod> =>
    pod.put({ status: { conditions: conditionsOf(wanted) } }, { anew: true });
  const { uid, key, gate: first } = await put(drawn.gate);
  const input = { ...drawn, uid, key, gate: first };
  names.match(input, drawn);
  const machine = provideServingGate(
    { runtime, time: realTime, telemetry: silentTelemetry },
    { podOf: () => ({ namespace: NAMESPACE, name }), onNotLeader: () => {} },
    (write) => write,
  );
  const makeGone = async (): Promise<void> => {
    await pod.remove();
    if (number % 2 === 0) await hand.must('POST', PODS, podNamed(name));
  };
  const arrangeRead = async (isListed: boolean): Promise<StepSource> => {
    if (isListed && number % 3 === 0) return await loseRequest(environment);
    if (isListed || number % 2 === 0) await listPod(hand, { name, uid }, isListed);
    else await hand.remove(`${SLICES}/${name}`);
    return 'server';
  };
  const leave = async (pathStep: PathStep<World>): Promise<StepSource> => {
    if (pathStep.world.hasLeft) return 'hand';
    if (isWrittenLater(pathStep)) {
      await hand.must('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: GRACE_SECONDS });
      await untilTerminating();
    } else await pod.remove();
    return 'watch';
  };
  return {
    machine,
    input,
    gateOf,
    arrange: async ({ event }) => {
      if (event.type === READ) return await arrangeRead(event['isListed'] === true);
      switch (event['outcome']) {
        case 'Fault':
          return await loseRequest(environment);
        case 'Refused':
          return refuseRequest(environment);
        case 'Gone':
          await makeGone();
      }
      return 'server';
    },
    observe: async (pathStep) => {
      const { event } = pathStep;
      if (event.type === 'pod.left') return { event, by: await leave(pathStep) };
      if (event.type !== 'pod.observed') return { event, by: 'word' };
      const { gate: live } = await put(event['gate'] as ServingGate);
      return { event: { ...event, gate: live }, by: 'watch' };
    },
    stop: async () => {
      await runtime.dispose();
      await hand.remove(`${PODS}/${name}`);
      await hand.remove(`${SLICES}/${name}`);
    },
  };
};

/** The harness of `servingGate`. */
export const servingGateHarness: ClusterHarness<World> = {
  world: { hasLeft: false },
  answers: { [WRITTEN]: 'writeGate', [READ]: 'readBackends' },
  hindrance,
  follows,
  open: async ({ hand, source, site }) => {
    await hand.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    await serveSlices(hand, site);
    const { environment: world, dispose } = liveEnvironment(source);
    const collection = await observeCollection(world, PODS, projectPod);
    return {
      begin: (environment, input) => {
        const name = `models-gate-${environment.number}`;
        const pod = objectFixture(hand, collection, { ...TYPE, path: PODS, name });
        const untilTerminating = () =>
          collection.until(() => pod.now()?.terminating === true || undefined);
        return runOf(environment, { pod, untilTerminating }, input as ServingGateInput);
      },
      close: async () => {
        collection.stop();
        await dispose();
      },
    };
  },
};
