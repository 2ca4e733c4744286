/** The role that drains nodes, on lists of an API server: the machine of a Node, and terms. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { Subject } from 'rxjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import type { DrainPolicy } from '../../../src/actors/node-drains/drain-engine.ts';
import { nodeDrainsRole } from '../../../src/actors/node-drains/node-drains-role.ts';
import { upcomingNodeCollection } from '../../../src/actors/upcoming-nodes/upcoming-nodes-role.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { CORDON_PREFIX, type DrainOwner, printCordon } from '../../../src/domain/drain/cordon.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { instructionId, MACHINE_ID_KEY, machineId } from '../../../src/domain/ids.ts';
import { upcomingNodeName } from '../../../src/domain/names.ts';
import { cordonsLayer } from '../../../src/effects/cordons.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import { UPCOMING_NODES_PATH } from '../../../src/effects/upcoming-nodes.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { fakeObjects } from '../../support/api/fake-objects.ts';
import { watchChannel } from '../../support/api/watch-channel.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const NODES = '/api/v1/nodes';

/** An UpcomingNode of a machine, by the Node that it refers to. */
const upcomingNodeRaw = (machine: string, node: string, annotated = machine) => ({
  metadata: {
    name: upcomingNodeName(machineId(machine)),
    uid: `uid-${machine}`,
    resourceVersion: '1',
    annotations: { [MACHINE_ID_KEY]: annotated },
  },
  status: { nodeRef: { name: node } },
});

/** The test's overrides. */
interface RoleTraits {
  /** UpcomingNodes: a machine, its Node, and the annotation when it does not name the machine. */
  readonly upcomingNodes?: readonly (readonly [string, string, string?])[];
  /** The machine that matching finds for a Node. */
  readonly matched?: string;
  readonly policy?: Partial<DrainPolicy>;
}

/** The role on Nodes with these metadata; it does not lead. */
const roleOn = async (metadataOf: Readonly<Record<string, object>>, traits: RoleTraits = {}) => {
  const time = simulatedTime();
  const nodes = fakeObjects(NODES, projectNode);
  for (const [name, metadata] of Object.entries(metadataOf)) {
    nodes.put(name, {
      metadata: { name, uid: `uid-${name}`, ...metadata },
      spec: { unschedulable: 'annotations' in metadata },
    });
  }
  const upcomingWatch = watchChannel();
  const lists = new Map<string, () => readonly unknown[]>([
    [NODES, () => nodes.names().map(nodes.get)],
    [
      UPCOMING_NODES_PATH,
      () => (traits.upcomingNodes ?? []).map((each) => upcomingNodeRaw(...each)),
    ],
  ]);
  const api = Layer.mergeAll(
    Layer.succeed(KubeApi, {
      call: (call) => {
        if (call.path.startsWith(`${NODES}/`)) return nodes.call(call);
        const items = lists.get(call.path)?.() ?? [];
        return Effect.succeed({ status: 200, body: { metadata: { resourceVersion: '1' }, items } });
      },
      watch: ({ path }) =>
        Effect.succeed((path === UPCOMING_NODES_PATH ? upcomingWatch : watchChannel()).lines),
    }),
    Layer.succeed(Writes, { send: (_, call) => nodes.call(call) }),
  );
  const objects = Layer.mergeAll(
    cordonsLayer(silentTelemetry),
    podEvictionApiLayer(silentTelemetry),
    servingGatesLayer,
    evictionRequestsLayer,
  );
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(objects, api).pipe(Layer.provideMerge(clockLayer(time))),
  );
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const informers = sharedInformers(environment);
  const shardEvents = new Subject<ShardEvent>();
  const acked: string[] = [];
  const reported: string[] = [];
  const role = nodeDrainsRole(environment, {
    policy: { own: null, paused: false, ...traits.policy },
    session: {
      shardEvents,
      reply: (reply) => {
        if (reply._tag !== 'ReclaimAcknowledged') return false;
        acked.push(`${reply.instructionId} ${reply.nodesStarted}`);
        return true;
      },
    },
    machines: {
      nodeOf: (machine) => {
        const node = projectNode(nodes.get(machine));
        return node && { node, rule: 'NodeName' };
      },
      machineOf: () => traits.matched,
      drain: (machine, { _tag }) => {
        reported.push(`${machine} ${_tag}`);
        return Promise.resolve();
      },
      wasConfigured: () => true,
    },
    upcomingNodeCollection: upcomingNodeCollection((text) => text),
  }, { informers, record: () => {}, recordOnLease: () => {} });
  const stop = async (): Promise<void> => {
    const stopping = role.stop();
    await time.advance(20_000);
    await stopping;
  };
  onTestFinished(async () => {
    await stop();
    informers.stop();
    await runtime.dispose();
  });
  await role.start();
  const before = role.ready();
  informers.start();
  await time.advance(1000);
  return {
    role,
    time,
    /** Why it was not ready before the lists. */
    before,
    acked,
    reported,
    stop,
    machineOf: (name: string) => role.shared.machineOf({ name }),
    writes: () => nodes.writes(),
    /** The watch shows a further UpcomingNode. */
    showUpcomingNode: async (machine: string, node: string) => {
      upcomingWatch.push([{ type: 'ADDED', object: upcomingNodeRaw(machine, node) }]);
      await time.settle();
    },
    order: async (id: string, machines: readonly string[]) => {
      shardEvents.next({
        _tag: 'ReclaimOrdered',
        order: {
          instructionId: instructionId(id),
          machines,
          graceSeconds: 600,
          preemptorPriority: 0,
        },
      });
      await time.advance(5000);
    },
  };
};

/** A Node that an owner drains since the beginning. */
const drainedBy = (owner: DrainOwner, id: string) => ({
  annotations: {
    [`${CORDON_PREFIX}${owner}`]: printCordon({
      ids: [id],
      deadlineMs: null,
      graceSeconds: 600,
      sinceMs: simulatedTime().now(),
      ended: null,
    }),
  },
});

const LABELLED = { labels: { [MACHINE_ID_KEY]: 'm-label' } };

describe('the machine of a Node', () => {
  test('DR-10: is the one that matching finds, before all others', async () => {
    const { machineOf } = await roleOn({ n1: LABELLED }, {
      matched: 'm-matched',
      upcomingNodes: [['m-label', 'n1']],
    });
    expect(machineOf('n1')).toBe('m-matched');
  });

  test.each(
    [
      ['its label', LABELLED, 'm-label'],
      ['its name', {}, 'n1'],
    ] as const,
  )('DR-10: is that of the UpcomingNode of %s, when this refers to it', async (_, node, id) => {
    const upcomingNodes = [['m-0', 'n1'], [id, 'n1'], ['m-2', 'n1']] as const;
    expect((await roleOn({ n1: node }, { upcomingNodes })).machineOf('n1')).toBe(id);
  });

  test('DR-10: is that of the first UpcomingNode that refers to it, when the label does not', async () => {
    const { machineOf, showUpcomingNode } = await roleOn({ n1: LABELLED, n2: {} }, {
      upcomingNodes: [['m-label', 'n3'], ['m-1', 'n1'], ['m-2', 'n1'], ['m-3', '']],
    });
    expect([machineOf('n1'), machineOf('n2')]).toEqual(['m-1', 'n2']);
    await showUpcomingNode('m-4', 'n2');
    expect(machineOf('n2')).toBe('m-4');
  });

  test('DR-10: is not one whose UpcomingNode refers to another Node', async () => {
    const labelled = await roleOn({ n1: LABELLED }, { upcomingNodes: [['m-label', 'n2']] });
    expect(labelled.machineOf('n1')).toBe('n1');
    const none = await roleOn({ n1: LABELLED }, {
      upcomingNodes: [['m-label', 'n2'], ['n1', 'n3']],
    });
    expect(none.machineOf('n1')).toBeUndefined();
  });

  test('DR-10: is not that of an UpcomingNode that names no machine', async () => {
    const { machineOf } = await roleOn({ n1: {}, n2: {} }, {
      upcomingNodes: [['n1', 'n1', ''], ['m-2', 'n2', '']],
    });
    expect([machineOf('n1'), machineOf('n2')]).toEqual([undefined, 'n2']);
  });

  test('DR-10: is named by its label, then by its name, while no UpcomingNode is there', async () => {
    const { machineOf } = await roleOn({ n1: LABELLED, n2: {} });
    expect([machineOf('n1'), machineOf('n2')]).toEqual(['m-label', 'n2']);
    const early = await roleOn({ n1: LABELLED }, { upcomingNodes: [['m-label', '']] });
    expect(early.machineOf('n1')).toBe('m-label');
  });
});

describe('the role', () => {
  const LISTS = 'nodes, pods, poddisruptionbudgets';

  test('is ready once its lists are complete, and reads volumes only when they may matter', async () => {
    const plain = await roleOn({});
    expect([plain.before, plain.role.ready()])
      .toEqual([`initial list incomplete: ${LISTS}, upcomingnodes`, undefined]);
    expect(plain.role.informers.map(({ id }) => id).join(', ')).toBe(`${LISTS}, upcomingnodes`);
    for (const policy of [{ localVolumes: 'keep' }, { drainsDisabled: true }] as const) {
      const { role } = await roleOn({}, { policy });
      expect(role.informers.map(({ id }) => id).join(', '))
        .toBe(`${LISTS}, persistentvolumeclaims, persistentvolumes, upcomingnodes`);
    }
  });

  test('DR-13: resumes what it finds on Nodes when it leads, and nothing before', async () => {
    const { role, time, acked, reported, writes } = await roleOn({
      n1: drainedBy('reclaim', 'i1'),
    });
    await time.advance(60_000);
    expect([acked, reported, writes()]).toEqual([[], [], []]);
    role.onLeading();
    role.onLeading();
    await time.advance(5000);
    expect(acked).toEqual(['i1 1']);
    expect(reported).toEqual(['n1 Drained']);
  });

  test.each([[undefined, false], [false, false], [true, true]] as const)(
    'drains disabled Nodes when no other process does (%s): %s',
    async (drainsDisabled, drains) => {
      const policy = drainsDisabled === undefined ? {} : { drainsDisabled };
      const { role, time, writes } = await roleOn({ n1: drainedBy('disabled', 'n1') }, { policy });
      role.onLeading();
      await time.advance(5000);
      expect(writes().length > 0).toBe(drains);
    },
  );

  test('drains all Nodes of an instruction at once without a limit', async () => {
    const { role, order, acked } = await roleOn({ n1: {}, n2: {} });
    role.onLeading();
    await order('i1', ['n1', 'n2']);
    expect(acked).toEqual(['i1 2']);
  });

  test('reclaims the Nodes that the selector selects', async () => {
    const policy = { isReclaimable: (labels: object) => 'spot' in labels };
    const { role, order, acked, writes } = await roleOn(
      { n1: { labels: { spot: '1' } }, n2: {} },
      { policy },
    );
    role.onLeading();
    await order('i1', ['n1', 'n2']);
    expect(acked).toEqual(['i1 1']);
    expect(writes().filter((write) => write.includes('n2'))).toEqual([]);
  });

  test.each(['onLeadershipLost', 'close', 'stop'] as const)(
    'DR-15: answers no instruction after %s',
    async (end) => {
      const { role, stop, order, acked, writes } = await roleOn({ n1: {}, n2: {} });
      role.onLeading();
      await order('i1', ['n1']);
      expect(acked).toEqual(['i1 1']);
      if (end === 'stop') await stop();
      else await role[end]?.();
      const written = writes().length;
      await order('i2', ['n2']);
      expect([acked, writes().length]).toEqual([['i1 1'], written]);
    },
  );

  test('DR-15: a drain ends nowhere after the lease is lost', async () => {
    const { role, time, reported, writes } = await roleOn({ n1: drainedBy('reclaim', 'i1') });
    role.onLeading();
    role.onLeadershipLost();
    await time.advance(60_000);
    expect([reported, writes()]).toEqual([[], []]);
    expect([...role.shared.drains.nodes()]).toEqual([]);
  });
});
