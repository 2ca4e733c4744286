/**
 * Pods as demand in small: an API server in memory and the registry of pods, on one simulated time.
 * What was started is stopped after each test.
 */
import { Layer, ManagedRuntime } from 'effect';
import { BehaviorSubject } from 'rxjs';
import { afterEach } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { startPodDemands } from '../../../src/actors/capacity-requests/pod-demands.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import { projectOwnedRequest } from '../../../src/domain/pod-demand/owned-request.ts';
import { NO_DEFAULTS, type PenaltyDefaults } from '../../../src/domain/pod-demand/penalties.ts';
import { podDemandProjector } from '../../../src/domain/pod-demand/pod-demand.ts';
import { OWNED_BY_POD, requestName } from '../../../src/domain/pod-demand/pod-request.ts';
import { selectedNamespaceProjector } from '../../../src/domain/pod-demand/selected-namespace.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { podRequestsLayer } from '../../../src/effects/pod-requests.ts';
import { fakeApi, fakeObjects } from '../api/fake-objects.ts';

/** Where the requests of the rig are served: all its pods are in one namespace. */
const REQUESTS_PATH = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The UID of the pod of a name, in its nth life. */
export const podUid = (name: string, life = 1): string =>
  `${name.padEnd(8, 'x').slice(0, 8)}-0000-4000-8000-${String(life).padStart(12, '0')}`;

/** A pod as the API server returns it. */
export interface PodTraits {
  readonly life?: number;
  readonly cpu?: string;
  readonly phase?: string;
  readonly metadata?: object;
  readonly spec?: object;
}

const podObject = (name: string, traits: PodTraits): object => {
  const { life = 1, cpu = '1', phase = 'Pending', metadata, spec } = traits;
  return {
    metadata: { name, namespace: 'default', uid: podUid(name, life), ...metadata },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], ...spec },
    status: { phase },
  };
};

/** Options of a rig. */
export interface PodRigOptions {
  /** Whether the lists are complete from the beginning. */
  readonly synced?: boolean;
  readonly leading?: boolean;
  readonly selectsNamespace?: (labels: Readonly<Record<string, string>>) => boolean;
}

/** The rig's writes and Events, counted. */
const counting = (): { readonly counted: Map<string, number>; readonly telemetry: Telemetry } => {
  const counted = new Map<string, number>();
  return {
    counted,
    telemetry: {
      ...silentTelemetry,
      count: (name, by, ...[labels]) => {
        const key = [name, ...Object.values(labels ?? {})].join(' ');
        counted.set(key, (counted.get(key) ?? 0) + by);
      },
    },
  };
};

/** A cluster with pods, and the registry on it. */
export const podRig = ({ synced = true, leading = true, selectsNamespace }: PodRigOptions = {}) => {
  const time = simulatedTime();
  const requests = fakeObjects(REQUESTS_PATH, (raw) => projectOwnedRequest(raw));
  const pods = fakeObjects('/api/v1/pods', podDemandProjector());
  const namespaces = fakeObjects(
    '/api/v1/namespaces',
    selectedNamespaceProjector(selectsNamespace ?? (() => true)),
  );
  const { counted, telemetry } = counting();
  const notes: EventNote[] = [];
  const defaults = new BehaviorSubject<PenaltyDefaults>(NO_DEFAULTS);
  const layer = podRequestsLayer({ telemetry, intern: (text) => text }).pipe(
    Layer.provideMerge(fakeApi([requests])),
    Layer.provideMerge(clockLayer(time)),
  );
  const runtime = ManagedRuntime.make(layer);
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  if (synced) {
    namespaces.list();
    pods.list();
    requests.list();
  }
  const start = () => {
    const registry = startPodDemands(environment, {
      pods: pods.reflector,
      requests: requests.reflector,
      namespaces: selectsNamespace === undefined ? undefined : namespaces.reflector,
      defaults,
      record: (note) => notes.push(note),
    });
    registry.setLeading(leading);
    return registry;
  };
  let registry = start();
  stops.push(async () => {
    const stopping = registry.stop();
    await time.advance(20_000);
    await stopping;
    await runtime.dispose();
  });
  const nameOf = (pod: string, life = 1): string => requestName(pod, podUid(pod, life));
  return {
    time,
    requests,
    pods,
    namespaces,
    counted,
    notes,
    defaults,
    nameOf,
    settle: time.settle,
    registry: () => registry,
    /** Creates or updates a pod. */
    pod: (name: string, traits: PodTraits = {}) => pods.put(name, podObject(name, traits)),
    /** A pod's request by another controller. */
    putRequest: (name: string, pod: string, more: object = {}) =>
      requests.put(name, {
        metadata: {
          name,
          namespace: 'default',
          uid: `other-${name}`,
          labels: { [OWNED_BY_POD]: podUid(pod) },
          ownerReferences: [{ kind: 'Pod', name: pod, uid: podUid(pod) }],
        },
        spec: { resources: { cpu: '7' }, priority: 0 },
        status: { phase: 'Acknowledged' },
        ...more,
      }),
    /** As the garbage collector does for a pod that went. */
    collect: (pod: string, life = 1) => requests.remove(nameOf(pod, life)),
    cpuOf: (name: string) => textAt(requests.get(name), 'spec', 'resources', 'cpu'),
    phaseOf: (name: string) => textAt(requests.get(name), 'status', 'phase'),
    penaltyOf: (name: string) => valueAt(requests.get(name), 'spec', 'interruptionPenalty'),
    /** A new process on the same cluster, while what the old one sent is still under way. */
    crash: () => {
      void registry.stop();
      registry = start();
    },
    /** A new process on the same cluster, after the old one has ended. */
    restart: async () => {
      await registry.stop();
      registry = start();
    },
  };
};
