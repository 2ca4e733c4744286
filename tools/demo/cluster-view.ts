/** Follows the demo's cluster with the operator's own caches. */
import { Layer, ManagedRuntime } from 'effect';
import { merge, type Observable } from 'rxjs';
import { type Informer, startInformer } from '../../src/actors/informers/informer.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { clockLayer } from '../../src/effects/effect-clock.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { GROUP_PATH } from '../../src/domain/api-group.ts';
import type { Identity } from '../../src/domain/facts.ts';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { phaseNamed } from '../../src/domain/machine-phase.ts';
import { identityOf, isDeleting } from '../../src/domain/object-meta.ts';
import { kubeConnection } from '../../src/effects/kube-connection.ts';
import { realTime } from '../../src/effects/real-time.ts';
import type { MachineSeen, Scene } from './scene.ts';

interface PodSeen extends Identity {
  readonly runs: boolean;
}
interface RequestSeen extends Identity {
  readonly acknowledged: boolean;
}
type MachineRow = Identity & MachineSeen;
interface NodeSeen extends Identity {
  readonly ready: boolean;
}

/** A live view of the cluster. */
export interface ClusterView {
  readonly changes: Observable<unknown>;
  readonly scene: (bound: number) => Scene;
  readonly close: () => Promise<void>;
}

const isReady = (raw: unknown): boolean =>
  listOrEmptyAt(raw, 'status', 'conditions').some((condition) =>
    textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True'
  );

/** A terminating pod counts neither as running nor as gone. */
const podOf = (raw: unknown): PodSeen | undefined => {
  const identity = identityOf(raw);
  return identity && { ...identity, runs: isReady(raw) && !isDeleting(raw) };
};

const requestOf = (raw: unknown): RequestSeen | undefined => {
  const identity = identityOf(raw);
  return identity &&
    { ...identity, acknowledged: textAt(raw, 'status', 'phase') === 'Acknowledged' };
};

const machineOf = (raw: unknown): MachineRow | undefined => {
  const identity = identityOf(raw);
  return identity && {
    ...identity,
    name: identity.key,
    phase: phaseNamed(textAt(raw, 'status', 'phase')) ?? null,
    nodeName: textAt(raw, 'status', 'nodeRef', 'name') ?? '',
    kind: textAt(raw, 'spec', 'labels', 'node.kubernetes.io/instance-type') ?? '',
    zone: textAt(raw, 'spec', 'labels', 'topology.kubernetes.io/zone') ?? '',
  };
};

const nodeOf = (raw: unknown): NodeSeen | undefined => {
  const identity = identityOf(raw);
  return identity && { ...identity, ready: isReady(raw) };
};

/** Opens the view; `kubeconfig` is a path. */
export const viewCluster = (kubeconfig: string): ClusterView => {
  const connection = kubeConnection({
    source: { _tag: 'File', path: kubeconfig },
    version: 'demo',
    telemetry: silentTelemetry,
  });
  const runtime = ManagedRuntime.make(
    Layer.merge(Layer.orDie(connection), clockLayer(realTime)),
  );
  const environment = makeActorEnvironment({
    time: realTime,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const follow = <T extends Identity>(
    id: string,
    path: string,
    project: (raw: unknown) => T | undefined,
  ): Informer<T> => startInformer(environment, { id, path, project });
  const pods = follow('pods', '/api/v1/namespaces/default/pods', podOf);
  const requests = follow('capacityrequests', `${GROUP_PATH}/capacityrequests`, requestOf);
  const machines = follow('upcomingnodes', `${GROUP_PATH}/upcomingnodes`, machineOf);
  const nodes = follow('nodes', '/api/v1/nodes', nodeOf);
  return {
    changes: merge(pods.facts, requests.facts, machines.facts, nodes.facts),
    scene: (bound) => ({
      pods: pods.size,
      running: [...pods.values()].filter(({ runs }) => runs).length,
      requests: requests.size,
      acknowledged: [...requests.values()].filter(({ acknowledged }) => acknowledged).length,
      machines: new Map([...machines.values()].map((machine) => [machine.name, machine])),
      nodes: new Map([...nodes.values()].map(({ key, ready }): [string, boolean] => [key, ready])),
      bound,
    }),
    close: async () => {
      for (const reflector of [pods, requests, machines, nodes]) reflector.stop();
      await runtime.dispose();
    },
  };
};
