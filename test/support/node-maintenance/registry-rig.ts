/**
 * The registry of NodeMaintenances over drains that only record what is asked of them, on a
 * simulated clock. Must be called inside a test, with which it ends.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { NEVER, Subject } from 'rxjs';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import {
  type MaintainableNode,
  NodeMaintenanceRegistry,
} from '../../../src/actors/node-maintenance/node-maintenances.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import type { Budget } from '../../../src/domain/drain/budget.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { type ObjectKey, resourceVersion } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import type { MaintenanceWrite } from '../../../src/domain/node-maintenance/maintenance-step.ts';
import { nodeConditionsOf } from '../../../src/domain/node-maintenance/node-conditions.ts';
import type { ObservedMaintenance } from '../../../src/domain/node-maintenance/observed-maintenance.ts';
import type { UnschedulablePod } from '../../../src/domain/node-maintenance/unschedulable-pod.ts';
import {
  type NodeConditionsOutcome,
  type NodeConditionsWrite,
  NodeMaintenances,
} from '../../../src/effects/node-maintenance.ts';
import { maintenanceOf, type MaintenanceTraits } from './maintenance-fixture.ts';
import { simulatedTime } from '../time/simulated-time.ts';

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
    remove: (last: T): void => {
      cached.delete(last.key);
      facts.next({ _tag: 'Absent', key: last.key, last });
    },
    /** A complete list, which may lack some. */
    list: (...objects: readonly T[]): void => {
      cached.clear();
      for (const object of objects) cached.set(object.key, object);
      facts.next({ _tag: 'Listed', objects });
    },
  };
};

/** A Node that every maintenance of the fixture selects. */
export const nodeOf = (
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  { version = '1', conditions = [] }: {
    readonly version?: string;
    readonly conditions?: readonly object[];
  } = {},
) => {
  const raw = {
    metadata: { name, uid: name, resourceVersion: version, labels: LABELS, annotations },
    spec: { unschedulable: Object.keys(annotations).length > 0 },
    status: { conditions },
  };
  const node = projectNode(raw);
  if (node === undefined) throw new Error('The node has no identity');
  return {
    ...node,
    labels: LABELS,
    bootId: '',
    doneFor: '',
    createdMs: 0,
    lifecycle: nodeConditionsOf(raw),
  };
};

/** The object after a write. */
const written = (current: ObservedMaintenance, write: MaintenanceWrite): ObservedMaintenance => {
  const newer = { ...current, resourceVersion: resourceVersion(`${+current.resourceVersion + 1}`) };
  if (write.write === 'addFinalizer') return { ...newer, hasFinalizer: true };
  return write.write === 'setStatus' ? { ...newer, status: write.status } : newer;
};

/** Where the rig differs from a cluster that takes every write. */
export interface RegistryRigOptions {
  /** How the nth write of conditions ends. */
  readonly conditionOutcome?: (nth: number) => NodeConditionsOutcome;
  /** When the list of maintenances is that of the cluster; default: at once. */
  readonly whenMaintenancesCurrent?: () => Promise<void>;
}

const conditionsWritten = (nth: number): NodeConditionsOutcome => ({
  _tag: 'Written',
  resourceVersion: resourceVersion(`${100 + nth}`),
});

/** The registry, not leading and before its lists are complete. */
export const registryRig = (
  {
    conditionOutcome = conditionsWritten,
    whenMaintenancesCurrent = () => Promise.resolve(),
  }: RegistryRigOptions = {},
) => {
  const time = simulatedTime();
  const writes: MaintenanceWrite[] = [];
  const conditionWrites: NodeConditionsWrite[] = [];
  /** Of single maintenances, by metric and name. */
  const series = new Map<string, number>();
  const runtime = ManagedRuntime.make(Layer.succeed(NodeMaintenances, {
    write: (maintenance, write) => {
      writes.push(write);
      return Effect.succeed({ _tag: 'Written' as const, current: written(maintenance, write) });
    },
    setConditions: (write) => {
      conditionWrites.push(write);
      return Effect.succeed(conditionOutcome(conditionWrites.length));
    },
    areServed: Effect.succeed(true),
  }));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: {
      ...silentTelemetry,
      gauge: (metric, value, ...[labels]) => {
        const name = textAt(labels, 'nodemaintenance');
        if (name !== undefined) series.set(`${metric} ${name}`, value);
      },
      forget: (metric, ...[labels]) =>
        void series.delete(`${metric} ${textAt(labels, 'nodemaintenance')}`),
    },
    firstSeed: 1,
  });
  const maintenances = informer<ObservedMaintenance>();
  const nodes = informer<MaintainableNode>();
  const pods = informer<DrainPod>();
  const budgets = informer<Budget>();
  const unschedulable = informer<UnschedulablePod>();
  const notes: EventNote[] = [];
  const [ordered, withdrawn]: [Set<string>, Set<string>] = [new Set(), new Set()];
  let isSynced = false;
  let sweeps = 0;
  const maintained = new MaintainedNodes();
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
        staying: () => undefined,
        events: NEVER,
      },
      maintained,
      requested: { sweep: () => void (sweeps += 1) },
      pods,
      budgets,
    },
    unschedulable,
    isSynced: () => isSynced,
    isBehind: () => false,
    whenMaintenancesCurrent,
    record: (note) => void notes.push(note),
  });
  onTestFinished(() => registry.stop());
  return {
    time,
    nodes,
    pods,
    budgets,
    /** What was written to maintenances, in order. */
    writes,
    /** What was written to Nodes about their maintenances, in order. */
    conditionWrites,
    ordered,
    withdrawn,
    /** What was recorded as Events, in order. */
    notes,
    maintenances,
    series,
    /** What the drains know of the maintenances. */
    maintained,
    /** How often requesters were asked to look for what has ended. */
    sweeps: () => sweeps,
    registry,
    maintain: (name: string, traits: MaintenanceTraits, version = '1') =>
      maintenances.put(maintenanceOf(version, { name, uid: `uid-${name}`, ...traits })),
    sync: () => {
      isSynced = true;
    },
  };
};
