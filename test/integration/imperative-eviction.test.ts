/** The last interceptor of EvictionRequests on a real API server: the eviction by the operator. */
import { KubeConfig } from '@kubernetes/client-node';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientOf } from '../../packages/interceptor/client-node.ts';
import {
  defineInterceptor,
  type Interception,
  processSeed,
  realTime,
  startInterceptor,
} from '../../packages/interceptor/mod.ts';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { type ClusterClient, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { ACTOR_A, ACTOR_B, IMPERATIVE } from '../support/eviction-requests/request-fixture.ts';
import { activeIn, reportOf } from '../support/eviction-requests/request-reading.ts';
import {
  type RequestScene,
  requestScene,
  type SceneTraits,
} from '../support/eviction-requests/request-scene.ts';
import { conditionsIn } from '../support/eviction-requests/served-requests.ts';

const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const POLICIES = '/apis/admissionregistration.k8s.io/v1';
/** Longer than the longest backoff of an eviction. */
const CALM_MS = 300_000;
/** Nothing on a node: without a kubelet such a pod is terminating for as long as it likes. */
const ON_NODE = { nodeName: 'nowhere', terminationGracePeriodSeconds: 600 };

/** A budget that lets none of the pods with this label leave. */
const closeBudget = async (cluster: ClusterClient, app: string): Promise<string> => {
  const path = `${BUDGETS}/${app}`;
  const selector = { matchLabels: { app } };
  await cluster.create(BUDGETS, [{ metadata: { name: app }, spec: { minAvailable: 1, selector } }]);
  await cluster.call('PATCH', `${path}/status`, {
    status: {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      expectedPods: 1,
      currentHealthy: 1,
      desiredHealthy: 1,
    },
  });
  onTestFinished(async () => {
    await cluster.call('DELETE', path);
  });
  return path;
};

/** The pod runs, so that budgets protect it. */
const makeReady = async ({ cluster, podPath }: RequestScene): Promise<void> => {
  await cluster.call('PATCH', `${podPath}/status`, {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
};

/** A policy refuses to evict this pod, whoever asks. */
const refuseEvictions = async ({ cluster, pod, podPath }: RequestScene): Promise<void> => {
  const name = `keeps-${nameOf(pod)}`;
  const constraint = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] };
  await cluster.call('POST', `${POLICIES}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ ...constraint, operations: ['CREATE'] }] },
      validations: [{
        expression: `request.name != '${nameOf(pod)}'`,
        message: 'not in office hours',
      }],
    },
  });
  await cluster.call('POST', `${POLICIES}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  onTestFinished(async () => {
    for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
      await cluster.call('DELETE', `${POLICIES}/${kind}/${name}`);
    }
  });
  // A policy is enforced some seconds after it was created.
  await eventually(async () => {
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: nameOf(pod) },
    };
    const path = `${podPath}/eviction?dryRun=All`;
    return (await cluster.call('POST', path, eviction)).status >= 400;
  }, { what: 'the policy to be enforced', everyMs: 250 });
};

const messageIn = (request: JsonRecord): string =>
  textAt(reportOf(request, IMPERATIVE), 'message') ?? '';

describeWithTestbed('the imperative eviction on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await enforcePolicies(bed());
  });

  const scene = (traits: SceneTraits = {}) => requestScene(bed(), traits);

  /** A request whose pod a budget keeps. */
  const kept = async () => {
    const one = await scene();
    await makeReady(one);
    const budget = await closeBudget(one.cluster, nameOf(one.pod));
    await one.join();
    const request = await one.until(
      'the budget is named',
      (stored) => messageIn(stored).includes(nameOf(one.pod)),
    );
    return { ...one, budget, request };
  };

  it('ER-65: it evicts only once all others are processed', async () => {
    const { join, untilActive, untilFinal, complete, podStatus, caughtUp } = await scene({
      interceptors: [ACTOR_B],
    });
    await join();
    await untilActive(ACTOR_B);
    await caughtUp();
    expect(await podStatus()).toBe(200);
    await complete(ACTOR_B);
    await untilFinal('Evicted=True PodDeleted');
  });

  it('ER-66: a pod of a DaemonSet is not evicted, and the request stays open', async () => {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      name: 'agents',
      uid: '00000000-0000-4000-8000-000000000002',
      controller: true,
    };
    const { join, until, podStatus, stored, caughtUp } = await scene({
      metadata: { ownerReferences: [owner] },
    });
    await join();
    await until('its message', (one) => messageIn(one).includes('DaemonSet'));
    await caughtUp();
    expect(conditionsIn(await stored())).toEqual([]);
    expect(await podStatus()).toBe(200);
  });

  it('ER-67: a terminating pod is not evicted again', async () => {
    const { cluster, pod, podPath, join, untilActive, isTerminating, caughtUp } = await scene({
      spec: ON_NODE,
    });
    await cluster.call('DELETE', podPath);
    expect(await isTerminating()).toBe(true);
    await join();
    await untilActive(IMPERATIVE);
    await caughtUp();
    const evictions = (await bed().audit()).filter(({ subresource, name }) =>
      subresource === 'eviction' && name === nameOf(pod)
    );
    expect(evictions).toEqual([]);
  });

  it('ER-68: the message has the count of refused calls', async () => {
    const one = await scene();
    const { join, until, podStatus } = one;
    await refuseEvictions(one);
    await join();
    const refused = await until(
      'a refused call',
      (request) => /number of retries: [1-9]/.test(messageIn(request)),
    );
    expect(messageIn(refused)).toContain('Could not evict a pod due to failing eviction requests');
    expect(messageIn(refused)).toContain('not in office hours');
    expect(await podStatus()).toBe(200);
  });

  it('ER-69: a pod with an emptyDir and without an owner is evicted', async () => {
    const { join, untilFinal } = await scene({
      spec: { volumes: [{ name: 'scratch', emptyDir: {} }] },
    });
    await join();
    await untilFinal('Evicted=True PodDeleted');
  });

  it('ER-70: a new pod of the same name is not evicted', async () => {
    const one = await scene({ interceptors: [ACTOR_B] });
    const { join, leave, stop, serve, replacePod, untilActive, until, cluster, podPath } = one;
    await join();
    await untilActive(ACTOR_B);
    await stop();
    const other = await replacePod();
    serve();
    await one.caughtUp();
    one.forward(CALM_MS);
    await until('it is final', (request) => conditionsIn(request).length > 0);
    await leave();
    expect(uidOf((await cluster.call('GET', podPath)).body)).toBe(uidOf(other));
  });

  it('ER-71: it reports at once, also while a budget keeps the pod', async () => {
    const { request } = await kept();
    expect(reportOf(request, IMPERATIVE)).toMatchObject({
      startTime: expect.any(String),
      heartbeatTime: expect.any(String),
    });
  });

  it('ER-73: nothing is evicted once the last requester has left', async () => {
    const { cluster, budget, leave, untilFinal, podStatus, forward, caughtUp } = await kept();
    await leave();
    await untilFinal('Canceled=True NoRequesters');
    await cluster.call('DELETE', budget);
    forward(CALM_MS);
    await caughtUp();
    expect(await podStatus()).toBe(200);
  });

  describe('beside an interceptor of the SDK', () => {
    /** An interceptor A that ends at once, and its calls. */
    const startActorA = (): readonly Interception[] => {
      const config = new KubeConfig();
      config.loadFromFile(bed().kubeconfig);
      const calls: Interception[] = [];
      const definition = defineInterceptor({
        name: ACTOR_A,
        intercept: (call) => {
          calls.push(call);
          return Promise.resolve('Done');
        },
      });
      const options = { client: clientOf(config), time: realTime, seed: processSeed() };
      const running = startInterceptor(definition, options);
      onTestFinished(running.stop);
      return calls;
    };

    it('ER-62: it acts when it is active, and for the pod of the request alone', async () => {
      const calls = startActorA();
      const { join, untilActive, untilFinal, complete, pod, caughtUp } = await scene({
        interceptors: [ACTOR_B, ACTOR_A],
      });
      await join();
      await untilActive(ACTOR_B);
      await caughtUp();
      expect(calls).toEqual([]);
      await complete(ACTOR_B);
      const ended = await untilFinal('Evicted=True PodDeleted');
      expect(calls.map(({ pod: { uid } }) => uid)).toEqual([uidOf(pod)]);
      expect(reportOf(ended, ACTOR_A)).toMatchObject({ message: 'Done' });
      expect(listOrEmptyAt(ended, 'status', 'processedInterceptors'))
        .toEqual([ACTOR_B, ACTOR_A, IMPERATIVE]);
      expect(activeIn(ended)).toBeUndefined();
    });
  });
});

const GROUPED = {
  apiServerFlags: [
    '--feature-gates=GenericWorkload=true',
    '--runtime-config=scheduling.k8s.io/v1alpha2=true',
  ],
};

describeWithTestbed('pods of groups on a real API server', GROUPED, (bed) => {
  it('ER-45: the request of a pod of a PodGroup is canceled', async () => {
    const { join, untilFinal, podStatus } = await requestScene(bed(), {
      spec: { schedulingGroup: { podGroupName: 'gang' } },
    });
    await join();
    const canceled = await untilFinal('Canceled=True ValidationFailed');
    expect(textAt(listOrEmptyAt(canceled, 'status', 'conditions')[0], 'message'))
      .toContain('is part of a Workload/PodGroup');
    expect(await podStatus()).toBe(200);
  });
});
