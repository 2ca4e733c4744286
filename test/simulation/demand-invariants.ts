/**
 * Invariants about demand and machines: the reports to the fleet, and their objects in the cluster.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { machineId } from '../../src/domain/ids.ts';
import { upcomingNodeName } from '../../src/domain/names.ts';
import { podDemandProjector } from '../../src/domain/pod-demand/pod-demand.ts';
import { OWNED_BY_POD } from '../../src/domain/pod-demand/pod-request.ts';
import { thousandths } from '../../packages/embedded-kubernetes/src/controllers/amounts.ts';
import type { StoredChange } from '../../packages/embedded-kubernetes/src/storage/collection.ts';
import type { FleetMachine } from '../../packages/stand-in-fleet/src/inventory.ts';
import { nodeName } from '../../packages/stand-in-fleet/src/node-object.ts';
import type { ClusterCapacityNeeds } from '../../src/gen/bigfleet/v1alpha1/capacity_pb.ts';
import { OperatorMessageSchema } from '../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import type { KubeAnswer } from '../../src/effects/kube-api.ts';
import { type Bench, type Invariant, nameOf, type Sent } from './invariant.ts';
import { reclaimAnnotation } from './node-annotations.ts';
import { CLUSTER, LEASE, NAMESPACE } from './simulated-process.ts';

/** How long something must have been wanted before every roll-up must have it. */
const WANTED_MS = 60_000;
/** How long the operator waits for the answer to a write, and repeats it then. */
const CALL_TIMEOUT_MS = 35_000;

const REQUESTS = 'capacityrequests.bigfleet.lucy.sh';
const UPCOMING = 'upcomingnodes.bigfleet.lucy.sh';
/** How long a machine's state, or calm, must last before its object must match. */
const REFLECTED_MS = 60_000;
/** The same at rest; not zero, because machines change until the last moment of a world. */
const REFLECTED_AT_REST_MS = 5000;

const cpuOf = (request: unknown): number =>
  thousandths(textAt(request, 'spec', 'resources', 'cpu') ?? '');

const requestedMillis = ({ needs }: ClusterCapacityNeeds): number =>
  needs.reduce((sum, need) => sum + thousandths(need.aggregateResources['cpu'] ?? ''), 0);

/** wire 2, wire 5: a roll-up is the whole demand, never less than its process has listed. */
export const rollupsAreComplete = ({ site, time, broken, startedMs }: Bench): Invariant => {
  const madeMs = new Map<string, number>();
  const uidOf = (object: unknown): string => textAt(object, 'metadata', 'uid') ?? '';
  return {
    change: ({ resource, type, object }) => {
      if (resource !== REQUESTS) return;
      if (type === 'ADDED') madeMs.set(uidOf(object), time.monotonic());
      if (type === 'DELETED') madeMs.delete(uidOf(object));
    },
    frame: (process, frame) => {
      const { payload } = fromBinary(OperatorMessageSchema, frame);
      if (payload.case !== 'rollup') return;
      const known = [...site.cluster.store.collection(REQUESTS).objects()]
        .filter((request) => (madeMs.get(uidOf(request)) ?? Infinity) < startedMs(process));
      const least = known.reduce((sum, request) => sum + cpuOf(request), 0);
      const requested = requestedMillis(payload.value);
      if (requested < least) {
        broken(
          'roll-ups are complete',
          `${process} reports ${requested} m of at least ${least} m`,
        );
      }
    },
  };
};

const readPod = podDemandProjector();

const isLeaving = (object: unknown): boolean =>
  textAt(object, 'metadata', 'deletionTimestamp') !== undefined;

/** What a pod wants; nothing when it leaves, has finished, or counts as no demand. */
const podMillis = (pod: JsonRecord): number =>
  isLeaving(pod) || readPod(pod)?.status !== 'Wanted' ? 0 : listOrEmptyAt(pod, 'spec', 'containers')
    .reduce<number>(
      (sum, container) =>
        sum + thousandths(textAt(container, 'resources', 'requests', 'cpu') ?? ''),
      0,
    );

/** What the pods and the requests of others want, and the least of it in the last minute. */
const wantedOverTime = ({ time, calmMs }: Pick<Bench, 'time' | 'calmMs'>) => {
  const requests = new Map<string, number>();
  const pods = new Map<string, number>();
  const sums = { requests: 0, pods: 0 };
  /** Pods count from the first request that is made for one. */
  let arePodsCounted = false;
  let samples: { readonly atMs: number; readonly millis: number }[] = [{ atMs: 0, millis: 0 }];
  let sinceMs = 0;
  /** Pods for which a request may exist or not, and until when nobody can know. */
  const uncertainUntilMs = new Map<string, number>();
  const uncertain = (): number =>
    pods.entries().reduce(
      (sum, [uid, millis]) =>
        (uncertainUntilMs.get(uid) ?? 0) > time.monotonic() ? sum + millis : sum,
      0,
    );
  const put = (kind: keyof typeof sums, object: JsonRecord, millis: number): void => {
    const all = kind === 'pods' ? pods : requests;
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    sums[kind] += millis - (all.get(uid) ?? 0);
    if (millis === 0) all.delete(uid);
    else all.set(uid, millis);
    const wanted = sums.requests + (arePodsCounted ? sums.pods : 0);
    samples.push({ atMs: time.monotonic(), millis: wanted });
  };
  const setUncertain = ({ call }: Sent, untilMs: number): void => {
    if (call.method !== 'POST') return;
    const pod = textAt(call.body, 'metadata', 'labels', OWNED_BY_POD);
    if (pod !== undefined) uncertainUntilMs.set(pod, untilMs);
  };
  return {
    change: ({ resource, type, object }: StoredChange): void => {
      const isGone = type === 'DELETED' || isLeaving(object);
      if (resource === 'pods') put('pods', object, isGone ? 0 : podMillis(object));
      if (resource !== REQUESTS) return;
      const isOwned = textAt(object, 'metadata', 'labels', OWNED_BY_POD) !== undefined;
      arePodsCounted ||= isOwned;
      put('requests', object, isGone || isOwned ? 0 : cpuOf(object));
    },
    /** A fault lengthens the minute to its beginning: the API server may be away for longer. */
    tick: (): void => {
      if (calmMs() < WANTED_MS) return;
      sinceMs = time.monotonic() - WANTED_MS;
      const first = samples.findLastIndex(({ atMs }) => atMs <= sinceMs);
      samples = samples.slice(Math.max(0, first));
    },
    /** Nobody can know whether the request exists before there is an answer. */
    leaves: (sent: Sent): void => setUncertain(sent, time.monotonic() + CALL_TIMEOUT_MS),
    answered: (sent: Sent, answer: KubeAnswer | undefined): void =>
      setUncertain(sent, answer === undefined ? time.monotonic() + CALL_TIMEOUT_MS : 0),
    least: (): number => Math.min(...samples.map(({ millis }) => millis)) - uncertain(),
  };
};

/** wire 5: no roll-up is below what has been wanted throughout the last minute. */
export const rollupsCoverDemand = (bench: Bench): Invariant => {
  const { site, broken } = bench;
  const wanted = wantedOverTime(bench);
  const leader = (): string | undefined =>
    textAt(
      site.cluster.store.collection('leases.coordination.k8s.io')
        .get({ namespace: NAMESPACE, name: LEASE }),
      'spec',
      'holderIdentity',
    );
  return {
    change: wanted.change,
    leaves: wanted.leaves,
    answered: wanted.answered,
    tick: wanted.tick,
    frame: (process, frame) => {
      const { payload } = fromBinary(OperatorMessageSchema, frame);
      // The shard mutes the session of an earlier leader.
      if (payload.case !== 'rollup' || leader() !== process) return;
      const requested = requestedMillis(payload.value);
      const least = wanted.least();
      if (requested < least) {
        broken(
          'roll-ups cover demand',
          `${process} reports ${requested} m, wanted for a minute: ${least} m`,
        );
      }
    },
  };
};

/** At rest the fleet has exactly the existing demand. */
export const demandEqualsRequests = ({ site, broken }: Bench): Invariant => ({
  end: () => {
    const wanted = [...site.cluster.store.collection(REQUESTS).objects()]
      .reduce((sum, request) => sum + cpuOf(request), 0);
    const needs = site.script.shard.clusters.get(CLUSTER)?.needs ?? [];
    const known = needs.reduce(
      (sum, { wire }) => sum + thousandths(wire.aggregateResources['cpu'] ?? ''),
      0,
    );
    if (known !== wanted) {
      broken('demand equals requests', `the fleet has ${known} m of ${wanted} m`);
    }
  },
});

const objectNameOf = (id: string): string => upcomingNodeName(machineId(id));

const HELD = ['Draining', 'Drained', 'Failed'];

/** Phases that the object of a machine may have (UPN-01, DR-40). */
const phasesOf = (machine: FleetMachine, node: JsonRecord | undefined): readonly string[] => {
  const annotation = reclaimAnnotation(node);
  const held = annotation !== undefined && annotation.ended !== 'Cancelled' ? HELD : [];
  switch (machine.state) {
    case 'CREATING':
    case 'SPECULATIVE':
      return ['Provisioning'];
    case 'CONFIGURING':
      return ['Registered', ...held];
    case 'CONFIGURED':
      // The key of a deleted Node is gone: its machine stays Drained, if it was (DR-06), and
      // nothing else holds a phase against the frames any more.
      return node === undefined ? ['Ready', 'Drained'] : ['Ready', ...held];
    case 'DRAINING':
      return HELD;
    case 'FAILED':
      return ['Failed', ...held];
    default:
      return [];
  }
};

/** UpcomingNodes are the bound machines with their current states. */
export const upcomingNodesEqualFleet = ({ site, time, broken, calmMs }: Bench): Invariant => {
  const states = new Map<string, { readonly state: string; readonly sinceMs: number }>();
  const strangersSinceMs = new Map<string, number>();
  const { store } = site.cluster;
  const nodeOf = ({ id }: FleetMachine): JsonRecord | undefined =>
    store.collection('nodes').get({ namespace: '', name: nodeName(id) });
  const settled = (machine: FleetMachine, reflectedMs: number): boolean => {
    const known = states.get(machine.id);
    const state = `${machine.state}, ${nodeOf(machine) === undefined ? 'no Node' : 'a Node'}`;
    if (known?.state === state) return time.monotonic() - known.sinceMs > reflectedMs;
    states.set(machine.id, { state, sinceMs: time.monotonic() });
    return false;
  };
  const check = (machine: FleetMachine): void => {
    const object = store.collection(UPCOMING).get({
      namespace: '',
      name: objectNameOf(machine.id),
    });
    const phase = textAt(object, 'status', 'phase') ?? 'none';
    if (phasesOf(machine, nodeOf(machine)).includes(phase)) return;
    broken('UpcomingNodes equal the fleet', `${machine.id} is ${machine.state}, object: ${phase}`);
  };
  const strangers = (bound: ReadonlySet<string>): readonly string[] =>
    [...store.collection(UPCOMING).objects()].map(nameOf).filter((name) => !bound.has(name));
  const look = (reflectedMs: number): void => {
    const machines = site.bound();
    const bound = new Set(machines.map(({ id }) => objectNameOf(id)));
    for (const machine of machines) if (settled(machine, reflectedMs)) check(machine);
    const now = new Set(strangers(bound));
    for (const name of strangersSinceMs.keys()) if (!now.has(name)) strangersSinceMs.delete(name);
    for (const name of now) {
      const sinceMs = strangersSinceMs.get(name) ?? time.monotonic();
      strangersSinceMs.set(name, sinceMs);
      if (time.monotonic() - sinceMs > reflectedMs) {
        broken('UpcomingNodes equal the fleet', `"${name}" is not a machine of this cluster`);
      }
    }
  };
  return {
    tick: () => {
      // Observations during faults count from the beginning of calm.
      if (calmMs() < REFLECTED_MS) {
        states.clear();
        strangersSinceMs.clear();
      } else look(REFLECTED_MS);
    },
    end: () => look(REFLECTED_AT_REST_MS),
  };
};

/** At rest every request has been acknowledged. */
export const requestsAreAcknowledged = ({ site, broken }: Bench): Invariant => ({
  end: () => {
    for (const request of site.cluster.store.collection(REQUESTS).objects()) {
      const phase = textAt(request, 'status', 'phase') ?? 'none';
      if (phase !== 'Acknowledged') {
        broken('requests are acknowledged', `"${nameOf(request)}" is ${phase}`);
      }
    }
  },
});
