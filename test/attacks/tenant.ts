/** What somebody writes who may create CapacityRequests, Pods and budgets in one namespace. */
import { REQUEST_LIMITS } from '../../src/domain/demand/request-limits.ts';
import { type JsonRecord, parseJson, textAt, valueAt } from '../../src/domain/json.ts';
import { counter, event, gauge, log, type OwnAttack } from './attack.ts';
import {
  type AttackSite,
  each,
  nodeNamed,
  PATHS,
  pendingPod,
  requestNamed,
  soon,
  WORKERS,
} from './site.ts';

const OWNED_BY_POD = 'bigfleet.lucy.sh/owned-by-pod';

const texts = (count: number, text: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${text}${index}`);

const requirement = (key: string, values: readonly string[]): JsonRecord => ({
  key,
  operator: 'In',
  values,
});

/** Creates one request with this spec. */
const requesting = (spec: JsonRecord) => ({ api, number }: AttackSite): Promise<void> => {
  api.ask('POST', PATHS.requests, requestNamed(`attack-${number()}`, spec));
  return Promise.resolve();
};

const tooLarge = (
  name: string,
  bound: keyof typeof REQUEST_LIMITS,
  spec: JsonRecord,
): OwnAttack => ({
  name,
  bound: `\`${bound}\`, ${REQUEST_LIMITS[bound].toLocaleString('en')}`,
  reports: [event('CapacityRequestTooLarge'), log('Invalid CapacityRequest')],
  play: requesting(spec),
});

const invalid = (name: string, field: string, spec: JsonRecord): OwnAttack => ({
  name,
  bound: 'a request that the shard could not read is left out',
  reports: [event('InvalidCapacityRequest', field)],
  play: requesting(spec),
});

const amounts = (names: readonly string[], amount = '1'): JsonRecord => ({
  resources: Object.fromEntries(names.map((name) => [name, amount])),
});

const SIZES: readonly OwnAttack[] = [
  tooLarge(
    'A request with 40,000 resources',
    'resources',
    amounts(texts(40_000, 'example.com/r')),
  ),
  tooLarge('A request with 5,000 requirements', 'requirements', {
    requirements: texts(5000, 'k').map((key) => requirement(key, ['v'])),
  }),
  tooLarge('A requirement with 50,000 values', 'values', {
    requirements: [requirement('k', texts(50_000, 'v'))],
  }),
  tooLarge('A selector with 10,000 labels', 'labels', {
    coLocation: {
      topologyKey: 'rack',
      labelSelector: {
        matchLabels: Object.fromEntries(texts(10_000, 'k').map((key) => [key, 'v'])),
      },
    },
  }),
  tooLarge('A request with 5,000 spreads', 'spreads', {
    topologySpread: texts(5000, 'zone').map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
    })),
  }),
  tooLarge('A resource with a name of 500 KB', 'textCharacters', amounts(['r'.repeat(500_000)])),
  tooLarge('A quantity of 500,000 digits', 'quantityCharacters', amounts(['cpu'], '9'.repeat(5e5))),
  tooLarge('100 requirements of 1,000 values, each within its bound', 'specCharacters', {
    requirements: texts(100, 'k').map((key) => requirement(key, texts(1000, 'v'))),
  }),
];

const VALUES: readonly OwnAttack[] = [
  invalid('An exponent of a billion', 'spec.resources', amounts(['cpu'], '1e999999999')),
  invalid('A quantity that is negative', 'spec.resources', amounts(['cpu'], '-1')),
  invalid('A priority beyond 32 bits', 'spec.priority', { priority: 2 ** 40 }),
  invalid('An operator of the wire that Kubernetes does not have', 'operator', {
    requirements: [{ key: 'zone', operator: 'Same' }],
  }),
  invalid('A line feed and terminal escapes in an operator', 'operator', {
    requirements: [{ key: 'zone', operator: '\u001b[2J\n{"level":"error"}\u202e' }],
  }),
  {
    name: 'Resources called __proto__ and constructor',
    bound: 'names are data',
    reports: [gauge('tidegate_rollup_needs', 1)],
    play: async ({ api, number, shard }) => {
      const spec = parseJson('{"resources":{"__proto__":"1","constructor":"1","toString":"1"}}');
      const { resources } = Object(spec);
      const name = `attack-${number()}`;
      api.ask('POST', PATHS.requests, requestNamed(name, { resources }));
      await soon(
        'the request to reach the shard',
        () =>
          shard.received().some((payload) =>
            payload.case === 'rollup' &&
            payload.value.needs.some(({ aggregateResources }) =>
              Object.hasOwn(aggregateResources, 'constructor')
            )
          ),
      );
    },
  },
  {
    name: 'A valid request that turns invalid',
    bound: 'its last valid reading counts until it is deleted',
    reports: [event('InvalidCapacityRequest', 'spec.interruptionPenalty')],
    play: async ({ api, number }) => {
      const name = `attack-${number()}`;
      const path = `${PATHS.requests}/${name}`;
      api.ask('POST', PATHS.requests, requestNamed(name));
      await soon(
        'it to be Acknowledged',
        () => textAt(api.ask('GET', path), 'status', 'phase') === 'Acknowledged',
      );
      api.ask('PATCH', path, { spec: { interruptionPenalty: '-1' } });
    },
  },
];

const FLOODS: readonly OwnAttack[] = [
  {
    name: 'A thousand requests with a profile each',
    bound: 'work in the size of the demand',
    reports: [gauge('tidegate_rollup_needs', 1000)],
    play: ({ api, number }) => {
      const first = number();
      for (const name of texts(1000, `attack-${first}-`)) {
        api.ask(
          'POST',
          PATHS.requests,
          requestNamed(name, {
            requirements: [requirement('example.com/profile', [name])],
          }),
        );
      }
      return Promise.resolve();
    },
  },
  {
    name: 'A request that changes 3,000 times in a second',
    bound: 'one roll-up an interval',
    reports: [counter('tidegate_rollups_total')],
    play: async ({ api, number }) => {
      const name = `attack-${number()}`;
      api.ask('POST', PATHS.requests, requestNamed(name));
      await each(texts(3000, '1'), (cpu) => {
        api.ask('PATCH', `${PATHS.requests}/${name}`, { spec: { resources: { cpu } } });
      });
    },
  },
];

/** The request that the operator made for the pod. */
const requestOf = ({ api }: AttackSite, uid: string): JsonRecord | undefined =>
  api.list(PATHS.requests).find((one) => textAt(one, 'metadata', 'labels', OWNED_BY_POD) === uid);

/** Creates a pod, and waits for its request. */
const podWithRequest = async (site: AttackSite, pod: JsonRecord) => {
  const made = site.api.ask('POST', PATHS.pods, pod);
  const uid = textAt(made, 'metadata', 'uid') ?? '';
  const request = await soon('the pod to have its request', () => requestOf(site, uid));
  return { uid, request, path: `${PATHS.requests}/${textAt(request, 'metadata', 'name') ?? ''}` };
};

const FORGED = `${
  PATHS.allRequests.replace('capacityrequests', '')
}namespaces/kube-public/capacityrequests`;

const PODS: readonly OwnAttack[] = [
  {
    name: 'A penalty annotation of 200 KB of digits',
    bound: 'a dollar amount of 64 characters',
    reports: [event('PenaltyUnreadable')],
    play: async (site) => {
      const annotations = { 'bigfleet.lucy.sh/interruption-penalty': '9'.repeat(200_000) };
      await podWithRequest(site, pendingPod(`attack-${site.number()}`, { annotations }));
    },
  },
  {
    name: 'A pod with 5,000 expressions of node affinity',
    bound: '`requirements`, 100',
    reports: [event('CapacityRequestTooLarge')],
    play: async (site) => {
      const matchExpressions = texts(5000, 'k').map((key) => ({ key, operator: 'Exists' }));
      const nodeSelectorTerms = [{ matchExpressions }];
      const affinity = {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
      };
      await podWithRequest(site, pendingPod(`attack-${site.number()}`, {}, { affinity }));
    },
  },
  {
    name: 'A request of another namespace that claims to be the pod’s',
    bound: 'only requests of the pod’s namespace, with label and owner UID',
    reports: [counter('bigfleet_unschedulable_pod_controller_reconciles_total', {
      outcome: 'cr_created',
    })],
    play: async (site) => {
      const name = `attack-${site.number()}`;
      const { uid } = await podWithRequest(site, pendingPod(name));
      site.api.ask('POST', FORGED, {
        ...requestNamed(name),
        metadata: {
          name,
          labels: { [OWNED_BY_POD]: uid },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
        },
      });
    },
    breach: ({ api }) => {
      const forged = api.list(FORGED);
      for (const one of forged) {
        api.ask('DELETE', `${FORGED}/${textAt(one, 'metadata', 'name') ?? ''}`);
      }
      const cpu = forged.map((one) => valueAt(one, 'spec', 'resources', 'cpu'));
      return cpu.join() === '1' ? undefined : `requests of another namespace: ${cpu.join()}`;
    },
  },
  {
    name: 'Label and owner taken from a pod’s request',
    bound: 'what the operator does not own it does not write',
    reports: [event('PodRequestRefused')],
    play: async (site) => {
      const { path } = await podWithRequest(site, pendingPod(`attack-${site.number()}`));
      site.api.ask('PATCH', path, {
        metadata: { labels: null, ownerReferences: null },
        spec: { resources: { cpu: '1000000' } },
      });
    },
  },
];

/** Reclaims a Node with one pod, which something keeps from leaving. */
const reclaimWithPod = async (
  site: AttackSite,
  { pod, budget }: { readonly pod?: JsonRecord; readonly budget?: JsonRecord },
): Promise<void> => {
  const { api, shard } = site;
  const name = `attack-${site.number()}`;
  api.ask('POST', PATHS.nodes, nodeNamed(name));
  shard.bind(name);
  api.ask('POST', PATHS.pods, {
    metadata: { name, labels: { app: name }, ...pod },
    spec: { nodeName: name, containers: [{ name: 'main', image: 'image' }] },
  });
  if (budget !== undefined) {
    api.ask('POST', PATHS.budgets, {
      metadata: { name },
      spec: { selector: { matchLabels: { app: name } }, ...budget },
    });
  }
  await soon(
    'the machine to be listed',
    () =>
      api.list(PATHS.upcomingNodes).some((one) => textAt(one, 'metadata', 'name') === `un-${name}`),
  );
  shard.instruct(`reclaim-${name}`, [name]);
};

const BLOCKERS: readonly OwnAttack[] = [
  {
    name: 'A budget that never allows a disruption',
    bound: 'a drain waits for its own budgets only',
    reports: [gauge('tidegate_pod_evictions', 1), event('DrainStarted')],
    play: (site) => reclaimWithPod(site, { budget: { maxUnavailable: 0 } }),
  },
  {
    name: 'A pod whose finalizer nobody removes',
    bound: 'the deadline of the drain',
    reports: [gauge('tidegate_pod_evictions', 1), counter('tidegate_evictions_total')],
    play: (site) => reclaimWithPod(site, { pod: { finalizers: ['example.com/never'] } }),
  },
  {
    name: 'Pods that shed and regain their labels 2,000 times',
    bound: 'work in the number of changes',
    reports: [gauge('tidegate_watch_objects', 1, { resource: 'pods' })],
    play: async ({ api, number }) => {
      const name = `attack-${number()}`;
      api.ask('POST', PATHS.pods, {
        metadata: { name },
        spec: { nodeName: WORKERS[0], containers: [{ name: 'main', image: 'image' }] },
      });
      await each([...Array(2000).keys()], (turn) => {
        const labels = { app: turn % 2 === 0 ? name : null };
        api.ask('PATCH', `${PATHS.pods}/${name}`, { metadata: { labels } });
      });
    },
  },
];

export const TENANT_ATTACKS: readonly OwnAttack[] = [
  ...SIZES,
  ...VALUES,
  ...FLOODS,
  ...PODS,
  ...BLOCKERS,
];
