/** What users may do with EvictionRequests: admission policies on a real API server. */
import { beforeAll, expect, it } from 'vitest';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import { clusterClient, uidOf } from '../support/api/cluster-client.ts';
import { type AskAs, impersonatedClient } from '../support/api/impersonated-client.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { enforcePolicies } from '../support/eviction-requests/enforced-policies.ts';
import {
  ACTOR_A,
  ACTOR_B,
  atSeconds,
  BALANCER,
  DRAIN,
  entry,
  IMPERATIVE,
} from '../support/eviction-requests/request-fixture.ts';
import { createPod, REQUESTS } from '../support/eviction-requests/served-requests.ts';

const GROUP = 'lifecycle.tidegate.dev';
const [CONTROLLER, TENANT, REQUESTER, ACTOR] = ['operator', 'tenant', 'drainer', 'actor-b'];

const rule = (
  apiGroup: string,
  resources: readonly string[],
  verbs: readonly string[],
) => ({ apiGroups: [apiGroup], resources, verbs });

/** Everybody may write the objects: only the policies tell them apart. */
const WRITES = rule(GROUP, ['evictionrequests', 'evictionrequests/status'], ['*']);
const PODS = ['get', 'list', 'create', 'update', 'patch'];

const RIGHTS: Readonly<Record<string, readonly object[]>> = {
  [CONTROLLER]: [
    WRITES,
    { ...rule(GROUP, ['controllers'], ['act']), resourceNames: ['evictionrequest'] },
  ],
  [TENANT]: [WRITES, rule('', ['pods'], PODS)],
  [REQUESTER]: [WRITES, rule('', ['pods'], ['delete'])],
  [ACTOR]: [
    WRITES,
    { ...rule(GROUP, ['interceptors'], ['report']), resourceNames: [ACTOR_B] },
  ],
};

const grants = (): string =>
  Object.entries(RIGHTS).flatMap(([name, rules]) => [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `test-${name}` },
      rules,
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `test-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `test-${name}` },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    },
  ]).map((object) => JSON.stringify(object)).join('\n---\n');

let pods = 0;

interface Scene {
  readonly pod: JsonRecord;
  /** Creates the request of the pod. */
  readonly create: (user: string, requesters?: readonly string[]) => Promise<string>;
  readonly setRequesters: (user: string, requesters: readonly string[]) => Promise<string>;
  /** Merge-patches the status; the answer is the refusal, empty when it was accepted. */
  readonly setStatus: (user: string, status: JsonRecord) => Promise<string>;
  readonly remove: (user: string) => Promise<string>;
}

const sceneOf = async (bed: Testbed): Promise<Scene> => {
  const cluster = await clusterClient(bed);
  const ask = await impersonatedClient(bed);
  const pod = await createPod(cluster, `guarded-${pods += 1}`, [ACTOR_B, ACTOR_A]);
  const path = `${REQUESTS}/${uidOf(pod)}`;
  const refusal = async (...[user, call]: Parameters<AskAs>): Promise<string> => {
    const { status, body } = await ask(user, call);
    return status < 300 ? '' : textAt(body, 'message') ?? `${status}`;
  };
  const named = (requesters: readonly string[]) => requesters.map((name) => ({ name }));
  return {
    pod,
    create: (user, requesters = [DRAIN]) =>
      refusal(user, {
        method: 'POST',
        path: REQUESTS,
        body: {
          apiVersion: `${GROUP}/v1alpha1`,
          kind: 'EvictionRequest',
          metadata: { name: uidOf(pod) },
          spec: {
            target: { pod: { name: textAt(pod, 'metadata', 'name'), uid: uidOf(pod) } },
            requesters: named(requesters),
          },
        },
      }),
    setRequesters: (user, requesters) =>
      refusal(user, { method: 'PATCH', path, body: { spec: { requesters: named(requesters) } } }),
    setStatus: (user, status) =>
      refusal(user, { method: 'PATCH', path: `${path}/status`, body: { status } }),
    remove: (user) => refusal(user, { method: 'DELETE', path }),
  };
};

const TARGETS = [ACTOR_B, ACTOR_A, IMPERATIVE];
const entriesWith = (...given: readonly JsonRecord[]) =>
  TARGETS.map((name) => given.find((one) => one['name'] === name) ?? { name, message: '' });

/** What the controller writes first. */
const FIRST = {
  observedGeneration: 1,
  targetInterceptors: TARGETS.map((name) => ({ name })),
  activeInterceptors: [ACTOR_B],
  interceptors: entriesWith(entry(ACTOR_B, { startTime: 0 })),
};

const bReports = (times: Readonly<Record<string, number>>, message = '') => ({
  interceptors: entriesWith(entry(ACTOR_B, { startTime: 0, ...times }, message)),
});

const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: 'Test',
  message: '',
  lastTransitionTime: atSeconds(9),
});

describeWithTestbed('policies of EvictionRequests on a real API server', {}, (bed) => {
  beforeAll(async () => {
    await bed().installCrds();
    await bed().apply(grants());
    await enforcePolicies(bed());
  });

  /** A request whose first interceptor is active. */
  const started = async (): Promise<Scene> => {
    const scene = await sceneOf(bed());
    expect(await scene.create(REQUESTER)).toBe('');
    expect(await scene.setStatus(CONTROLLER, FIRST)).toBe('');
    return scene;
  };

  it('ER-11: requesting an eviction needs the permission to delete the pod', async () => {
    const { create } = await sceneOf(bed());
    expect(await create(TENANT)).toContain('permission to delete the pod');
    expect(await create(REQUESTER)).toBe('');
  });

  it('ER-05: a new request has a requester', async () => {
    const { create } = await sceneOf(bed());
    expect(await create(REQUESTER, [])).toContain('needs a requester');
  });

  it('ER-17: a tenant neither adds, removes nor redirects requesters, nor deletes', async () => {
    const { setRequesters, remove } = await started();
    for (const requesters of [[DRAIN, BALANCER], [], [BALANCER]]) {
      expect(await setRequesters(TENANT, requesters)).toContain('permission to delete the pod');
    }
    expect(await remove(TENANT)).toContain('permission to delete the pod');
    expect(await setRequesters(TENANT, [DRAIN])).toBe('');
    expect(await setRequesters(REQUESTER, [DRAIN, BALANCER])).toBe('');
    expect(await remove(REQUESTER)).toBe('');
  });

  it('ER-21: a request that is final may be deleted without the pod', async () => {
    const { setStatus, remove } = await started();
    const ended = { conditions: [condition('Evicted')], activeInterceptors: [] };
    expect(await setStatus(CONTROLLER, { ...ended, processedInterceptors: [ACTOR_B] })).toBe('');
    expect(await remove(TENANT)).toBe('');
  });

  it('ER-23: the interceptors are immutable, and only the controller sets them', async () => {
    const { create, setStatus } = await sceneOf(bed());
    await create(REQUESTER);
    expect(await setStatus(TENANT, FIRST)).toContain('only the controller');
    expect(await setStatus(CONTROLLER, FIRST)).toBe('');
    const others = [ACTOR_A, ACTOR_B, IMPERATIVE].map((name) => ({ name }));
    expect(await setStatus(CONTROLLER, { targetInterceptors: others })).toContain('immutable');
  });

  it('ER-24: nothing is active before the interceptors are set', async () => {
    const { create, setStatus } = await sceneOf(bed());
    await create(REQUESTER);
    expect(await setStatus(CONTROLLER, { activeInterceptors: [ACTOR_B] }))
      .toContain('must be set first');
  });

  it('ER-25: every interceptor has an entry, and nobody else', async () => {
    const { create, setStatus } = await sceneOf(bed());
    await create(REQUESTER);
    const [, ...fewer] = entriesWith();
    const others = [...FIRST.interceptors.slice(0, -1), { name: 'mine.example.com', message: '' }];
    for (const interceptors of [fewer, others]) {
      expect(await setStatus(CONTROLLER, { ...FIRST, interceptors }))
        .toContain('must have the names');
    }
    expect(await setStatus(CONTROLLER, FIRST)).toBe('');
    expect(await setStatus(TENANT, { interceptors: others })).toContain('must have the names');
  });

  it('ER-26: interceptors become active in line', async () => {
    const { create, setStatus } = await sceneOf(bed());
    await create(REQUESTER);
    expect(await setStatus(CONTROLLER, { ...FIRST, activeInterceptors: [ACTOR_A] }))
      .toContain(`must be ${ACTOR_B} because it is next in line`);
  });

  it('ER-28: only what was active is processed, one at a time and for good', async () => {
    const { setStatus } = await started();
    const processed = (...names: readonly string[]) => ({ processedInterceptors: names });
    expect(await setStatus(CONTROLLER, { ...processed(ACTOR_A), activeInterceptors: [] }))
      .toContain('was active');
    const next = { ...processed(ACTOR_B), activeInterceptors: [ACTOR_A] };
    expect(await setStatus(CONTROLLER, next)).toBe('');
    expect(await setStatus(CONTROLLER, processed())).toContain('never shrinks');
  });

  it('ER-29: what was active does not just disappear', async () => {
    const { setStatus } = await started();
    expect(await setStatus(CONTROLLER, { activeInterceptors: [] })).toContain('must be processed');
  });

  it('ER-30: nothing is active in a final request', async () => {
    const { setStatus } = await started();
    expect(await setStatus(CONTROLLER, { conditions: [condition('Canceled')] }))
      .toContain('nothing is active');
  });

  it('ER-31: an interceptor reports for itself, and for nobody else', async () => {
    const { setStatus } = await started();
    const report = bReports({ heartbeatTime: 100 }, 'on it');
    expect(await setStatus(TENANT, report)).toContain('permission to report as it');
    expect(await setStatus(CONTROLLER, report)).toContain('permission to report as it');
    expect(await setStatus(ACTOR, report)).toBe('');
    const other = entriesWith(
      entry(ACTOR_B, { startTime: 0, heartbeatTime: 100 }, 'on it'),
      entry(ACTOR_A, {}, 'mine'),
    );
    expect(await setStatus(ACTOR, { interceptors: other })).toContain('only the active');
    expect(await setStatus(ACTOR, { activeInterceptors: [], processedInterceptors: [ACTOR_B] }))
      .toContain('only the controller');
  });

  it('ER-32: Canceled and Evicted are final; other conditions are free', async () => {
    const { setStatus } = await started();
    expect(await setStatus(ACTOR, { conditions: [condition('example.com/Busy')] })).toBe('');
    expect(await setStatus(TENANT, { conditions: [condition('Canceled')] }))
      .toContain('only the controller');
    await setStatus(CONTROLLER, {
      conditions: [condition('Canceled')],
      activeInterceptors: [],
      processedInterceptors: [ACTOR_B],
    });
    expect(await setStatus(CONTROLLER, { conditions: [condition('Canceled', 'False')] }))
      .toContain('are final');
  });

  it('ER-33: the observed generation never decreases', async () => {
    const { setStatus } = await started();
    expect(await setStatus(CONTROLLER, { observedGeneration: 3 })).toBe('');
    expect(await setStatus(CONTROLLER, { observedGeneration: 2 })).toContain('never decreases');
  });

  it('ER-35: a heartbeat is not taken back', async () => {
    const { setStatus } = await started();
    expect(await setStatus(ACTOR, bReports({ heartbeatTime: 100 }))).toBe('');
    expect(await setStatus(ACTOR, bReports({ heartbeatTime: 40 }))).toContain('60 seconds');
    expect(await setStatus(ACTOR, bReports({}))).toContain('never removed');
  });

  it('ER-36: heartbeats are 60 seconds apart, and messages are free', async () => {
    const { setStatus } = await started();
    expect(await setStatus(ACTOR, bReports({ heartbeatTime: 100 }))).toBe('');
    expect(await setStatus(ACTOR, bReports({ heartbeatTime: 159 }))).toContain('60 seconds');
    expect(await setStatus(ACTOR, bReports({ heartbeatTime: 100 }, 'more'))).toBe('');
    expect(await setStatus(ACTOR, bReports({ heartbeatTime: 160 }))).toBe('');
  });

  it('ER-37: a heartbeat needs a start', async () => {
    const { create, setStatus } = await sceneOf(bed());
    await create(REQUESTER);
    await setStatus(CONTROLLER, { ...FIRST, interceptors: entriesWith() });
    const report = { interceptors: entriesWith(entry(ACTOR_B, { heartbeatTime: 5 })) };
    expect(await setStatus(ACTOR, report)).toContain('needs a startTime');
  });

  it('ER-38: start and completion are set once, in this order', async () => {
    const { setStatus } = await started();
    expect(await setStatus(ACTOR, bReports({ startTime: 5 }))).toContain('immutable');
    expect(await setStatus(ACTOR, bReports({ completionTime: -5 }))).toContain('after it started');
    expect(await setStatus(ACTOR, bReports({ completionTime: 50 }))).toBe('');
    expect(await setStatus(ACTOR, bReports({ completionTime: 60 }))).toContain('immutable');
  });
});
