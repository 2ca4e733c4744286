/** Invariants about machines that come back, join late or are named by their Nodes. */
import { fromBinary } from '@bufbuild/protobuf';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import { machineId } from '../../src/domain/ids.ts';
import { upcomingNodeName } from '../../src/domain/names.ts';
import { ShardMessageSchema } from '../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { nodeName } from '../../packages/stand-in-fleet/src/node-object.ts';
import { sinceWhen } from './durations.ts';
import { type Bench, type Invariant, nameOf } from './invariant.ts';
import { isDraining, type ReclaimAnnotation, reclaimAnnotation } from './node-annotations.ts';

const UPCOMING = 'upcomingnodes.bigfleet.lucy.sh';
const RECOVERED = 'recovered-';
/** How long calm, and what calls for a reaction, must last before the reaction must be seen. */
const REACTED_MS = 60_000;
/** The same at rest. */
const REACTED_AT_REST_MS = 5000;
/** A session whose frames still arrive is not over; three roll-up intervals would be. */
const ARRIVING_MS = 20_000;

const machineOf = (node: unknown): string =>
  textAt(node, 'metadata', 'labels', 'bigfleet.lucy.sh/machine-id') ?? '';

/** When the fleet sent an instruction, if it was before the current stay of the machine. */
const sentBeforeStay = ({ site }: Pick<Bench, 'site'>, id: string, instruction: string) => {
  const stay = site.stays.of(id);
  if (stay === undefined) return undefined;
  if (instruction.startsWith(RECOVERED)) return stay.hasDrained ? undefined : stay.sinceMs;
  const sent = site.script.shard.reclaims.entries()
    .find(({ instructionId }) => instructionId === instruction);
  return sent !== undefined && sent.sentAt < stay.sinceMs ? sent.sentAt : undefined;
};

/**
 * DR-10: a Node is drained for instructions of its machine's current stay only. A process that was
 * cut off since the instruction may not know of the end of the last stay.
 */
export const onlyThisStayIsDrained = (bench: Bench): Invariant => {
  const { time, broken, calmMs } = bench;
  return {
    change: ({ resource, type, object }) => {
      if (resource !== 'nodes' || type === 'DELETED' || !isDraining(object)) return;
      const id = machineOf(object);
      for (const instruction of reclaimAnnotation(object)?.ids ?? []) {
        const sentMs = sentBeforeStay(bench, id, instruction);
        if (sentMs === undefined || calmMs() <= time.now() - sentMs) continue;
        broken(
          'only this stay is drained',
          `"${id}" came back and is drained for ${instruction} of its last stay`,
        );
      }
    },
  };
};

/** DR-14: the Node of a machine that drains has the key of an instruction. */
export const drainingMachinesAreDrained = (bench: Bench): Invariant => {
  const { site, broken, calmMs } = bench;
  const since = sinceWhen(bench);
  return {
    tick: () => {
      if (calmMs() < REACTED_MS) return since.clear();
      for (const { id, state } of site.bound()) {
        const node = site.cluster.store.collection('nodes')
          .get({ namespace: '', name: nodeName(id) });
        const isMissed = state === 'DRAINING' && node !== undefined &&
          reclaimAnnotation(node) === undefined;
        if (since.forMs(id, String(isMissed)) <= REACTED_MS || !isMissed) continue;
        broken('draining machines are drained', `"${id}" is DRAINING, its Node is not`);
      }
    },
  };
};

/** The error of a drain that failed without a look at its pods. */
const WITHOUT_CAUSE = /no pods remain|its Events say why/;

const phaseOf = ({ ended }: ReclaimAnnotation): string => ended === '' ? 'Draining' : ended;

/** What is wrong with how an object shows a drain; undefined when nothing is. */
const phaseProblem = (
  object: JsonRecord | undefined,
  annotation: ReclaimAnnotation,
): string | undefined => {
  const phase = textAt(object, 'status', 'phase') ?? 'none';
  if (phase !== phaseOf(annotation)) return `${phase} instead of ${phaseOf(annotation)}`;
  const lastError = textAt(object, 'status', 'lastError') ?? '';
  if (phase !== 'Failed') return undefined;
  if (lastError === '') return 'Failed without an error';
  return WITHOUT_CAUSE.test(lastError) ? `Failed, and "${lastError}"` : undefined;
};

/** DR-10, DR-40: the UpcomingNode of a drained Node's machine has the phase of the drain. */
export const phasesFollowDrains = (bench: Bench): Invariant => {
  const { site, broken, calmMs } = bench;
  const since = sinceWhen(bench);
  const { store } = site.cluster;
  const check = (node: JsonRecord, reactedMs: number): void => {
    const annotation = reclaimAnnotation(node);
    const machine = site.script.shard.inventory.get(machineOf(node));
    if (annotation === undefined || annotation.ended === 'Cancelled') return;
    if (machine === undefined || machine.cluster === '' || machine.state === 'FAILED') return;
    if (annotation.ended === '' && !isDraining(node)) return;
    const { ids, ended } = annotation;
    if (ids.some((id) => sentBeforeStay(bench, machine.id, id) !== undefined)) return;
    const name = upcomingNodeName(machineId(machine.id));
    const problem = phaseProblem(
      store.collection(UPCOMING).get({ namespace: '', name }),
      annotation,
    );
    // The end is shown before it is written to the Node (DR-40), so they differ for a moment.
    const text = `${machine.state} ${ids} ${ended} ${problem}`;
    if (since.forMs(machine.id, text) <= reactedMs) return;
    if (problem !== undefined) broken('phases follow drains', `"${name}" is ${problem}`);
  };
  const look = (reactedMs: number): void => {
    for (const node of store.collection('nodes').objects()) check(node, reactedMs);
  };
  return {
    tick: () => calmMs() < REACTED_MS ? since.clear() : look(REACTED_MS),
    end: () => look(REACTED_AT_REST_MS),
  };
};

/** WIRE-02: a session is not given up for a missing ack while its replay arrives. */
export const replaysAreAwaited = ({ time, broken }: Bench): Invariant => {
  const arrivedMs = new Map<string, number>();
  const complete = new Set<string>();
  return {
    delivered: (process, frame) => {
      arrivedMs.set(process, time.monotonic());
      const { payload } = fromBinary(ShardMessageSchema, frame);
      if (payload.case === 'ack' && payload.value.echo === 'rollup') complete.add(process);
    },
    logged: (process, { message, fields }) => {
      if (message !== 'Session ended') return;
      const sinceMs = time.monotonic() - (arrivedMs.get(process) ?? -Infinity);
      const isAwaited = !complete.delete(process);
      if (fields?.['cause'] === 'RollupOverdue' && isAwaited && sinceMs < ARRIVING_MS) {
        broken(
          'replays are awaited',
          `${process} ended a session ${sinceMs} ms after a frame of it`,
        );
      }
    },
  };
};

interface BoundPod {
  readonly node: string;
  readonly sinceMs: number;
  readonly goneMs: number;
}

/** A pod that a drain must remove: no DaemonSet's, and not finished. */
const mustLeave = (pod: JsonRecord): boolean => {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return false;
  const owners = pod['metadata'];
  return !JSON.stringify(owners).includes('"kind":"DaemonSet"');
};

/** Which pods a drain had to remove, on which nodes, and since and until when. */
const boundPods = ({ time }: Pick<Bench, 'time'>) => {
  const pods = new Map<string, BoundPod>();
  return {
    change: (pod: JsonRecord, isGone: boolean): void => {
      const uid = textAt(pod, 'metadata', 'uid') ?? '';
      const node = textAt(pod, 'spec', 'nodeName') ?? '';
      if (node === '') return;
      const { sinceMs } = pods.get(uid) ?? { sinceMs: time.monotonic() };
      const isOver = isGone || !mustLeave(pod);
      const known = pods.get(uid)?.goneMs ?? Infinity;
      pods.set(uid, {
        node,
        sinceMs,
        goneMs: Math.min(known, isOver ? time.monotonic() : Infinity),
      });
    },
    /** Those that were on the node all the time between these two moments. */
    throughout: (node: string, fromMs: number, toMs: number): number =>
      [...pods.values()].filter((pod) =>
        pod.node === node && pod.sinceMs <= fromMs && pod.goneMs > toMs
      ).length,
    /** Those that were on the node at any time after this one. */
    after: (node: string, fromMs: number): number =>
      [...pods.values()].filter((pod) => pod.node === node && pod.goneMs > fromMs).length,
  };
};

/** What a process may not have been shown when it decided. */
const SEEN_MS = 10_000;
/** A pod that left this shortly before the deadline was still there when it passed. */
const AROUND_DEADLINE_MS = 5000;

/** DR-13, DR-41: Drained leaves no pod behind that must leave; Failed has one that did not. */
export const endsAreTrue = ({ site, time, broken, startedMs }: Bench): Invariant => {
  const pods = boundPods({ time });
  const endings = new Map<string, string>();
  /** The end that each Node has, and since when. */
  const current = new Map<string, { readonly ended: string; readonly sinceMs: number }>();
  const drained = (node: string): void => {
    const now = time.monotonic();
    const left = pods.throughout(node, now - SEEN_MS, now);
    if (left > 0) broken('ends are true', `"${node}" is Drained with ${left} pods on it`);
  };
  const failed = (process: string, node: string, { deadlineMs }: ReclaimAnnotation): void => {
    const now = time.monotonic();
    const deadline = deadlineMs - time.now() + now;
    const known = Math.max(deadline - AROUND_DEADLINE_MS, startedMs(process));
    if (pods.after(node, Math.min(now - SEEN_MS, known)) > 0) return;
    broken('ends are true', `"${node}" is Failed without a pod that had to leave`);
  };
  return {
    change: ({ resource, type, object }) => {
      if (resource === 'pods') pods.change(object, type === 'DELETED');
      if (resource !== 'nodes') return;
      const name = nameOf(object);
      const ended = reclaimAnnotation(object)?.ended ?? '';
      if (current.get(name)?.ended !== ended) {
        current.set(name, { ended, sinceMs: time.monotonic() });
      }
      if (type === 'DELETED') endings.delete(name);
    },
    done: ({ process, call }, { status }) => {
      if (call.method !== 'PATCH' || !call.path.startsWith('/api/v1/nodes/') || status !== 200) {
        return;
      }
      const name = call.path.slice('/api/v1/nodes/'.length);
      const annotation = reclaimAnnotation(
        site.cluster.store.collection('nodes').get({ namespace: '', name }),
      );
      const ended = annotation?.ended ?? '';
      if (annotation === undefined || endings.get(name) === ended) return;
      endings.set(name, ended);
      // By a patch whose answer was lost, if the Node has had it for longer.
      const keptMs = time.monotonic() - (current.get(name)?.sinceMs ?? time.monotonic());
      if (keptMs > SEEN_MS) return;
      if (ended === 'Drained') drained(name);
      if (ended === 'Failed') failed(process, name, annotation);
    },
  };
};
