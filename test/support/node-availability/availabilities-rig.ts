/** The availability of Nodes over facts that a test sends. Must be called inside a test. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import {
  NodeAvailabilities,
  type NodeLease,
} from '../../../src/actors/node-availability/node-availabilities.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { rawConditionOf } from '../../../src/domain/condition.ts';
import type { Fact } from '../../../src/domain/facts.ts';
import { objectKey, resourceVersion, uid } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import { AVAILABILITY_CONDITION } from '../../../src/domain/node-availability/available-node.ts';
import type { Volume, VolumeClaim } from '../../../src/domain/node-availability/local-volumes.ts';
import type { LostPod } from '../../../src/domain/node-availability/lost-pods.ts';
import {
  AVAILABILITY_LABELS,
  type AvailabilityLabel,
  type AvailableNode,
} from '../../../src/domain/node-availability/node-state.ts';
import {
  NodeAvailabilityApi,
  type PodConditionOutcome,
  type RemovalOutcome,
} from '../../../src/effects/node-availability.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { type NodeTraits, nodeWith } from './availability-fixture.ts';

/** The settings of the Nodes. */
export const POLICY = {
  offlineAfterMs: 60_000,
  degradedAfterMs: 30_000,
  cleanAfterMs: 60_000,
  degradedBy: [],
  stormLimitPercent: 20,
};
/** Nothing is deleted before. */
export const SETTLE_MS = 5000;
/** What has changed is looked at. */
export const REVIEW_MS = 500;

/** A Node of that name, at that version. */
export const nodeNamed = (
  name: string,
  traits: NodeTraits = {},
  version = '1',
): AvailableNode => ({
  ...nodeWith(version, traits),
  key: objectKey(name),
  name,
  uid: uid(name),
});

const CLAIM: VolumeClaim = {
  key: objectKey('data', 'default'),
  uid: uid('claim'),
  resourceVersion: resourceVersion('1'),
  isShared: true,
  volumeName: 'v',
};

const leaseOf = (node: string, renewTime: string): NodeLease => ({
  key: objectKey(node, 'kube-node-lease'),
  uid: uid(`lease-${node}`),
  resourceVersion: resourceVersion(renewTime),
  node,
  renewTime,
});

/** The Nodes of a process that does not lead yet. */
export const availabilitiesRig = (
  listed: readonly AvailableNode[],
  pods: readonly LostPod[] = [],
  policy: Partial<typeof POLICY> = {},
) => {
  const time = simulatedTime();
  const nodes = new Map(listed.map((node) => [node.key, node]));
  /** What the process knows, and what answers it; tests change it. */
  const site = {
    isSynced: true,
    isBehind: false,
    /** Nodes that drain as disabled ones. */
    draining: new Set<string>(),
    podOutcome: 'Written' as PodConditionOutcome,
    /** What writes of pods wait for. */
    podsAnswer: Promise.resolve(),
  };
  /** Nodes that were read, and claims that were looked up. */
  const reads = { nodes: 0, claims: 0 };
  /** Nodes whose drain as disabled ones was withdrawn, since somebody looked. */
  const withdrawn = new Set<string>();
  /** Events: the kind and name of what they are about, and the reason. */
  const notes: string[] = [];
  /** Events on the Lease. */
  const alarms: string[] = [];
  const removals: { readonly name: string; readonly end: (outcome: RemovalOutcome) => void }[] = [];
  /** Pods whose status was written. */
  const patched: string[] = [];
  /** The last reason that was sent for a Node, by name. */
  const labels = new Map<string, AvailabilityLabel>();
  /** By name and labels, such as `tidegate_nodes active`. */
  const gauges = new Map<string, number>();
  /** Nodes whose series were removed. */
  const forgotten: string[] = [];
  const facts = {
    nodes: new Subject<Fact<AvailableNode>>(),
    leases: new Subject<Fact<NodeLease>>(),
    pods: new Subject<Fact<LostPod>>(),
    claims: new Subject<Fact<VolumeClaim>>(),
    volumes: new Subject<Fact<Volume>>(),
  };
  const runtime = ManagedRuntime.make(Layer.succeed(NodeAvailabilityApi, {
    write: ({ node, condition }) => {
      const reason = textAt(rawConditionOf(condition, AVAILABILITY_CONDITION), 'reason');
      const label = AVAILABILITY_LABELS.find((one) => one === reason);
      if (label !== undefined) labels.set(node, label);
      return Effect.succeed({ _tag: 'Fault' as const, why: 'not written here' });
    },
    showOnPod: ({ name }) =>
      Effect.promise(async () => {
        patched.push(name);
        await site.podsAnswer;
        return site.podOutcome;
      }),
    remove: ({ name, mayLeave }) =>
      Effect.callback<RemovalOutcome>((resume) => {
        if (!mayLeave()) return resume(Effect.succeed({ _tag: 'Fault', why: 'not sent' }));
        removals.push({ name, end: (outcome) => resume(Effect.succeed(outcome)) });
      }),
  }));
  const registry = new NodeAvailabilities(
    makeActorEnvironment({
      time,
      runtime,
      telemetry: {
        ...silentTelemetry,
        gauge: (name, value, ...[labels]) =>
          void gauges.set([name, ...Object.values(labels ?? {})].join(' '), value),
        forget: (_name, ...[labels]) =>
          void forgotten.push(...Object.values(labels ?? {}).map(String)),
      },
      firstSeed: 1,
    }),
    {
      policy: { ...POLICY, ...policy },
      project: () => undefined,
      nodes: {
        facts: facts.nodes,
        get size() {
          return nodes.size;
        },
        get: (key) => nodes.get(key),
        values: function* () {
          for (const node of nodes.values()) {
            reads.nodes += 1;
            yield node;
          }
        },
      },
      leases: { facts: facts.leases },
      pods: { facts: facts.pods },
      claims: {
        facts: facts.claims,
        get: (key) => {
          reads.claims += 1;
          return { ...CLAIM, key };
        },
      },
      volumes: {
        facts: facts.volumes,
        get: (key) => ({
          key,
          uid: uid('v'),
          resourceVersion: resourceVersion('1'),
          isOfNode: false,
        }),
      },
      drains: {
        has: (name) => site.draining.has(name),
        withdraw: (name) => void withdrawn.add(name),
      },
      isSynced: () => site.isSynced,
      isBehind: () => site.isBehind,
      record: ({ regarding: { kind, name }, reason }) =>
        void notes.push(`${kind} ${name} ${reason}`),
      recordOnLease: (reason, note) => void alarms.push(`${reason}: ${note}`),
    },
  );
  onTestFinished(() => registry.onLeadershipLost());
  facts.nodes.next({ _tag: 'Listed', objects: listed });
  facts.pods.next({ _tag: 'Listed', objects: pods });
  return {
    time,
    site,
    reads,
    removals,
    withdrawn,
    notes,
    alarms,
    patched,
    labels,
    gauges,
    forgotten,
    registry,
    /** Leads, and has looked at all Nodes. */
    beginTerm: async (): Promise<void> => {
      registry.onLeading();
      await time.advance(SETTLE_MS + REVIEW_MS);
    },
    /** How many Nodes are offline. */
    offline: (): number => registry.counts()['offline'] ?? 0,
    /** All Nodes are listed again. */
    listNodes: (objects: readonly AvailableNode[]): void => {
      nodes.clear();
      for (const node of objects) nodes.set(node.key, node);
      facts.nodes.next({ _tag: 'Listed', objects });
    },
    /** A Node is gone. */
    removeNode: (last: AvailableNode): void => {
      if (nodes.get(last.key)?.uid === last.uid) nodes.delete(last.key);
      facts.nodes.next({ _tag: 'Absent', key: last.key, last });
    },
    /** A Node has changed. */
    changeNode: (node: AvailableNode): void => {
      nodes.set(node.key, node);
      facts.nodes.next({ _tag: 'Present', object: node });
    },
    /** The Lease of a Node is observed to be renewed. */
    renew: (node: string, renewTime: string): void =>
      facts.leases.next({ _tag: 'Present', object: leaseOf(node, renewTime) }),
    /** The Leases of these Nodes are listed. */
    listLeases: (renewTimes: Readonly<Record<string, string>> = {}): void =>
      facts.leases.next({
        _tag: 'Listed',
        objects: Object.entries(renewTimes).map(([node, at]) => leaseOf(node, at)),
      }),
    /** The Lease of a Node is gone. */
    removeLease: (node: string): void => {
      const last = leaseOf(node, '');
      facts.leases.next({ _tag: 'Absent', key: last.key, last });
    },
    /** A claim has changed. */
    changeClaim: (): void => facts.claims.next({ _tag: 'Absent', key: CLAIM.key, last: CLAIM }),
    /** All pods are listed again. */
    listPods: (objects: readonly LostPod[]): void => facts.pods.next({ _tag: 'Listed', objects }),
    /** A pod has changed. */
    change: (pod: LostPod): void => facts.pods.next({ _tag: 'Present', object: pod }),
  };
};
