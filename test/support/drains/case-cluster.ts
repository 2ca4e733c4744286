/** The embedded cluster of a case of `tidegate drain`. */
import { runCluster } from '../../../packages/embedded-kubernetes/src/run.ts';
import { definitions } from '../../../src/api/definitions.ts';
import { listOrEmptyAt, textAt, valueAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { eventually } from '../eventually.ts';
import { budget, DAEMON_SET, deployment, type DrainCase, podBody } from './drain-cases.ts';

/** Pods start and stop in tenths of seconds. */
const RATE = 20;
const CORE = '/api/v1/namespaces/default';
/** The pods of the case. */
export const PODS = `${CORE}/pods`;

type Method = 'GET' | 'POST' | 'PATCH';

/** Starts the nodes of a case on an embedded cluster; nothing is on them yet. */
export const caseCluster = async (asked: DrainCase) => {
  const running = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: asked.seed,
    nodes: asked.nodes.length,
    rate: RATE,
    definitions: definitions(),
  });
  const ask = (method: Method, path: string, body?: object): unknown => {
    const answer = running.cluster.answer({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(method === 'PATCH'
        ? { headers: { 'content-type': 'application/merge-patch+json' } }
        : {}),
    });
    if (answer._tag !== 'Answer' || answer.status >= 300) throw new Error(JSON.stringify(answer));
    return answer.body;
  };
  return { running, ask };
};

/** The running cluster of a case. */
export type CaseCluster = Awaited<ReturnType<typeof caseCluster>>;

const isSettled = (pod: unknown): boolean =>
  ['Running', 'Succeeded'].includes(textAt(pod, 'status', 'phase') ?? '');

/** Creates what is on the nodes, and waits until all of it runs and budgets are counted. */
export const populate = async (
  { ask }: CaseCluster,
  { pods, replicas, hasDaemonSet, nodes }: DrainCase,
): Promise<void> => {
  const owner = ask('POST', `${CORE}/configmaps`, { metadata: { name: 'owner' } });
  for (const pod of pods) ask('POST', PODS, podBody(pod, textAt(owner, 'metadata', 'uid') ?? ''));
  if (hasDaemonSet) ask('POST', '/apis/apps/v1/namespaces/default/daemonsets', DAEMON_SET);
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  ask('POST', budgets, budget('guarded', { minAvailable: '100%' }));
  if (replicas > 0) {
    ask('POST', '/apis/apps/v1/namespaces/default/deployments', deployment(replicas));
    ask('POST', budgets, budget('web', { maxUnavailable: 1 }));
  }
  const wanted = pods.length + replicas + (hasDaemonSet ? nodes.length : 0);
  await eventually(() => {
    const listed = listOrEmptyAt(ask('GET', PODS), 'items');
    return listed.length === wanted && listed.every(isSettled);
  }, { what: 'that all pods run' });
  for (const { name, finished } of pods) {
    if (finished) ask('PATCH', `${PODS}/${name}/status`, { status: { phase: 'Succeeded' } });
  }
  await eventually(() => {
    const listed = listOrEmptyAt(ask('GET', budgets), 'items');
    return listed.every((one) =>
      valueAt(one, 'status', 'observedGeneration') !== undefined &&
      (textAt(one, 'metadata', 'name') !== 'web' ||
        valueAt(one, 'status', 'disruptionsAllowed') === 1)
    );
  }, { what: 'that budgets are counted' });
};
