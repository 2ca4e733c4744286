/** The pending write of an UpcomingNode: one, minimal, or none. */
import { describe, expect, test } from 'vitest';
import type { MachineObservation, MachineState } from '../../../src/domain/frames.ts';
import { machineId } from '../../../src/domain/ids.ts';
import type { NodeLink } from '../../../src/domain/node-link.ts';
import {
  type MachineReport,
  pendingWrite,
  projectUpcomingNode,
  reportOf,
  specPatch,
  statusPatch,
  UNBOUND,
  type UpcomingNodeFacts,
} from '../../../src/domain/upcoming-node.ts';

const T0 = Date.UTC(2026, 0, 1);

const frame = (
  state: MachineState,
  more: Partial<MachineObservation> = {},
): MachineObservation => ({
  machineId: machineId('m-1'),
  state,
  nodeName: '',
  providerId: 'host-1',
  lastError: '',
  labels: { zone: 'a', arch: 'amd64' },
  resources: { memory: '4Gi', cpu: '2' },
  taints: [],
  ...more,
});

const reported = (...states: readonly MachineState[]): MachineReport =>
  states.reduce<MachineReport | undefined>(
    (before, state) => reportOf(before, frame(state), T0),
    undefined,
  ) ??
    UNBOUND;

const object = (status: object | undefined, spec: object = {
  labels: { arch: 'amd64', zone: 'a' },
  resources: { cpu: '2', memory: '4Gi' },
}) => ({
  metadata: {
    name: 'un-m-1',
    uid: 'u1',
    resourceVersion: '7',
    annotations: { 'bigfleet.lucy.sh/machine-id': 'm-1' },
  },
  spec,
  ...(status === undefined ? {} : { status }),
});

const facts = (
  report: MachineReport | null,
  raw?: object,
  node?: UpcomingNodeFacts['node'],
): UpcomingNodeFacts => ({
  reported: report,
  current: raw === undefined ? null : projectUpcomingNode(raw) ?? null,
  node: node ?? null,
  drain: null,
});

const NODE: NodeLink = {
  name: 'n1',
  uid: 'nu1',
  ready: false,
  held: false,
  ended: null,
  releasable: false,
};

const NOW = '2026-01-01T01:00:00Z';
const patchOf = (from: UpcomingNodeFacts) => statusPatch(from, Date.parse(NOW));

/** The condition that every status write has beside the changed fields. */
const conditions = (reason: string, message: unknown = expect.any(String)) => [{
  type: 'Ready',
  status: reason === 'Ready' ? 'True' : 'False',
  reason,
  message,
  lastTransitionTime: NOW,
}];

const READY = {
  phase: 'Ready',
  providerID: 'host-1',
  provisioningStartTime: '2026-01-01T00:00:00Z',
};

describe('upcoming node', () => {
  test('upcomingNodes: no write is pending when the object matches the report', () => {
    expect(pendingWrite('m-1', facts(reported('Configured'), object(READY)))).toBeUndefined();
  });

  test('upcomingNodes: no write is pending before the first report', () => {
    expect(pendingWrite('m-1', facts(null, object(READY)))).toBeUndefined();
    expect(pendingWrite('m-1', facts(null))).toBeUndefined();
  });

  test('upcomingNodes: first creates the object, then writes its status with the start time', () => {
    expect(pendingWrite('m-1', facts(reported('Configuring')))).toBe('create');
    const created = facts(reported('Configuring'), object(undefined));
    expect(pendingWrite('m-1', created)).toBe('status_update');
    expect(patchOf(created)).toEqual({
      status: {
        phase: 'Registered',
        providerID: 'host-1',
        provisioningStartTime: '2026-01-01T00:00:00Z',
        conditions: conditions('Registered'),
      },
    });
  });

  test('upcomingNodes: patches only the status fields that changed', () => {
    expect(patchOf(facts(reported('Configured'), object({ ...READY, phase: 'Registered' }))))
      .toEqual({ status: { phase: 'Ready', conditions: conditions('Ready') } });
  });

  test('upcomingNodes: keeps the start time until the next lifecycle of the machine', () => {
    const nextReport = reportOf(reported('Configuring'), frame('Configured'), T0 + 60_000);
    expect(nextReport.since).toBe('2026-01-01T00:00:00Z');
    expect(patchOf(facts(nextReport, object({ ...READY, phase: 'Registered' }))))
      .toEqual({ status: { phase: 'Ready', conditions: conditions('Ready') } });
    const reused = reportOf(reported('Draining', 'Idle'), frame('Configuring'), T0 + 60_000);
    expect(reused.since).toBe('2026-01-01T00:01:00Z');
  });

  test('upcomingNodes: writes the last error of a failed machine and removes it afterwards', () => {
    const failed = reportOf(undefined, frame('Failed', { lastError: 'no room' }), T0);
    expect(patchOf(facts(failed, object(READY)))).toEqual({
      status: {
        phase: 'Failed',
        lastError: 'no room',
        conditions: conditions('Failed', 'no room'),
      },
    });
    const current = object({ ...READY, phase: 'Failed', lastError: 'no room' });
    expect(patchOf(facts(reported('Configuring'), current))).toEqual({
      status: { phase: 'Registered', lastError: null, conditions: conditions('Registered') },
    });
  });

  test('upcomingNodes: a long last error is cut between characters', () => {
    const lastError = `${'x'.repeat(4095)}\u{1F6A2}`;
    const cut = reportOf(undefined, frame('Failed', { lastError }), T0).lastError;
    expect(cut.length).toBe(4095);
    expect(cut.isWellFormed()).toBe(true);
  });

  test('upcomingNodes: keeps the last provider id when a frame has none', () => {
    const report = reportOf(reported('Configured'), frame('Draining', { providerId: '' }), T0);
    expect(report.providerId).toBe('host-1');
    const first = reportOf(undefined, frame('Configured', { providerId: '' }), T0);
    expect(pendingWrite('m-1', facts(first, object(READY)))).toBeUndefined();
  });

  test('upcomingNodes: sets nodeRef from the matched Node and keeps it when the Node is gone', () => {
    const node = { ...NODE, ready: true };
    expect(patchOf(facts(reported('Configured'), object(READY), node))).toEqual({
      status: {
        nodeRef: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'nu1' },
        conditions: conditions('Ready'),
      },
    });
    const linked = object({ ...READY, nodeRef: { kind: 'Node', name: 'n1', uid: 'nu1' } });
    expect(patchOf(facts(reported('Configured'), linked))).toBeUndefined();
    expect(patchOf(facts(reported('Configured'), linked, { ...node, uid: 'nu2' }))).toEqual({
      status: { nodeRef: { uid: 'nu2' }, conditions: conditions('Ready') },
    });
  });

  // A reclaim of the next lifecycle found the Node of the last one gone, and counted as drained.
  test.each(
    [
      ['Speculative', 'Provisioning'],
      ['Configuring', 'Registered'],
    ] as const,
  )('DR-10: a machine that is %s again has no nodeRef until its Node joins', (state, phase) => {
    const linked = object({ ...READY, nodeRef: { kind: 'Node', name: 'n1', uid: 'nu1' } });
    expect(patchOf(facts(reported(state), linked))).toEqual({
      status: { phase, nodeRef: null, conditions: conditions(phase) },
    });
    expect(patchOf(facts(reported(state), linked, NODE))).toEqual({
      status: { phase, conditions: conditions(phase) },
    });
    expect(patchOf(facts(reported('Draining'), linked))).toEqual({
      status: { phase: 'Draining', conditions: conditions('Draining') },
    });
  });

  test('upcomingNodes: patches only the spec fields that changed, and null removes one', () => {
    const current = object(READY, {
      labels: { arch: 'amd64', old: 'x' },
      resources: { cpu: 2, memory: '4Gi' },
      taints: [{ key: 'k', effect: 'NoSchedule' }],
    });
    expect(pendingWrite('m-1', facts(reported('Configured'), current))).toBe('spec_update');
    expect(specPatch('m-1', facts(reported('Configured'), current))).toEqual({
      spec: { labels: { zone: 'a', old: null }, taints: null },
    });
  });

  test('upcomingNodes: names the machine in an object without an annotation', () => {
    const unnamed = {
      ...object(READY),
      metadata: { name: 'un-m-1', uid: 'u', resourceVersion: '1' },
    };
    expect(specPatch('m-1', facts(reported('Configured'), unnamed))).toEqual({
      metadata: { annotations: { 'bigfleet.lucy.sh/machine-id': 'm-1' } },
    });
  });

  test('wire phases: a drained machine is Drained before its object is deleted', () => {
    const ended = reported('Draining', 'Idle');
    expect(pendingWrite('m-1', facts(ended, object({ ...READY, phase: 'Draining' }))))
      .toBe('status_update');
    expect(pendingWrite('m-1', facts(ended, object({ ...READY, phase: 'Drained' })))).toBe(
      'delete',
    );
    expect(pendingWrite('m-1', facts(ended))).toBeUndefined();
  });

  test('wire phases: IDLE after a restart is judged by the phase of the object', () => {
    const idle = reported('Idle');
    expect(idle.phase).toBeNull();
    const pendingFor = (phase: string) =>
      pendingWrite('m-1', facts(idle, object({ ...READY, phase })));
    expect(pendingFor('Provisioning')).toBe('status_update');
    expect(pendingFor('Draining')).toBe('status_update');
    expect(pendingFor('Ready')).toBe('delete');
    expect(pendingWrite('m-1', facts(idle, object(undefined)))).toBe('delete');
    expect(pendingWrite('m-1', facts(idle))).toBeUndefined();
  });

  test('wire phases: a machine missing from a replay loses its object', () => {
    expect(pendingWrite('m-1', facts(UNBOUND, object(READY)))).toBe('delete');
    expect(pendingWrite('m-1', facts(UNBOUND))).toBeUndefined();
  });

  test('upcomingNodes: is read from any object of the API server', () => {
    expect(projectUpcomingNode(undefined)).toBeUndefined();
    expect(projectUpcomingNode({ metadata: { name: 'x' } })).toBeUndefined();
    expect(projectUpcomingNode({
      metadata: { name: 'un-x', uid: 'u', resourceVersion: '1' },
      status: { phase: 'Nonsense' },
    })).toMatchObject({ phase: null, machineId: '', spec: '{"resources":{}}' });
  });
});
