/** Machines that join a cluster and are reclaimed by the stand-in fleet. */
import { isConditionTrue } from '../../../src/domain/condition.ts';
import { listOrEmptyAt, numberAt, parseJson, textAt } from '../../../src/domain/json.ts';
import { inBatches } from '../../../tools/testbed/batches.ts';
import type { ClusterClient } from '../api/cluster-connection.ts';
import { COLLECTIONS, isJoined, nameOf } from '../api/cluster-connection.ts';
import { eventually } from '../eventually.ts';
import { untilSession } from '../fleet/fleet-sessions.ts';
import type { FleetProcess } from '../processes/fleet-child.ts';

const CLUSTER = 'test';
const MANY_PODS = 500;
const PATIENT_MS = 240_000;
const AT_ONCE = 20;
/** Looking at many Nodes takes the API server's time, which drains need. */
const LOOK_MS = 250;

/** Machines to make. */
export interface NewMachines {
  readonly count: number;
  readonly prefix: string;
  /** How many pods a Node of theirs takes. */
  readonly pods?: number;
}

const isReady = (node: object): boolean => isConditionTrue(node, 'Ready');

/** Waits until these Nodes are Ready and untainted. */
const untilNodesReady = async (
  cluster: ClusterClient,
  names: readonly string[],
): Promise<void> => {
  const wanted = new Set(names);
  await eventually(async () => {
    const nodes = await cluster.list(COLLECTIONS.nodes);
    const good = nodes.filter((node) =>
      wanted.has(nameOf(node)) && isReady(node) &&
      listOrEmptyAt(node, 'spec', 'taints').length === 0
    );
    return good.length === wanted.size;
  }, { what: `${names.length} Nodes to be Ready`, everyMs: 250, timeoutMs: PATIENT_MS });
};

/** Machines that serve the cluster, with Nodes named like them. Returns their ids. */
export const joinMachines = async (
  { fleet, cluster }: { readonly fleet: FleetProcess; readonly cluster: ClusterClient },
  { count, prefix, pods = MANY_PODS }: NewMachines,
): Promise<readonly string[]> => {
  const made = await fleet.script('POST', '/machines', {
    count,
    prefix,
    state: 'SPECULATIVE',
    resources: { cpu: '64', memory: '256Gi', pods: String(pods) },
  });
  const ids = listOrEmptyAt(made, 'ids').map(String);
  for (const id of ids) {
    await fleet.script('POST', `/machines/${id}/state`, { state: 'CONFIGURED', cluster: CLUSTER });
  }
  await untilNodesReady(cluster, ids);
  return ids;
};

/** Nodes that no machine of the fleet is behind, for pods that must go elsewhere. */
export const spareNodes = async (
  cluster: ClusterClient,
  { count, prefix = 'spare-', pods = MANY_PODS }: Partial<NewMachines> & { readonly count: number },
): Promise<readonly string[]> => {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const resources = { cpu: '64', memory: '256Gi', pods: String(pods) };
  await cluster.create(
    COLLECTIONS.nodes,
    names.map((name) => ({
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: { capacity: resources, allocatable: resources },
    })),
  );
  await untilNodesReady(cluster, names);
  return names;
};

/** Waits until the operator reports each of these machines as Ready. */
export const untilReadyInCluster = async (
  cluster: ClusterClient,
  ids: readonly string[],
): Promise<void> => {
  await eventually(async () => {
    const listed = await cluster.list(COLLECTIONS.upcomingNodes);
    const ready = new Set(
      listed.filter(isJoined).map(nameOf),
    );
    return ids.every((id) => ready.has(`un-${id}`));
  }, { what: 'every machine to be shown Ready', everyMs: 250, timeoutMs: PATIENT_MS });
};

const phaseDraining = async (fleet: FleetProcess, ids: readonly string[]): Promise<void> => {
  await inBatches(
    ids,
    AT_ONCE,
    (id) => fleet.script('POST', `/machines/${id}/state`, { state: 'DRAINING', cluster: CLUSTER }),
  );
};

/** Reclaims each machine with its own instruction, as the shard does to a session. Their ids. */
export const reclaimEach = async (
  fleet: FleetProcess,
  ids: readonly string[],
  graceSeconds: number,
): Promise<readonly string[]> => {
  const instructions: string[] = [];
  await untilSession(fleet);
  for (const machine of ids) {
    const sent = await fleet.script('POST', '/reclaim', { machine, graceSeconds, drain: false });
    instructions.push(textAt(sent, 'instructionId') ?? '');
  }
  await phaseDraining(fleet, ids);
  return instructions;
};

/** Reclaims all machines by one instruction. */
export const reclaimTogether = async (
  fleet: FleetProcess,
  ids: readonly string[],
  { instructionId, graceSeconds }: {
    readonly instructionId: string;
    readonly graceSeconds: number;
  },
): Promise<void> => {
  await fleet.script('POST', '/frames', {
    cluster: CLUSTER,
    frame: {
      reclaimInstruction: { instructionId, nodes: ids, gracePeriodSeconds: String(graceSeconds) },
    },
  });
  await phaseDraining(fleet, ids);
};

/** An acknowledgement as the fleet read it. */
export interface AckSeen {
  readonly instructionId: string;
  readonly nodesStarted: number;
}

/** Every acknowledgement of a reclaim so far. */
export const acksAt = async (fleet: FleetProcess): Promise<readonly AckSeen[]> =>
  listOrEmptyAt(await fleet.script('GET', '/reclaims'), 'acks').map((one) => ({
    instructionId: textAt(one, 'instructionId') ?? '',
    nodesStarted: numberAt(one, 'nodesStarted') ?? 0,
  }));

/** A Node's annotations about its reclaim. */
export interface AnnotationSeen {
  readonly ids: readonly string[];
  readonly deadline: string;
  readonly ended: string;
}

/** Reads it; `undefined` when there is none. */
export const annotationSeen = (node: object): AnnotationSeen | undefined => {
  const text = textAt(node, 'metadata', 'annotations', 'cordon.tidegate.dev/reclaim');
  if (text === undefined) return undefined;
  const annotation = parseJson(text);
  return {
    ids: listOrEmptyAt(annotation, 'ids').map(String),
    deadline: textAt(annotation, 'deadline') ?? '',
    ended: textAt(annotation, 'ended') ?? '',
  };
};

/** The outcome of each ended drain, by Node name. */
export const endsOf = async (cluster: ClusterClient): Promise<ReadonlyMap<string, string>> =>
  new Map(
    (await cluster.list(COLLECTIONS.nodes)).flatMap((node) => {
      const ended = annotationSeen(node)?.ended ?? '';
      return ended === '' ? [] : [[nameOf(node), ended] as const];
    }),
  );

/** Waits until the drains of all these Nodes have ended, and returns how. */
export const untilEnded = async (
  cluster: ClusterClient,
  names: readonly string[],
  timeoutMs = PATIENT_MS,
): Promise<Readonly<Record<string, string>>> => {
  const ends = await eventually(async () => {
    const all = await endsOf(cluster);
    const open = names.filter((name) => !all.has(name));
    if (open.length === 0) return all;
    throw new Error(`${open.length} drain on, such as ${open[0]}`);
  }, { what: `${names.length} drains to end`, everyMs: LOOK_MS + names.length * 10, timeoutMs });
  return Object.fromEntries(names.map((name) => [name, ends.get(name) ?? '']));
};
