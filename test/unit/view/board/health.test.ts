/** The health of the session and the lease on the drain board. */
import { expect, test } from 'vitest';
import { type Reason, type ReasonName, REASONS } from '../../../../src/api/reasons.ts';
import { severityOf } from '../../../../src/domain/drain/verdict.ts';
import { textAt } from '../../../../src/domain/json.ts';
import { MACHINES } from '../../../../src/machines/index.ts';
import { drainBoard } from '../../../../src/view/board/drain-board.ts';
import { NOW_MS, type SceneActor, sceneOf } from '../../../support/board/board-scene.ts';
import { HEALTH_CASES, healthVerdict } from '../../../support/board/health-cases.ts';

const isReason = (text: string | undefined): text is ReasonName =>
  text !== undefined && Object.hasOwn(REASONS, text);

const healthOf = (actor: SceneActor) => {
  const { health: [card], ...board } = drainBoard(sceneOf([actor]), NOW_MS);
  return { ...board, card };
};

test.each(HEALTH_CASES)('$title: the card has the verdict of its own reason', (health) => {
  const verdict = healthVerdict(health);
  const entry: Reason = REASONS[health.reason];
  expect(verdict).toMatchObject({
    reason: health.reason,
    canAct: entry.canAct,
    runbook: entry.runbook ?? '',
    sentence: expect.stringMatching(new RegExp(`^${entry.sentence}`)),
  });
  expect(healthOf(health.actor).needsPerson).toBe(1);
});

test('an API server that does not answer is shown while it is asked again, and no longer', () => {
  const at = (state: string, problem: string | null) =>
    drainBoard(sceneOf([{ id: 'operator', state, context: { problem } }]), NOW_MS).health;
  for (const state of ['waitingForCluster', 'checking']) {
    expect(at(state, 'ECONNREFUSED')).toMatchObject([{
      label: 'API server',
      status: 'no answer',
      verdict: { reason: 'ApiServerUnreachable', runbook: 'api-server-unreachable' },
    }]);
  }
  expect(at('checking', null)).toEqual([]);
  expect(at('syncing', null)).toEqual([]);
});

const ending = { why: 'Unreachable', detail: 'connect ECONNREFUSED 10.0.0.1:443' };

const REASON = 'ShardUnreachable';

test.each(['unreachable', 'connected.redialling'])(
  'a shard that cannot be reached needs a person while the session is %s',
  (state) => {
    const session = { id: 'fleetSession/a', state, reason: REASON, context: { ending } } as const;
    const { card, needsPerson } = healthOf(session);
    expect(needsPerson).toBe(1);
    expect(card?.verdict).toMatchObject({
      reason: REASON,
      canAct: 'platform',
      runbook: 'shard-unreachable',
      change: 'Check that the shard runs, and the port in --shard-addr',
    });
    expect(card?.verdict?.sentence).toContain(
      `no process listens at this address (${ending.detail})`,
    );
  },
);

test.each(['backingOff', 'connected.dialling'])(
  'a stream that ended just now needs nobody while the session is %s',
  (state) => {
    const { card, needsPerson } = healthOf({ id: 'fleetSession/a', state, context: { ending } });
    expect(needsPerson).toBe(0);
    expect(card).toMatchObject({ severity: 'Waiting', status: 'connecting again', verdict: null });
  },
);

test('a session that streams again is healthy, whatever ended the one before', () => {
  const state = 'connected.streaming.rollup.idle connected.streaming.resync.resynced';
  const { card } = healthOf({ id: 'fleetSession/a', state, context: { ending } });
  expect(card).toMatchObject({ severity: 'Ok', status: 'connected', verdict: null });
});

test('a refused session has the reason of its state, with the detail', () => {
  const { card } = healthOf({
    id: 'fleetSession/a',
    state: 'refused',
    reason: 'SessionRefused',
    context: { ending: { why: 'RefusedByShard', detail: 'unknown cluster' } },
  });
  expect(card?.verdict).toMatchObject({ reason: 'SessionRefused', severity: 'Blocked' });
  expect(card?.verdict?.sentence).toContain('unknown cluster');
});

test('a lease that is not renewed needs a person; one that is lost shows it', () => {
  const renewing = healthOf({
    id: 'leadership',
    state: 'leading.renewalFailed',
    reason: 'LeaseNotRenewed',
    context: { problem: 'HTTP 500' },
  });
  expect(renewing.card).toMatchObject({ severity: 'Blocked', status: 'leads, renewal fails' });
  const lost = healthOf({
    id: 'leadership',
    state: 'retrying',
    reason: 'LeaseNotHeld',
    context: { problem: 'not renewed in time' },
  });
  expect(lost.card).toMatchObject({ severity: 'Waiting', status: 'does not lead' });
  expect(lost.card?.verdict?.sentence).toContain('not renewed in time');
});

test('a standby process names the leader', () => {
  const context = { problem: '', lease: { holder: 'pod-b' } };
  expect(healthOf({ id: 'leadership', state: 'standby', context }).card)
    .toMatchObject({ severity: 'Ok', status: 'standby; pod-b leads' });
});

test.each([
  ['availability.offline.protected', 'OfflineStorm', 'offline, with many others'],
  [
    'availability.offline.replacing.givenUp',
    'LostPodsFailing',
    'offline, and its pods are not replaced',
  ],
  ['availability.offline.replacing.replaced', 'NodeOffline', 'offline'],
  ['availability.degraded', 'NodeDegraded', 'degraded'],
])('a Node in the state %s is on the first page as %s', (state, reason, status) => {
  const actor = { id: 'nodeAvailability/node-1', state: `heartbeat.silent ${state}`, context: {} };
  expect(drainBoard(sceneOf([actor]), NOW_MS).health).toMatchObject([{
    label: 'Node node-1',
    status,
    command: 'kubectl describe node node-1',
    verdict: { reason },
  }]);
});

test.each([
  [
    { id: 'upcomingNode/m-1', context: { machineId: 'm-1', name: 'un-m-1' } },
    { label: 'UpcomingNode un-m-1', command: 'kubectl describe upcomingnode un-m-1' },
  ],
  [
    { id: 'podDemand/uid-1', context: { pod: { namespace: 'shop', name: 'web-1' } } },
    {
      label: 'Request for the pod shop/web-1',
      command: 'kubectl describe pod web-1 -n shop',
    },
  ],
])('the card of $id has the name of its object, which its command needs', (actor, expected) => {
  const { card } = healthOf({ state: 'refused', reason: 'WriteRefused', ...actor });
  expect(card).toMatchObject(expected);
});

interface WithReasons {
  readonly path: readonly string[];
  readonly meta?: unknown;
  readonly states: Readonly<Record<string, WithReasons>>;
}

/** The states of a chart whose reason a person can act on. */
const urgentStates = (
  node: WithReasons,
): readonly { readonly state: string; readonly reason: ReasonName }[] => {
  const reason = textAt(node.meta, 'reason');
  const own = isReason(reason) && severityOf(REASONS[reason]) === 'Blocked'
    ? [{ state: node.path.join('.'), reason }]
    : [];
  return [...own, ...Object.values(node.states).flatMap(urgentStates)];
};

/** Cards of their own have tests of their own. */
const WITH_CARDS = new Set(['nodeDrain', 'podEviction', 'budget']);

const URGENT = Object.entries(MACHINES)
  .filter(([kind]) => !WITH_CARDS.has(kind))
  .flatMap(([kind, { root }]) => urgentStates(root).map((found) => ({ kind, ...found })))
  .filter(({ reason }) => reason !== 'InterceptorSilent');

test('every chart that a person may have to act on is in the next test', () => {
  expect(URGENT.length).toBeGreaterThan(20);
});

test.each(URGENT)('$kind in the state $state is on the first page: $reason', (urgent) => {
  const { kind, state, reason } = urgent;
  const { needsPerson, severity, card } = healthOf({ id: `${kind}/one`, state, reason });
  expect({ needsPerson, severity }).toEqual({ needsPerson: 1, severity: 'Blocked' });
  expect(card?.verdict?.reason).toBe(reason);
});

test('of many Nodes that are offline the first page names six and counts the others', () => {
  const nodes = Array.from({ length: 100 }, (_, at) => ({
    id: `nodeAvailability/node-${at}`,
    state: 'heartbeat.silent availability.offline.protected',
    context: {},
  }));
  const well = { id: 'nodeAvailability/well', state: 'availability.active', context: {} };
  const labels = drainBoard(sceneOf([...nodes, well]), NOW_MS).health.map(({ label }) => label);
  expect(labels).toHaveLength(6);
  expect(labels.at(-1)).toBe('Node node-5 and 94 more');
});
