/**
 * The registry of NodeMaintenances over drains that only record what is asked of them.
 *
 * A maintenance that was observed while other lists were incomplete had no actor until its next
 * change: considered were those that came later, and all only when there was none.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { NEVER, Subject } from 'rxjs';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import {
  type MaintainableNode,
  NodeMaintenanceRegistry,
} from '../../../src/actors/node-maintenance/node-maintenances.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { CORDON_PREFIX, maintenanceOwner, printCordon } from '../../../src/domain/drain/cordon.ts';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { type ObjectKey, resourceVersion } from '../../../src/domain/ids.ts';
import type { MaintenanceWrite } from '../../../src/domain/node-maintenance/maintenance-step.ts';
import type { ObservedMaintenance } from '../../../src/domain/node-maintenance/observed-maintenance.ts';
import { NodeMaintenances } from '../../../src/effects/node-maintenance.ts';
import {
  maintenanceOf,
  type MaintenanceTraits,
} from '../../support/node-maintenance/maintenance-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const LABELS = { pool: 'a' };

const informer = <T extends Identity>() => {
  const facts = new Subject<Fact<T>>();
  const cached = new Map<ObjectKey, T>();
  return {
    facts,
    get: (key: ObjectKey) => cached.get(key),
    values: () => cached.values(),
    put: (object: T): void => {
      cached.set(object.key, object);
      facts.next({ _tag: 'Present', object });
    },
  };
};

const nodeOf = (name: string, annotations: Readonly<Record<string, string>> = {}) => {
  const raw = {
    metadata: { name, uid: name, resourceVersion: '1', labels: LABELS, annotations },
    spec: { unschedulable: Object.keys(annotations).length > 0 },
  };
  const node = projectNode(raw);
  if (node === undefined) throw new Error('The node has no identity');
  return { ...node, labels: LABELS, bootId: '', doneFor: '' };
};

/** The object after a write. */
const written = (current: ObservedMaintenance, write: MaintenanceWrite): ObservedMaintenance => {
  const newer = { ...current, resourceVersion: resourceVersion(`${+current.resourceVersion + 1}`) };
  if (write.write === 'addFinalizer') return { ...newer, hasFinalizer: true };
  return write.write === 'setStatus' ? { ...newer, status: write.status } : newer;
};

const rig = () => {
  const time = simulatedTime();
  const runtime = ManagedRuntime.make(Layer.succeed(NodeMaintenances, {
    write: (maintenance, write) =>
      Effect.succeed({ _tag: 'Written' as const, current: written(maintenance, write) }),
    areServed: Effect.succeed(true),
  }));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const maintenances = informer<ObservedMaintenance>();
  const nodes = informer<MaintainableNode>();
  const [ordered, withdrawn]: [Set<string>, Set<string>] = [new Set(), new Set()];
  let isSynced = false;
  const registry = new NodeMaintenanceRegistry(environment, {
    maintenances,
    nodes,
    engine: {
      drains: {
        order: ({ name }, { owner }) => void ordered.add(`${name} ${owner}`),
        release: () => {},
        withdraw: (node, owner) => void withdrawn.add(`${node} ${owner}`),
        reconsider: () => {},
        has: () => false,
        get: () => undefined,
        tolerating: () => undefined,
        events: NEVER,
      },
      maintained: new MaintainedNodes(),
      requested: undefined,
      pods: { facts: NEVER },
    },
    isSynced: () => isSynced,
    isBehind: () => false,
    record: () => {},
  });
  onTestFinished(() => registry.stop());
  return {
    time,
    nodes,
    ordered,
    withdrawn,
    registry,
    maintain: (name: string, traits: MaintenanceTraits) =>
      maintenances.put(maintenanceOf('1', { name, uid: `uid-${name}`, ...traits })),
    sync: () => {
      isSynced = true;
    },
  };
};

test('a maintenance that was observed before the Nodes are listed is worked on', async () => {
  const { time, nodes, ordered, registry, maintain, sync } = rig();
  registry.onLeading();
  maintain('early', { stage: 'Cordon' });
  sync();
  nodes.put(nodeOf('n1'));
  maintain('later', { stage: 'Cordon' });
  await time.advance(5000);
  expect([...ordered].toSorted()).toEqual(
    ['early', 'later'].map((name) => `n1 ${maintenanceOwner(`uid-${name}`)}`).toSorted(),
  );
});

test('NM-05: an idle maintenance touches no Node, and one that does not lead neither', async () => {
  const { time, nodes, ordered, withdrawn, registry, maintain, sync } = rig();
  sync();
  nodes.put(nodeOf('n1'));
  maintain('cordons', { stage: 'Cordon' });
  await time.advance(5000);
  expect([ordered.size, withdrawn.size]).toEqual([0, 0]);
  registry.onLeading();
  maintain('idle', { stage: 'Idle' });
  await time.advance(5000);
  expect([...ordered]).toEqual([`n1 ${maintenanceOwner('uid-cordons')}`]);
});

test('keys of maintenances that do not exist leave their Nodes', async () => {
  const { time, nodes, withdrawn, registry, sync } = rig();
  const owner = maintenanceOwner('uid-gone');
  const key = printCordon({
    ids: ['gone@1'],
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: 0,
    ended: null,
  });
  sync();
  registry.onLeading();
  nodes.put(nodeOf('n1', { [`${CORDON_PREFIX}${owner}`]: key }));
  await time.advance(5000);
  expect([...withdrawn]).toEqual([`n1 ${owner}`]);
});
