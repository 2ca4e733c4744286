/**
 * Drains and reclaims over an in-memory cluster: Nodes patched as the API server patches them, pods
 * that leave when evicted, an UpcomingNode that shows the reported state.
 */
import { Effect, ManagedRuntime } from 'effect';
import { Layer } from 'effect';
import { concat, defer, EMPTY, of, Subject } from 'rxjs';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { drainEvents } from '../../../src/actors/node-drains/drain-events.ts';
import { DrainRegistry } from '../../../src/actors/node-drains/drains.ts';
import { LocalData } from '../../../src/actors/node-drains/local-data.ts';
import type { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import { ReclaimRegistry } from '../../../src/actors/node-drains/reclaims.ts';
import type {
  PodEvictions,
  PodEvictionStatus,
} from '../../../src/actors/pod-evictions/pod-evictions.ts';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import type { ReasonName } from '../../../src/api/reasons.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { annotationOf } from '../../../src/domain/drain/cordon.ts';
import type { DrainCondition } from '../../../src/domain/drain/drain-condition.ts';
import type { DrainingLimit } from '../../../src/domain/drain/draining-limit.ts';
import type { LocalVolumes } from '../../../src/domain/drain/kept-pods.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import type { Fact } from '../../../src/domain/facts.ts';
import type { MachineState, ShardEvent } from '../../../src/domain/frames.ts';
import { instructionId, machineId, type ObjectKey, objectKey } from '../../../src/domain/ids.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import type { Reply } from '../../../src/domain/session.ts';
import type { DrainFact } from '../../../src/domain/object-phase.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import type { UpcomingNodeProjection } from '../../../src/domain/upcoming-node.ts';
import { type Cordons, cordonsLayer } from '../../../src/effects/cordons.ts';
import type { Inspect } from '../../../src/observability/inspector.ts';
import type { KubeAnswer, KubeCall, NotSent } from '../../../src/effects/kube-api.ts';
import { fakeObjects } from '../api/fake-objects.ts';
import { podOf, type PodTraits } from './drain-facts.ts';
import { processWires } from './process-wires.ts';

const NODES = '/api/v1/nodes';

/** The test's overrides of the process. */
export interface DrainRigOptions {
  readonly tierWaitMs?: number;
  readonly paused?: boolean;
  readonly own?: { readonly namespace: string; readonly name: string };
  readonly volumes?: readonly string[];
  /** False when the operator does not lead at first. */
  readonly leads?: boolean;
  readonly telemetry?: Telemetry;
  /** Machines that the shard never showed CONFIGURED; all others it did. */
  readonly strangers?: readonly string[];
  /** Nodes that `--reclaimable-node-selector` excludes. */
  readonly excluded?: readonly string[];
  /** The Nodes cannot be read now. */
  readonly areNodesBehind?: () => boolean;
  readonly whenNodesCurrent?: () => Promise<void>;
  readonly whenPodsCurrent?: () => Promise<void>;
  /** `--max-draining`; without it, 100%. */
  readonly maxDraining?: DrainingLimit;
  readonly inspect?: Inspect;
  /** `--local-volumes`; without it, the drains know nothing of volumes. */
  readonly localVolumes?: LocalVolumes;
  /** What maintenances drain; without it, the drains do all that the keys name. */
  readonly maintained?: MaintainedNodes;
}

type Intercept = (call: KubeCall) => Effect.Effect<KubeAnswer | undefined, NotSent>;

/** Pods in memory. An evicted one terminates at once and is gone after its own time. */
const podCluster = (time: ReturnType<typeof simulatedTime>, log: string[]) => {
  const facts = new Subject<Fact<DrainPod>>();
  const changes = new Subject<string>();
  const progressed = new Subject<string>();
  const pods = new Map<ObjectKey, DrainPod>();
  const blocked = new Map<string, Partial<PodEvictionStatus>>();
  const wanted = new Map<string, DrainPod>();
  const accepted = new Set<string>();
  const goesAfter = new Map<string, number>();
  const deadlines = new Map<string, number | null>();
  let made = 0;
  let progressReads = 0;
  let resourceVersion = 1000;

  const put = (pod: DrainPod): void => {
    pods.set(pod.key, pod);
    facts.next({ _tag: 'Present', object: pod });
  };
  const remove = (key: string): void => {
    const pod = pods.get(objectKey(key.split('/')[1] ?? '', key.split('/')[0]));
    if (pod === undefined) return;
    pods.delete(pod.key);
    wanted.delete(pod.uid);
    facts.next({ _tag: 'Absent', key: pod.key, last: pod });
  };
  const terminate = (pod: DrainPod): void => {
    accepted.add(pod.uid);
    log.push(`evict ${pod.name}`);
    put({ ...pod, terminating: true, deletionMs: time.now() + 30_000, deletionGraceSeconds: 30 });
    const afterMs = goesAfter.get(pod.name) ?? 1000;
    if (Number.isFinite(afterMs)) time.schedule(afterMs, () => remove(pod.key));
  };
  const statusOf: PodEvictions['statusOf'] = (uid) => {
    const pod = [...pods.values()].find((candidate) => candidate.uid === uid);
    if (pod === undefined) return undefined;
    return {
      reason: pod.terminating ? 'Terminating' : 'WaitingForTurn',
      text: pod.terminating ? 'terminating for 1 s' : 'eviction is next',
      subject: '',
      state: 'calling',
      accepted: accepted.has(uid),
      inFlight: false,
      noSlotMs: Number.POSITIVE_INFINITY,
      refusals: 0,
      // The answer to an eviction is forgotten with its last request.
      ...(wanted.has(uid) ? blocked.get(pod.name) : undefined),
    };
  };
  const evictions: Pick<
    PodEvictions,
    'want' | 'bringForward' | 'release' | 'statusOf' | 'progress' | 'changes' | 'progressed'
  > = {
    changes,
    progressed,
    want: (pod, { node, deadlineMonotonicMs }) => {
      deadlines.set(node, deadlineMonotonicMs);
      if (wanted.has(pod.uid)) return;
      wanted.set(pod.uid, pod);
      if (pod.terminating || blocked.has(pod.name)) return;
      time.schedule(5, () => {
        const now = pods.get(pod.key);
        if (wanted.has(pod.uid) && now?.uid === pod.uid && !now.terminating) terminate(now);
      });
    },
    bringForward: (node, _owner, deadlineMs) => void deadlines.set(node, deadlineMs),
    release: (node) => {
      log.push(`release ${node}`);
      for (const pod of [...wanted.values()]) if (pod.node === node) wanted.delete(pod.uid);
    },
    statusOf,
    progress: (uid) => {
      progressReads += 1;
      const stands = statusOf(uid);
      if (stands === undefined) return undefined;
      const refusal = stands.reason === 'EvictionForbidden' ? stands.text : '';
      return { accepted: stands.accepted, refusal };
    },
  };
  return {
    evictions,
    reflector: {
      facts: defer(() =>
        concat(of<Fact<DrainPod>>({ _tag: 'Listed', objects: [...pods.values()] }), facts)
      ),
    },
    add: (traits: PodTraits & { readonly goesAfterMs?: number }) => {
      made += 1;
      const name = traits.name ?? `p${made}`;
      if (traits.goesAfterMs !== undefined) goesAfter.set(name, traits.goesAfterMs);
      resourceVersion += 1;
      put(podOf({ uid: `uid-${made}`, resourceVersion: `${resourceVersion}`, ...traits, name }));
    },
    remove: (name: string) => remove(`ns/${name}`),
    /** Blocks evictions of the pod for this reason. */
    block: (name: string, status: Partial<PodEvictionStatus>) => blocked.set(name, status),
    unblock: (name: string) => {
      blocked.delete(name);
      const pod = [...wanted.values()].find((candidate) => candidate.name === name);
      if (pod !== undefined) terminate(pod);
    },
    /** The process that requested evictions is killed. */
    forgetRequests: () => wanted.clear(),
    changed: (node: string) => {
      changes.next(node);
      progressed.next(node);
    },
    /** Only what blocks a pod of the node changed. */
    statusChanged: (node: string) => changes.next(node),
    /** How often drains read the progress of a pod. */
    progressReads: () => progressReads,
    /** Whether anyone follows the progress of evictions. */
    isFollowed: () => changes.observed,
    /** The deadline by which evictions on a node are ranked, on the monotonic clock. */
    deadline: (node: string) => deadlines.get(node),
    wanted: () => [...wanted.values()].map(({ name }) => name).toSorted(),
    names: () => [...pods.values()].map(({ name }) => name).toSorted(),
  };
};

/** A cluster, a session and a process, all on one simulated time. */
export const drainRig = (options: DrainRigOptions = {}) => {
  const time = simulatedTime();
  const log: string[] = [];
  const nodes = fakeObjects(NODES, projectNode);
  const pods = podCluster(time, log);
  const shardEvents = new Subject<ShardEvent>();
  const notes: EventNote[] = [];
  const replies: { readonly id: string; readonly nodesStarted: number }[] = [];
  const leaseNotes: { readonly reason: ReasonName; readonly note: string }[] = [];
  const gauges = new Map<string, number>();
  const counts = new Map<string, number>();
  const logged: { readonly message: string; readonly fields: object }[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (level, message, fields) => {
      logged.push({ message, fields: fields ?? {} });
      options.telemetry?.log(level, message, fields);
    },
    gauge: (name, value, ..._labels) => void gauges.set(name, value),
    count: (name, by, ...rest) => {
      const [labels] = rest;
      options.telemetry?.count(name, by, ...rest);
      const key = [name, ...Object.values(labels ?? {})].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
  };
  const strangers = new Set(options.strangers);
  const reported: { readonly machine: string; readonly fact: DrainFact; readonly atMs: number }[] =
    [];
  const conditions: (DrainCondition & { readonly node: string })[] = [];
  const machineObjects = new Map<string, Partial<UpcomingNodeProjection>>();
  const session = { open: true, room: true };
  const crash: { onReason: EventNote['reason'] | undefined } = { onReason: undefined };
  let showing = (): Promise<void> => Promise.resolve();
  let decide: Intercept = () => Effect.succeed(undefined);

  const nodeIn = ({ path }: KubeCall): string => path.slice(NODES.length + 1).split('/')[0] ?? '';
  /** The conditions that are written with the end of a drain. */
  const addConditions = (call: KubeCall): void => {
    for (const condition of listOrEmptyAt(call.body, 'status', 'conditions')) {
      conditions.push({
        node: nodeIn(call),
        status: textAt(condition, 'status') === 'True' ? 'True' : 'False',
        reason: textAt(condition, 'reason') ?? '',
        message: textAt(condition, 'message') ?? '',
      });
    }
  };
  /** The precondition that the API server checks. */
  const conflict = (call: KubeCall): KubeAnswer | undefined => {
    const wanted = textAt(call.body, 'metadata', 'resourceVersion');
    const known = nodes.get(nodeIn(call));
    const actual = textAt(known, 'metadata', 'resourceVersion');
    return known === undefined || wanted === undefined || wanted === actual
      ? undefined
      : { status: 409, body: { message: 'the object has been modified' } };
  };
  nodes.intercept((call) =>
    Effect.map(decide(call), (answer) => {
      const verdict = answer ?? conflict(call);
      const made = JSON.stringify(call.body).includes('"unschedulable":true')
        ? 'cordon'
        : 'annotation';
      log.push(`${made} ${nodeIn(call)} ${verdict?.status ?? 200}`);
      if (verdict === undefined) addConditions(call);
      return verdict;
    })
  );
  const reflector = {
    ...nodes.reflector,
    values: () => nodes.names().flatMap((name) => nodes.known(name) ?? []),
    get size() {
      return nodes.names().length;
    },
  };
  nodes.list();
  const runtimes: ManagedRuntime.ManagedRuntime<Cordons, never>[] = [];
  const machines = {
    nodeOf: (machine: string) => {
      const node = nodes.known(machine);
      return node === undefined ? undefined : { node, rule: 'NodeName' as const };
    },
    wasConfigured: (machine: string) => !strangers.has(machine),
    drain: (machine: string, fact: DrainFact) => {
      reported.push({ machine, fact, atMs: time.monotonic() });
      log.push(`show ${machine} ${fact._tag}`);
      return showing();
    },
  };
  const start = (leads: boolean) => {
    const wires = processWires();
    const runtime = ManagedRuntime.make(
      cordonsLayer(silentTelemetry).pipe(
        Layer.provideMerge(Layer.provide(wires.writes, nodes.layer)),
        Layer.provideMerge(clockLayer(time)),
      ),
    );
    runtimes.push(runtime);
    const environment = makeActorEnvironment({
      time,
      runtime,
      telemetry: wires.telemetry(telemetry),
      firstSeed: 1,
      ...(options.inspect === undefined ? {} : { inspect: options.inspect }),
    });
    const record = wires.called((note: EventNote): void => {
      if (note.reason === crash.onReason) {
        crash.onReason = undefined;
        throw new Error(`planted at ${note.reason}`);
      }
      notes.push(note);
    }, undefined);
    const events = drainEvents(wires.telemetry(telemetry), record);
    const cluster = {
      ...reflector,
      facts: wires.observed(reflector.facts),
      get size() {
        return reflector.size;
      },
    };
    const { want, bringForward, release, ...reads } = pods.evictions;
    const objects = () =>
      [...machineObjects.values()].map((known) => ({ ...EMPTY_OBJECT, ...known }));
    const machineOf = ({ name }: { readonly name: string }) =>
      objects().find(({ nodeName }) => nodeName === name)?.machineId ?? name;
    const unlisted = { facts: EMPTY, get: () => undefined };
    const { localVolumes } = options;
    const localData = localVolumes &&
      new LocalData({ localVolumes, nodes: cluster, claims: unlisted, volumes: unlisted });
    const drains = new DrainRegistry(environment, {
      nodes: cluster,
      localData,
      pods: { facts: wires.observed(pods.reflector.facts) },
      whenNodesCurrent: options.whenNodesCurrent ?? (() => Promise.resolve()),
      whenPodsCurrent: options.whenPodsCurrent ?? (() => Promise.resolve()),
      evictions: {
        ...reads,
        changes: wires.observed(reads.changes),
        progressed: wires.observed(reads.progressed),
        want: wires.called(want, undefined),
        bringForward: wires.called(bringForward, undefined),
        release: wires.called(release, undefined),
      },
      showOnMachine: wires.called(machines.drain, NEVER_WRITTEN),
      showOnNode: wires.called(
        (name, condition) => void conditions.push({ node: name, ...condition }),
        undefined,
      ),
      machineOf,
      events,
      own: options.own ?? null,
      paused: options.paused ?? false,
      volumesOn: () => options.volumes ?? [],
      ...(options.tierWaitMs === undefined ? {} : { tierWaitMs: options.tierWaitMs }),
      ...(options.maintained === undefined ? {} : { maintained: options.maintained }),
    });
    const reclaims = new ReclaimRegistry(environment, {
      shardEvents: wires.observed(shardEvents),
      reply: wires.called((reply: Reply) => {
        if (!session.open || !session.room) return false;
        if (reply._tag !== 'ReclaimAcknowledged') return false;
        replies.push({ id: reply.instructionId, nodesStarted: reply.nodesStarted });
        log.push(`ack ${reply.instructionId} ${reply.nodesStarted}`);
        return true;
      }, false),
      machines: { ...machines, drain: wires.called(machines.drain, NEVER_WRITTEN) },
      nodes: cluster,
      upcomingNodes: {
        get: (key) => {
          const known = machineObjects.get(key);
          return known === undefined ? undefined : { ...EMPTY_OBJECT, ...known };
        },
      },
      machineOf,
      drains,
      record,
      recordOnLease: wires.called(
        (reason, note) => void leaseNotes.push({ reason, note }),
        undefined,
      ),
      events,
      areNodesBehind: () => options.areNodesBehind?.() === true,
      isReclaimable: (name) => options.excluded?.includes(name) !== true,
      maxDraining: options.maxDraining ?? { _tag: 'Percent', percent: 100 },
    });
    const setLeading = (isLeading: boolean): void => {
      for (const part of [reclaims, drains]) {
        if (isLeading) part.onLeading();
        else part.onLeadershipLost();
      }
    };
    if (leads) setLeading(true);
    const kill = (): void => {
      wires.cut();
      pods.forgetRequests();
    };
    return { drains, reclaims, setLeading, kill };
  };
  let process = start(options.leads ?? true);
  const stopProcess = async (): Promise<void> => {
    const stopping = Promise.all([process.reclaims.stop(), process.drains.stop()]);
    await time.advance(20_000);
    await stopping;
  };
  return {
    time,
    log,
    nodes,
    pods,
    shardEvents,
    notes,
    /** Events on the operator's Lease. */
    leaseNotes,
    gauges,
    counts,
    logged,
    strangers,
    /** The actor that records this reason next crashes once. */
    crashOn: (reason: EventNote['reason']) => {
      crash.onReason = reason;
    },
    replies,
    reported,
    conditions,
    machineObjects,
    session,
    drains: () => process.drains,
    reclaims: () => process.reclaims,
    setLeading: (isLeading: boolean) => process.setLeading(isLeading),
    /** A new process on the same cluster; the one before is killed. */
    restart: () => {
      process.kill();
      process = start(true);
      return time.settle();
    },
    stop: async () => {
      await stopProcess();
      for (const runtime of runtimes) await runtime.dispose();
    },
    node: (name: string, more: object = {}) =>
      nodes.put(name, {
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
        ...more,
      }),
    /** The value of the `reclaim` key. */
    annotation: (name: string) => {
      const node = nodes.known(name);
      return node === undefined ? undefined : annotationOf(node, 'reclaim');
    },
    state: (name: string) => {
      const value = process.drains.get(name)?.getSnapshot().value;
      return typeof value === 'object' ? value['work'] : value;
    },
    order: (id: string, names: readonly string[], graceSeconds = 600) =>
      shardEvents.next({
        _tag: 'ReclaimInstructed',
        instruction: {
          instructionId: instructionId(id),
          machines: names,
          graceSeconds,
          preemptorPriority: 0,
        },
      }),
    frame: (machine: string, state: MachineState) =>
      shardEvents.next({
        _tag: 'MachineObserved',
        machine: {
          machineId: machineId(machine),
          state,
          nodeName: '',
          providerId: '',
          lastError: '',
          labels: {},
          resources: {},
          taints: [],
        },
      }),
    /** Decides about a patch before it is served. */
    intercept: (next: Intercept) => {
      decide = next;
    },
    /** The delay until the UpcomingNode shows a reported state. */
    showingTakes: (next: () => Promise<void>) => {
      showing = next;
    },
    phases: (machine: string) =>
      reported.filter((entry) => entry.machine === machine).map(({ fact }) => fact._tag),
  };
};

/** A process that was killed is told nothing. */
const NEVER_WRITTEN = new Promise<void>(() => {});

const EMPTY_OBJECT: UpcomingNodeProjection = {
  ...podOf({ name: 'nobody' }),
  machineId: '',
  phase: null,
  nodeName: '',
  nodeUid: '',
  providerId: '',
  lastError: '',
  startedAt: '',
  condition: null,
  spec: '{}',
};
