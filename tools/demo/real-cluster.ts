/**
 * A real control plane as the cluster of a demo: followed with the operator's own informers.
 *
 * Promises: everything that it starts ends with `stop`.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { type Informer, startInformer } from '../../src/actors/informers/informer.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import type { DemoCluster } from '../../src/demo.ts';
import { GROUP_PATH } from '../../src/domain/api-group.ts';
import type { Identity } from '../../src/domain/facts.ts';
import { textAt } from '../../src/domain/json.ts';
import { identityOf } from '../../src/domain/object-meta.ts';
import { clockLayer } from '../../src/effects/effect-clock.ts';
import { EVICTION_REQUESTS_PATH } from '../../src/effects/evictions-api.ts';
import { KubeApi } from '../../src/effects/kube-api.ts';
import { kubeConnection } from '../../src/effects/kube-connection.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { applyCall } from '../../src/effects/server-side-apply.ts';
import type { Print } from '../testbed/go-builds.ts';
import { startTestbed } from '../testbed/testbed.ts';

/** The collections that a demo shows. */
const COLLECTIONS = [
  '/api/v1/nodes',
  '/api/v1/namespaces/default/pods',
  `${GROUP_PATH}/capacityrequests`,
  `${GROUP_PATH}/upcomingnodes`,
  '/apis/policy/v1/poddisruptionbudgets',
  '/apis/events.k8s.io/v1/events',
  EVICTION_REQUESTS_PATH,
] as const;

interface Followed extends Identity {
  readonly raw: unknown;
}

const followed = (raw: unknown): Followed | undefined => {
  const identity = identityOf(raw);
  return identity && { ...identity, raw };
};

const CONTENT_TYPES = { PATCH: 'application/merge-patch+json' } as const;

/** The API server of a kubeconfig, as a demo asks it. */
const asking = (kubeconfig: string) => {
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
  const informers = new Map<string, Informer<Followed>>(
    COLLECTIONS.map((
      path,
    ) => [path, startInformer(environment, { id: path, path, project: followed })]),
  );
  const ask: DemoCluster['ask'] = async (method, path, body) => {
    const { status, body: answer } = await runtime.runPromise(
      Effect.flatMap(KubeApi, ({ call }) =>
        call({
          method,
          path,
          ...(body === undefined ? {} : { body }),
          ...(method === 'PATCH' ? { contentType: CONTENT_TYPES.PATCH } : {}),
        })),
    );
    if (status >= 400) throw new Error(`${method} ${path}: ${textAt(answer, 'message') ?? status}`);
  };
  const apply: DemoCluster['apply'] = async (path, object, fieldManager) => {
    const { status, body: answer } = await runtime.runPromise(
      Effect.flatMap(
        KubeApi,
        ({ call }) => call(applyCall(path, object, { fieldManager, force: true })),
      ),
    );
    if (status >= 400) throw new Error(`apply ${path}: ${textAt(answer, 'message') ?? status}`);
  };
  return {
    apply,
    ask,
    list: (path: string): readonly unknown[] =>
      [...informers.get(path)?.values() ?? []].map(({ raw }) => raw),
    close: async () => {
      for (const informer of informers.values()) informer.stop();
      await runtime.dispose();
    },
  };
};

/** Starts a control plane without Nodes, with the custom resources of the operator. */
export const realCluster = async (print: Print): Promise<DemoCluster> => {
  const bed = await startTestbed({ controllers: true, scheduler: true, kwok: true, print });
  await bed.installCrds();
  const { apply, ask, list, close } = asking(bed.kubeconfigFor('admin'));
  return {
    kubeconfig: bed.kubeconfig,
    kubeconfigs: {
      operator: bed.kubeconfigFor('tidegate'),
      fleet: bed.kubeconfigFor('fleet'),
    },
    apply,
    ask,
    list,
    silence: () => {
      throw new Error('KWOK runs all nodes; use "tidegate demo"');
    },
    stop: async () => {
      await close();
      await bed.stop();
    },
  };
};
