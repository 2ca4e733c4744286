/**
 * A cluster that serves `lifecycle.k8s.io`: its clients, requesters and responders. Must be called
 * inside a test, with which it ends.
 */
import { onTestFinished } from 'vitest';
import { asRecord, type JsonRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { KubeApi, type KubeCall } from '../../../src/effects/kube-api.ts';
import { applyCall } from '../../../src/effects/server-side-apply.ts';
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import { eventually } from '../eventually.ts';
import { NATIVE_DEFINITIONS } from './native-definitions.ts';
import { connected } from './served-requests.ts';

const ROOT = '/apis/lifecycle.k8s.io/v1alpha1';
const IN_DEFAULT = `${ROOT}/namespaces/default`;
const PODS = '/api/v1/namespaces/default/pods';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A pod of the site. */
export interface SitePod {
  readonly name: string;
  readonly uid: string;
}

const metadataIn = (object: unknown, field: string): string =>
  textAt(object, 'metadata', field) ?? '';

/** The objects about a pod, as a person sees them. */
const about = ({ uid }: SitePod, objects: readonly unknown[]): readonly JsonRecord[] =>
  objects.flatMap((one) =>
    textAt(one, 'spec', 'target', 'pod', 'uid') === uid ? [asRecord(one) ?? {}] : []
  );

/** `fruit.example.com/actor-b Active`, in the order of the priorities. */
export const statesIn = (eviction: unknown): readonly string[] =>
  listOrEmptyAt(eviction, 'status', 'targetResponders')
    .map((one) => `${textAt(one, 'name')} ${textAt(one, 'state')}`);

/** The requests of an administrator. */
const caller = (kubeconfig: string) => {
  const runtime = connected(kubeconfig);
  onTestFinished(() => runtime.dispose());
  return async (call: KubeCall) =>
    await runtime.runPromise(KubeApi.use((api) => api.call({ ...call, timeoutMs: 60_000 })));
};

/** The site with the kinds installed. */
export const nativeSite = async ({ kubeconfig }: { readonly kubeconfig: string }) => {
  const call = caller(kubeconfig);
  const must = async (request: KubeCall): Promise<unknown> => {
    const { status, body } = await call(request);
    if (status >= 300) {
      throw new Error(`${request.method} ${request.path}: ${JSON.stringify(body)}`);
    }
    return body;
  };
  const list = async (path: string) => listOrEmptyAt(await must({ method: 'GET', path }), 'items');
  const apply = (path: string, object: JsonRecord, fieldManager: string) =>
    must(applyCall(path, object, { fieldManager, force: true }));
  for (const definition of NATIVE_DEFINITIONS) {
    const { status } = await call({ method: 'POST', path: DEFINITIONS, body: definition });
    if (status !== 201 && status !== 409) throw new Error(`Cannot define: status ${status}`);
  }
  for (const resource of ['evictionrequests', 'evictions']) {
    await eventually(async () => {
      const { status } = await call({ method: 'GET', path: `${ROOT}/${resource}` });
      return status === 200 || undefined;
    }, { what: `${resource} are served`, everyMs: 100 });
    for (const one of await list(`${ROOT}/${resource}`)) {
      await call({
        method: 'DELETE',
        path: `${IN_DEFAULT}/${resource}/${metadataIn(one, 'name')}`,
      });
    }
  }
  const requestName = (pod: SitePod, requester: string): string =>
    `${pod.name}-${requester.replaceAll('/', '-')}`;
  const identified = (kind: string, name: string) => ({
    apiVersion: 'lifecycle.k8s.io/v1alpha1',
    kind,
    metadata: { name },
  });
  const evictionsOf = async (pod: SitePod) => about(pod, await list(`${IN_DEFAULT}/evictions`));
  const requestsOf = async (pod: SitePod) =>
    about(pod, await list(`${IN_DEFAULT}/evictionrequests`));
  return {
    call,
    evictionsOf,
    requestsOf,
    /** A pod that registers these interceptors in its annotation. */
    createPod: async (name: string, interceptors: readonly string[]): Promise<SitePod> => {
      const body = {
        metadata: { name, annotations: { [INTERCEPTORS_ANNOTATION]: interceptors.join(',') } },
        spec: {
          containers: [{ name: 'c', image: 'none' }],
          automountServiceAccountToken: false,
        },
      };
      return { name, uid: metadataIn(await must({ method: 'POST', path: PODS, body }), 'uid') };
    },
    /** A requester states its intent in an object of its own. */
    request: (pod: SitePod, requester: string, intent = 'Eviction') => {
      const name = requestName(pod, requester);
      return apply(`${IN_DEFAULT}/evictionrequests/${name}`, {
        ...identified('EvictionRequest', name),
        spec: { target: { pod: { name: pod.name, uid: pod.uid } }, requester, intent },
      }, requester.replace('/', '-'));
    },
    /** A responder reports in the newest Eviction of the pod. */
    report: async (pod: SitePod, responder: string, report: JsonRecord) => {
      const name = metadataIn((await evictionsOf(pod)).at(-1), 'name');
      return await apply(`${IN_DEFAULT}/evictions/${name}/status`, {
        ...identified('Eviction', name),
        status: { responders: [{ name: responder, ...report }] },
      }, responder.replace('/', '-'));
    },
    hasPod: async ({ name }: SitePod): Promise<boolean> =>
      (await call({ method: 'GET', path: `${PODS}/${name}` })).status === 200,
    /** Waits until the newest Eviction of a pod is as wanted. */
    untilEviction: (pod: SitePod, what: string, isSo: (eviction: JsonRecord) => boolean) =>
      eventually(async () => {
        const eviction = (await evictionsOf(pod)).at(-1);
        if (eviction !== undefined && isSo(eviction)) return eviction;
        throw new Error(JSON.stringify([eviction, await requestsOf(pod)]));
      }, { what, everyMs: 100 }),
  };
};
