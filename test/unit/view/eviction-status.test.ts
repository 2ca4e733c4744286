/** EvictionRequests in tables, explanations and trees: one verdict everywhere. */
import { expect, test } from 'vitest';
import {
  evictionColumns,
  evictionStatus,
  resourceName,
} from '../../../src/view/eviction-status.ts';
import { explainEvictionRequest } from '../../../src/view/explain-eviction-request.ts';
import { explainPod } from '../../../src/view/explain-pod.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';
import { requestTree, treeNames, treeText } from '../../../src/view/object-tree.ts';
import { tableText } from '../../../src/view/table.ts';
import {
  joined,
  rawNativeEviction,
  rawNativeRequest,
} from '../../support/eviction-requests/native-fixture.ts';
import {
  ACTOR_A,
  ACTOR_B,
  B_ACTIVE,
  BALANCER,
  CREATED_MS,
  DRAIN,
  entry,
  observedRequest,
  rawPod,
  rawRequest,
  statusWith,
} from '../../support/eviction-requests/request-fixture.ts';

const nowMs = CREATED_MS + 70_000;
const SILENT = { requesters: [DRAIN, BALANCER], status: B_ACTIVE };
const A_REPORTS = {
  status: statusWith({
    active: ACTOR_A,
    processed: [ACTOR_B],
    interceptors: [
      entry(ACTOR_B, { startTime: 0, completionTime: 20 }),
      entry(ACTOR_A, { startTime: 20, heartbeatTime: 60 }, 'copying\nthe shard'),
    ],
  }),
};

test('requests are a table, and a report of an interceptor stays in its line', () => {
  const rows = [SILENT, A_REPORTS].map((one) => evictionStatus(observedRequest(one), nowMs));
  expect(tableText(evictionColumns(nowMs, { wide: false, namespaced: true }), rows)).toBe(
    [
      'NAMESPACE   POD   REQUESTERS                  ACTIVE                      SINCE   ' +
      'HEARTBEAT   PHASE          MESSAGE',
      'blueberry   p-1   drain.nodes.example.com+1   actor-b.fruit.example.com   1m10s   ' +
      '-           Silent         -',
      'blueberry   p-1   drain.nodes.example.com     actor-a.fruit.example.com   50s     ' +
      '10s         Intercepting   copying the shard',
      '',
    ].join('\n'),
  );
});

test('explain says who is asked, who is next, since when silent and when the hand-over comes', () => {
  const explained = explainEvictionRequest({
    request: observedRequest(SILENT),
    events: [],
    nowMs,
  });
  expect(explanationText(explained, { nowMs, colors: false, columns: 100 })).toBe(
    `EvictionRequest blueberry/6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6: Silent
  What       The request that pod "p-1" leaves; interceptors act in turn
  Why        Interceptor "actor-b.fruit.example.com" was asked at 2026-05-01T10:00:00Z and has never
             reported
  Waits for  A report of "actor-b.fruit.example.com"; without another report interceptor
             "actor-a.fruit.example.com" takes over at 2026-05-01T10:20:00Z
  Can act    The owner of the application: Start the controller of the interceptor, or set its
             completionTime to skip it
  Runbook    https://tidegate.dev/docs/runbooks.md#interceptor-silent

Details
  Pod           p-1
  Requesters    drain.nodes.example.com, balance.zones.example.com
  Asked         actor-b.fruit.example.com
  Asked since   2026-05-01T10:00:00Z, 1m10s ago
  Silent since  2026-05-01T10:00:00Z, 1m10s ago
  Hand-over     2026-05-01T10:20:00Z
  Next          actor-a.fruit.example.com
`,
  );
});

const podFacts = {
  pod: rawPod(),
  requests: { items: [] },
  events: [],
  leases: undefined,
  nowMs,
};

test('explain of a pod has the verdict on its request', () => {
  const request = observedRequest(SILENT);
  const status = evictionStatus(request, nowMs);
  const explained = explainPod({ ...podFacts, evictionRequest: request });
  expect(explained).toMatchObject({
    why: `Its eviction is requested: ${status.sentence}`,
    waitsFor: status.waitsFor,
    canAct: status.canAct,
    action: status.change,
    runbook: status.runbook,
  });
  expect(explained.details.slice(0, 3)).toEqual([
    { name: 'Node', value: 'z' },
    { name: 'Interceptors', value: `${ACTOR_B}, ${ACTOR_A}` },
    {
      name: 'EvictionRequest',
      value: '6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6, Silent',
    },
  ]);
});

test('explain of a pod whose request has ended is about its demand', () => {
  const request = observedRequest({
    status: statusWith({
      active: null,
      conditions: [{ type: 'Canceled', status: 'True', reason: 'NoRequesters', message: '' }],
    }),
  });
  const without = explainPod(podFacts);
  expect(explainPod({ ...podFacts, evictionRequest: request })).toEqual(without);
});

test('a tree has the request below its pod, and each interceptor with its turn', () => {
  const tree = requestTree({
    pod: rawPod(),
    requests: [],
    evictionRequests: [rawRequest(A_REPORTS)],
    nowMs,
  });
  if (tree === undefined) throw new Error('No tree');
  expect(treeText(tree, nowMs).split('\n').slice(1).map((line) => line.trimEnd())).toEqual([
    expect.stringContaining('Pod blueberry/p-1'),
    expect.stringMatching(
      /└─ EvictionRequest blueberry\/6f1d2a34\S+ {3}Intercepting, requested by drain/,
    ),
    expect.stringMatching(/├─ Interceptor actor-b\.fruit\.example\.com +processed +-$/),
    expect.stringMatching(/├─ Interceptor actor-a\S+ +asked, copying the shard +-$/),
    expect.stringMatching(/└─ Interceptor imperative-eviction\.k8s\.io +not asked yet +-$/),
    '',
  ]);
  expect(treeNames(tree)).toEqual([
    'pod/p-1',
    'evictionrequest.lifecycle.tidegate.dev/6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6',
  ]);
});

test('a request has the name of its object, in the API that has it', () => {
  const requests = [rawNativeRequest('nodes.example.com/drain')];
  const native = [joined({ requests }), joined({ requests, evictions: [rawNativeEviction()] })];
  const statuses = [observedRequest(), ...native].map((one) => evictionStatus(one, nowMs));
  expect(statuses.map(resourceName)).toEqual([
    'evictionrequest.lifecycle.tidegate.dev/6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6',
    'evictionrequest.lifecycle.k8s.io/request-of-nodes.example.com-drain',
    'eviction.lifecycle.k8s.io/pod-1-p-1',
  ]);
});
