/**
 * A real API server's responses to evictions, and how the drain's decision function classifies
 * them. No disruption controller runs, so the test sets the status of budgets.
 */
import { Effect } from 'effect';
import { expect, it, onTestFinished } from 'vitest';
import { type EvictionOutcome, evictionOutcome } from '../../src/domain/drain/answer.ts';
import { projectBudget } from '../../src/domain/drain/budget.ts';
import { projectPod } from '../../src/domain/drain/pod.ts';
import { slotNeed } from '../../src/domain/drain/slots.ts';
import { textAt } from '../../src/domain/json.ts';
import { KubeApi } from '../../src/effects/kube-api.ts';
import { type ClusterClient, clusterClient } from '../support/api/cluster-client.ts';
import { fileSource, liveEnvironment } from '../support/api/live-environment.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';

const TIMEOUT_MS = 300_000;
const CORE = '/api/v1/namespaces';
const POLICY = '/apis/policy/v1/namespaces';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

let made = 0;

/** A namespace with a pod and the other objects of a test. */
const scene = async (cluster: ClusterClient) => {
  const namespace = `answers-${made += 1}`;
  const pods = `${CORE}/${namespace}/pods`;
  const budgets = `${POLICY}/${namespace}/poddisruptionbudgets`;
  await cluster.create(CORE, [{ metadata: { name: namespace } }]);

  const pod = async (phase = 'Running', ready = true): Promise<string> => {
    const containers = [{ name: 'c', image: 'none' }];
    const metadata = { name: 'a', labels: { app: 'web' } };
    await cluster.create(pods, [{ metadata, spec: { containers, nodeName: 'nowhere' } }]);
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    await cluster.patch(`${pods}/a/status`, { status: { phase, conditions } });
    return textAt((await cluster.call('GET', `${pods}/a`)).body, 'metadata', 'uid') ?? '';
  };
  const budget = async (name: string, status: object, spec: object = {}): Promise<void> => {
    const selector = { matchLabels: { app: 'web' } };
    await cluster.create(budgets, [{ metadata: { name }, spec: { selector, ...spec } }]);
    const counts = {
      currentHealthy: 1,
      desiredHealthy: 1,
      disruptionsAllowed: 0,
      expectedPods: 1,
      observedGeneration: 1,
    };
    await cluster.patch(`${budgets}/${name}/status`, { status: { ...counts, ...status } });
  };
  const evict = async (uid: string, name = 'a'): Promise<EvictionOutcome> =>
    evictionOutcome(
      await cluster.call('POST', `${pods}/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: { preconditions: { uid } },
      }),
    );
  /** The drain's decision before the request. */
  const need = async (): Promise<string> => {
    const seen = projectPod((await cluster.call('GET', `${pods}/a`)).body);
    const known = (await cluster.list(budgets)).map(projectBudget);
    if (seen === undefined) return 'no pod';
    const verdict = slotNeed(seen, known.filter((one) => one !== undefined));
    return verdict._tag === 'Blocked' ? verdict.reason : verdict._tag;
  };
  return { namespace, pod, budget, evict, need, pods };
};

describeWithTestbed('evictions on a real API server', {}, (bed) => {
  const begin = async () => {
    const cluster = await clusterClient(bed());
    return { cluster, ...await scene(cluster) };
  };
  const evictionCase = (
    title: string,
    run: (at: Awaited<ReturnType<typeof begin>>) => Promise<void>,
  ) => it(title, async () => run(await begin()), TIMEOUT_MS);

  evictionCase('answer 201: accepted', async (at) => {
    const uid = await at.pod();
    expect(await at.need()).toBe('None');
    expect(await at.evict(uid)).toEqual({ _tag: 'Accepted' });
  });

  evictionCase('answer 404: gone', async ({ evict }) => {
    expect(await evict('x')).toEqual({ _tag: 'Gone' });
  });

  evictionCase('DR-22: another pod of that name is detected by its UID', async ({ pod, evict }) => {
    await pod();
    expect(await evict('another')).toEqual({ _tag: 'OtherPod' });
  });

  evictionCase(
    'DR-31: a budget without a slot is exhausted, and reports its disruptions',
    async (at) => {
      const uid = await at.pod();
      await at.budget('db', {});
      expect(await at.need()).toBe('One');
      expect(await at.evict(uid)).toEqual({
        _tag: 'BudgetExhausted',
        why: 'The disruption budget db needs 1 healthy pods and has 1 currently',
      });
    },
  );

  evictionCase('DR-32: a budget without a current status has Retry-After', async (at) => {
    const uid = await at.pod();
    await at.budget('db', { observedGeneration: 0, disruptionsAllowed: 1 });
    expect(await at.evict(uid)).toMatchObject({ _tag: 'BudgetUnsettled', retryAfterSeconds: 10 });
  });

  evictionCase('DR-31: two budgets over one running pod are refused, ready or not', async (at) => {
    const uid = await at.pod('Running', false);
    await at.budget('one', { disruptionsAllowed: 1 });
    await at.budget('two', { disruptionsAllowed: 1 });
    expect(await at.need()).toBe('TwoBudgets');
    expect(await at.evict(uid)).toMatchObject({ _tag: 'TwoBudgets' });
  });

  evictionCase('DR-31: a Pending pod passes two full budgets', async (at) => {
    const uid = await at.pod('Pending');
    await at.budget('one', {});
    await at.budget('two', {});
    expect(await at.need()).toBe('None');
    expect(await at.evict(uid)).toEqual({ _tag: 'Accepted' });
  });

  evictionCase(
    'DR-31: an unready pod passes a full budget while enough are healthy',
    async (at) => {
      const uid = await at.pod('Running', false);
      await at.budget('db', { observedGeneration: 0 });
      expect(await at.need()).toBe('None');
      expect(await at.evict(uid)).toEqual({ _tag: 'Accepted' });
    },
  );

  evictionCase('DR-31: an unready pod passes a full budget under AlwaysAllow', async (at) => {
    const uid = await at.pod('Running', false);
    const spec = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    await at.budget('db', { currentHealthy: 0 }, spec);
    expect(await at.need()).toBe('None');
    expect(await at.evict(uid)).toEqual({ _tag: 'Accepted' });
  });

  evictionCase('DR-31: an unready pod needs a slot while too few are healthy', async (at) => {
    const uid = await at.pod('Running', false);
    await at.budget('db', { currentHealthy: 0 });
    expect(await at.need()).toBe('One');
    expect(await at.evict(uid)).toMatchObject({ _tag: 'BudgetExhausted' });
  });

  evictionCase('a budget that lists too many evictions is broken', async (at) => {
    const uid = await at.pod();
    const names = Array.from({ length: 2001 }, (_, at) => [`p${at}`, '2026-01-01T00:00:00Z']);
    const disruptedPods = Object.fromEntries(names);
    await at.budget('db', { disruptionsAllowed: 1, disruptedPods });
    expect(await at.need()).toBe('BudgetBroken');
    expect(await at.evict(uid)).toMatchObject({ _tag: 'BudgetBroken' });
  });

  evictionCase('a pod of a namespace that is being deleted needs no eviction', async (at) => {
    const uid = await at.pod();
    await at.cluster.call('DELETE', `${CORE}/${at.namespace}`);
    expect(await at.evict(uid)).toEqual({ _tag: 'NamespaceTerminating' });
  });

  it('answer 403 of RBAC names the verb and the resource', async () => {
    const { pods } = await begin();
    const { environment, dispose } = liveEnvironment(fileSource(bed().kubeconfigFor('viewer')));
    onTestFinished(dispose);
    const answer = await environment.runtime.runPromise(Effect.gen(function* () {
      const api = yield* KubeApi;
      return yield* api.call({ method: 'POST', path: `${pods}/a/eviction`, body: {} });
    }));
    const outcome = evictionOutcome(answer);
    expect(outcome).toMatchObject({ _tag: 'Forbidden' });
    expect(outcome).toHaveProperty(
      'why',
      expect.stringContaining('create resource "pods/eviction"'),
    );
  }, TIMEOUT_MS);

  it.each(['Forbidden', 'Invalid', 'RequestEntityTooLarge'])(
    'a ValidatingAdmissionPolicy that answers with %s is named',
    async (reason) => {
      const { cluster, pod, evict, namespace } = await begin();
      const uid = await pod();
      const name = namespace;
      await cluster.create(`${ADMISSION}/validatingadmissionpolicies`, [{
        metadata: { name },
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            resourceRules: [{
              apiGroups: [''],
              apiVersions: ['*'],
              operations: ['CREATE'],
              resources: ['pods/eviction'],
            }],
          },
          validations: [{ expression: 'false', reason, message: 'not today' }],
        },
      }]);
      const match = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
      await cluster.create(`${ADMISSION}/validatingadmissionpolicybindings`, [{
        metadata: { name },
        spec: {
          policyName: name,
          validationActions: ['Deny'],
          matchResources: { namespaceSelector: match },
        },
      }]);
      // The policy is compiled some time after it was made; its pod is a new one each time.
      await expect.poll(async () => {
        const outcome = await evict('another');
        return outcome._tag;
      }).toBe('PolicyRefused');
      expect(await evict(uid)).toMatchObject({ _tag: 'PolicyRefused', policy: name });
    },
    TIMEOUT_MS,
  );
});
