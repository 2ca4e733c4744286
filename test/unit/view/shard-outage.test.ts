/** `explain` during an outage of the shard: what waits for the shard names the outage. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runbookUrl } from '../../../src/domain/documentation.ts';
import { refusedNote, type ShardOutage, unreachableNote } from '../../../src/domain/shard-reach.ts';
import { explainCapacityRequest } from '../../../src/view/explain-capacity-request.ts';
import { explainMachine } from '../../../src/view/explain-machine.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explainPod } from '../../../src/view/explain-pod.ts';
import { shardOutage } from '../../../src/view/shard-outage.ts';
import { podOf } from '../../support/drains/drain-facts.ts';
import { sceneAnnotation, sceneOfNode } from '../../support/drains/drain-scene.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const NOTE = unreachableNote('shard.fleet:7780', {
  why: 'Unreachable',
  detail: 'UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 10.0.0.5:7780',
});
const OUTAGE: ShardOutage = { reason: 'ShardUnreachable', note: NOTE };
const NAMED = {
  why: expect.stringContaining('ShardUnreachable: Cannot reach the shard at "shard.fleet:7780"'),
  canAct: 'platform',
  action: 'Check that the shard runs, and the port in --shard-addr',
  runbook: runbookUrl('shard-unreachable'),
};
const UNNAMED = { why: expect.not.stringContaining('ShardUnreachable') };

const leases = { items: [{ spec: { holderIdentity: 'operator-1_uid' } }] };
const event = (reason: string, time: string, more: object = {}) => ({
  reportingController: 'tidegate.dev/operator',
  reportingInstance: 'operator-1_uid',
  type: 'Warning',
  reason,
  note: NOTE,
  eventTime: time,
  ...more,
});
const outageIn = (...items: readonly object[]) =>
  shardOutage({ leases, leaseEvents: [{ items }] }, nowMs);

describe('an outage of the shard', () => {
  const unreachable = event('ShardUnreachable', '2026-03-01T11:59:00Z');

  test('is what the last Event of the leader reports', () => {
    expect(outageIn(unreachable)).toEqual(OUTAGE);
    expect(outageIn(event('RollupTooLarge', '2026-03-01T11:59:30Z'), unreachable)).toEqual(OUTAGE);
    expect(outageIn()).toBeUndefined();
  });

  test('goes on while its series is repeated', () => {
    const since = event('ShardUnreachable', '2026-03-01T09:00:00Z');
    expect(outageIn(since)).toBeUndefined();
    const series = { count: 90, lastObservedTime: '2026-03-01T11:59:10Z' };
    expect(outageIn({ ...since, series })).toEqual(OUTAGE);
  });

  test('is over when the shard answered since', () => {
    expect(outageIn(unreachable, event('ShardReachable', '2026-03-01T11:59:30Z'))).toBeUndefined();
    expect(outageIn(unreachable, event('ShardReachable', '2026-03-01T11:58:00Z'))).toEqual(OUTAGE);
  });

  // `explain` said that nobody can act while the shard refused the cluster.
  test('is also a refusal, and of both the newer one counts', () => {
    const refused = event('SessionRefused', '2026-03-01T11:59:20Z', { note: 'refused' });
    const refusal = { reason: 'SessionRefused', note: 'refused' };
    expect(outageIn(refused)).toEqual(refusal);
    expect(outageIn(unreachable, refused)).toEqual(refusal);
    expect(outageIn(refused, event('ShardReachable', '2026-03-01T11:59:30Z'))).toBeUndefined();
  });

  test('of a former leader, or reported by another controller, does not count', () => {
    expect(outageIn({ ...unreachable, reportingInstance: 'operator-0_uid' })).toBeUndefined();
    expect(outageIn({ ...unreachable, reportingInstance: '' })).toBeUndefined();
    expect(outageIn({ ...unreachable, reportingController: 'somebody' })).toBeUndefined();
  });

  test('is read from any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (anything, lists) => {
        shardOutage({ leases: anything, leaseEvents: lists }, nowMs);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('explain during an outage of the shard', () => {
  const request = (phase: string, spec: object = {}) => ({
    metadata: { name: 'a', namespace: 'team', creationTimestamp: '2026-03-01T11:59:50Z' },
    spec: { resources: { cpu: '2' }, priority: 0, ...spec },
    status: { phase },
  });
  const ofRequest = (object: unknown, outage = OUTAGE) =>
    explainCapacityRequest({ request: object, events: [], leases, outage, nowMs });

  test.each(['Pending', 'Acknowledged'])('a request that is %s names it', (phase) => {
    expect(ofRequest(request(phase))).toMatchObject(NAMED);
  });

  test.each(
    [
      ['RefusedByShard', 'Ask the administrators of the fleet'],
      ['CredentialsRefused', 'Put a valid key pair into its files'],
    ] as const,
  )('a request names a refusal, %s, and who can act', (why, remedy) => {
    const note = refusedNote('shard.fleet:7780', { why, detail: 'not yours (or theirs)' });
    expect(ofRequest(request('Pending'), { reason: 'SessionRefused', note })).toMatchObject({
      why: expect.stringContaining('(not yours (or theirs))'),
      canAct: 'platform',
      action: expect.stringContaining(remedy),
      runbook: runbookUrl('session-refused'),
    });
  });

  test('a note without a remedy has one of its reason', () => {
    const unknown = { reason: 'SessionRefused', note: 'PERMISSION_DENIED: not yours' } as const;
    expect(ofRequest(request('Pending'), unknown)).toMatchObject({
      why: expect.stringContaining('SessionRefused: PERMISSION_DENIED: not yours'),
      action: 'Run "tidegate doctor" with the flags of the operator',
    });
  });

  test('an invalid request waits for its correction', () => {
    expect(ofRequest(request('Pending', { resources: { cpu: 'four' } }))).toMatchObject(UNNAMED);
  });

  const ofPod = (spec: object) =>
    explainPod({
      pod: {
        metadata: { name: 'web', namespace: 'team', uid: 'u', resourceVersion: '1' },
        spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }], ...spec },
        status: { phase: 'Pending' },
      },
      requests: { items: [request('Pending')] },
      events: [],
      leases,
      outage: OUTAGE,
      nowMs,
    });

  test('a pod without a node names it, and one with a node does not', () => {
    expect(ofPod({})).toMatchObject(NAMED);
    expect(ofPod({ nodeName: 'n1' })).toMatchObject(UNNAMED);
  });

  const ofMachine = (phase: string) =>
    explainMachine({
      upcomingNode: { metadata: { name: 'un-m' }, spec: {}, status: { phase } },
      node: undefined,
      events: [],
      outage: OUTAGE,
      nowMs,
    });

  test.each(['Provisioning', 'Launched', 'Registered', 'Drained', 'Failed'])(
    'a machine that is %s names it',
    (phase) => expect(ofMachine(phase)).toMatchObject(NAMED),
  );

  test.each(['Ready', 'Draining'])('a machine that is %s waits for its Node', (phase) => {
    expect(ofMachine(phase)).toMatchObject(UNNAMED);
  });

  const drain = (
    annotation: Parameters<typeof sceneAnnotation>[0],
    node: object = {},
    owner = 'reclaim',
  ) =>
    explainNode(
      sceneOfNode({
        node: { cordons: { [owner]: sceneAnnotation(annotation) }, ...node },
        pods: [podOf()],
      }),
      OUTAGE,
    );

  test.each(['Drained', 'Failed'] as const)('a reclaim that is %s names it', (ended) => {
    expect(drain({ ended })).toMatchObject(NAMED);
  });

  test('a drain that goes on, or that the fleet does not want, does not wait for the shard', () => {
    expect(drain({})).toMatchObject(UNNAMED);
    expect(drain({ ended: 'Drained' }, { unschedulable: false })).toMatchObject(UNNAMED);
    expect(drain({ ended: 'Drained' }, {}, 'maintenance-disk')).toMatchObject(UNNAMED);
  });
});
