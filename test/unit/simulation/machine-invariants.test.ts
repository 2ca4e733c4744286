/** What the invariants about machines find and allow, on a cluster without an operator. */
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { nodeName, nodeObject } from '../../../packages/stand-in-fleet/src/node-object.ts';
import { machineId } from '../../../src/domain/ids.ts';
import { upcomingNodeName } from '../../../src/domain/names.ts';
import { ShardMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import type { Bench, Invariant } from '../../simulation/invariant.ts';
import {
  drainingMachinesAreDrained,
  endsAreTrue,
  onlyThisStayIsDrained,
  phasesFollowDrains,
  replaysAreAwaited,
} from '../../simulation/machine-invariants.ts';
import { CLUSTER } from '../../simulation/simulated-process.ts';
import { invariantRig } from '../../support/simulation/invariant-rig.ts';

const MACHINE = 'Machine-1';
const NODE = nodeName(MACHINE);
const OBJECTS = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
/** Longer than a reaction may take. */
const LONG_SECONDS = 70;
const PROCESS = 'process-1';

/** A cluster whose machine is CONFIGURED, with a Node, under one invariant. */
const rig = (make: (bench: Bench) => Invariant) => {
  const { time, site, invariant, breaches, pass } = invariantRig(make, { makesNodes: false });
  site.cluster.store.subscribe((change) => invariant.change?.(change));
  const machine = site.script.place(MACHINE, { state: 'CONFIGURED', cluster: CLUSTER });
  const nodePath = `/api/v1/nodes/${NODE}`;
  return {
    site,
    pass,
    invariant,
    breaches,
    join: () => site.ask('POST', '/api/v1/nodes', nodeObject(machine, '2026-01-01T00:00:00Z')),
    /** Writes the reclaim key of an instruction, as an operator does. */
    annotate: (id: string, more: object = {}) => {
      const deadline = new Date(time.now() + 600_000).toISOString();
      const reclaim = JSON.stringify({ ids: [id], deadline, ...more });
      const body = {
        spec: { unschedulable: true },
        metadata: { annotations: { 'cordon.tidegate.dev/reclaim': reclaim } },
      };
      const { status, body: node } = site.ask('PATCH', nodePath, body);
      const call = { method: 'PATCH', path: nodePath, body, headers: {} } as const;
      invariant.done?.({ process: PROCESS, call }, { status, body: node });
    },
    instruct: () => site.script.reclaim(MACHINE, { graceSeconds: 600 }, false).instructionId,
  };
};

describe('onlyThisStayIsDrained', () => {
  test('a drain for an instruction of this stay is none', async () => {
    const { join, pass, instruct, annotate, breaches } = rig(onlyThisStayIsDrained);
    join();
    await pass(1);
    annotate(instruct());
    expect(breaches).toEqual([]);
  });

  test('a drain for an instruction of the last stay is a violation', async () => {
    const { site, join, pass, instruct, annotate, breaches } = rig(onlyThisStayIsDrained);
    await pass(1);
    const instruction = instruct();
    site.script.place(MACHINE, { state: 'IDLE' });
    await pass(1);
    site.script.place(MACHINE, { state: 'CONFIGURED', cluster: CLUSTER });
    join();
    annotate(instruction);
    expect(breaches).toHaveLength(1);
  });
});

describe('drainingMachinesAreDrained', () => {
  test('a machine that drains while its Node serves is a violation after a minute', async () => {
    const { site, join, pass, breaches } = rig(drainingMachinesAreDrained);
    join();
    site.script.place(MACHINE, { state: 'DRAINING', cluster: CLUSTER });
    await pass(30);
    expect(breaches).toEqual([]);
    await pass(LONG_SECONDS);
    expect(breaches).not.toEqual([]);
  });

  test('a Node with the key of an instruction, or none, is no violation', async () => {
    const { site, join, pass, annotate, breaches } = rig(drainingMachinesAreDrained);
    site.script.place(MACHINE, { state: 'DRAINING', cluster: CLUSTER });
    await pass(LONG_SECONDS);
    join();
    annotate(`recovered-${MACHINE}`);
    await pass(LONG_SECONDS);
    expect(breaches).toEqual([]);
  });
});

describe('phasesFollowDrains', () => {
  const breachesWith = async (status: object): Promise<readonly string[]> => {
    const { site, join, pass, instruct, annotate, breaches } = rig(phasesFollowDrains);
    join();
    annotate(instruct(), { ended: 'Failed' });
    const name = upcomingNodeName(machineId(MACHINE));
    site.ask('POST', OBJECTS, {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'UpcomingNode',
      metadata: { name },
      spec: { resources: { cpu: '8' } },
    });
    expect(site.ask('PATCH', `${OBJECTS}/${name}/status`, { status }).status).toBe(200);
    await pass(LONG_SECONDS);
    return breaches;
  };

  test.each([
    [{ phase: 'Ready' }],
    [{ phase: 'Failed' }],
    [{ phase: 'Failed', lastError: 'no pods remain' }],
  ])('%j is a violation when the drain has failed', async (status) => {
    expect(await breachesWith(status)).not.toEqual([]);
  });

  test('Failed with the pods that remain is none', async () => {
    expect(await breachesWith({ phase: 'Failed', lastError: '1 pod remains' })).toEqual([]);
  });
});

describe('endsAreTrue', () => {
  const POD = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { nodeName: NODE, containers: [{ name: 'main', image: 'none' }] },
  };

  test('Drained with a pod that must leave is a violation', async () => {
    const { site, join, pass, annotate, breaches } = rig(endsAreTrue);
    join();
    site.ask('POST', '/api/v1/namespaces/shop/pods', POD);
    await pass(20);
    annotate('a');
    annotate('a', { ended: 'Drained' });
    expect(breaches).toEqual([`"${NODE}" is Drained with 1 pods on it`]);
  });

  test('Failed without one is a violation, and with one is none', async () => {
    const empty = rig(endsAreTrue);
    empty.join();
    await empty.pass(20);
    empty.annotate('a', { ended: 'Failed' });
    expect(empty.breaches).toHaveLength(1);
    const full = rig(endsAreTrue);
    full.join();
    full.site.ask('POST', '/api/v1/namespaces/shop/pods', POD);
    await full.pass(20);
    full.annotate('a', { ended: 'Failed' });
    expect(full.breaches).toEqual([]);
  });
});

describe('replaysAreAwaited', () => {
  const frame = (echo?: string): Uint8Array =>
    toBinary(
      ShardMessageSchema,
      create(ShardMessageSchema, {
        payload: echo === undefined
          ? { case: 'nodeStateUpdate', value: { machineId: MACHINE } }
          : { case: 'ack', value: { echo } },
      }),
    );
  const ending = {
    level: 'warn',
    message: 'Session ended',
    fields: { cause: 'RollupOverdue' },
  } as const;

  test('an end for a missing ack while the replay arrives is a violation', async () => {
    const { pass, invariant, breaches } = rig(replaysAreAwaited);
    invariant.delivered?.(PROCESS, frame());
    await pass(5);
    invariant.logged?.(PROCESS, ending);
    expect(breaches).toHaveLength(1);
  });

  test('it is none after a complete replay, or when nothing arrives', async () => {
    const { pass, invariant, breaches } = rig(replaysAreAwaited);
    invariant.delivered?.(PROCESS, frame('rollup'));
    invariant.logged?.(PROCESS, ending);
    invariant.delivered?.(PROCESS, frame());
    await pass(30);
    invariant.logged?.(PROCESS, ending);
    expect(breaches).toEqual([]);
  });
});
