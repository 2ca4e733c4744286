/**
 * The role node-drains with its own informers and evictions, before an embedded cluster on
 * simulated time. Must be called inside a test, with which it ends.
 */
import { readFileSync } from 'node:fs';
import { Subject } from 'rxjs';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';
import { DEFAULT_TIMING } from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { startControllers } from '../../../packages/embedded-kubernetes/src/controllers/controllers.ts';
import { storeEnvironment } from '../../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import { startNode } from '../../../packages/embedded-kubernetes/src/kinds/nodes.ts';
import { seededRandom } from '../../../packages/embedded-kubernetes/src/values/random.ts';
import type { DrainPolicy } from '../../../src/actors/node-drains/drain-engine.ts';
import { nodeDrainsRole } from '../../../src/actors/node-drains/node-drains-role.ts';
import { upcomingNodeCollection } from '../../../src/actors/upcoming-nodes/upcoming-nodes-role.ts';
import type { EventNote } from '../../../src/api/event-note.ts';
import { projectNode } from '../../../src/domain/cluster-node.ts';
import { CORDON_PREFIX, readCordon } from '../../../src/domain/drain/cordon.ts';
import type { ShardEvent } from '../../../src/domain/frames.ts';
import { instructionId, MACHINE_ID_KEY, machineId } from '../../../src/domain/ids.ts';
import { textAt } from '../../../src/domain/json.ts';
import { upcomingNodeName } from '../../../src/domain/names.ts';
import type { Reply } from '../../../src/domain/session.ts';
import { UPCOMING_NODES_PATH } from '../../../src/effects/upcoming-nodes.ts';
import { type Handle, startRole } from '../interceptors/connections.ts';
import { asking, PODS } from '../interceptors/embedded-cluster.ts';
import { simulatedTime } from '../time/simulated-time.ts';

const FILES = new URL('../../../charts/tidegate/files/crds/', import.meta.url);
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const DEFINITIONS = [
  'upcomingnodes.bigfleet.lucy.sh.yaml',
  'evictionrequests.lifecycle.tidegate.dev.yaml',
].map((file): unknown => parse(readFileSync(new URL(file, FILES), 'utf8')));

/** The cluster with so many Nodes, `node-1` and on; the role is started, and does not lead. */
export const servedDrains = async (
  nodes: number,
  { policy = {}, matched = {} }: {
    readonly policy?: Partial<DrainPolicy>;
    /** Machines by the Nodes that were matched to them. */
    readonly matched?: Readonly<Record<string, string>>;
  } = {},
) => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1 });
  const { ask, get, create, list } = asking(cluster);
  for (const definition of DEFINITIONS) {
    create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  for (let number = 1; number <= nodes; number += 1) create('/api/v1/nodes', startNode(number));
  const controllers = startControllers(
    storeEnvironment({ cluster, time, random: seededRandom(1), timing: DEFAULT_TIMING }),
  );
  await time.advance(5000);
  const notes: EventNote[] = [];
  const replies: Reply[] = [];
  const reported: string[] = [];
  const writes: string[] = [];
  const shardEvents = new Subject<ShardEvent>();
  const handle: Handle = (request) => {
    if (request.method !== 'GET') {
      writes.push(`${request.method} ${request.path.split('?')[0]}`);
    }
    return cluster.handle(request);
  };
  const { role, stop } = startRole(handle, time, {
    make: (environment, context) =>
      nodeDrainsRole(environment, {
        policy: { own: null, paused: false, ...policy },
        session: { shardEvents, reply: (reply) => replies.push(reply) > 0 },
        machines: {
          nodeOf: (machine) => {
            const node = projectNode(get(`/api/v1/nodes/${machine}`));
            return node && { node, rule: 'NodeName' };
          },
          machineOf: (node) => matched[node],
          wasConfigured: () => true,
          drain: (machine, fact) => {
            reported.push(`${machine} ${fact._tag}`);
            return Promise.resolve();
          },
        },
        upcomingNodeCollection: upcomingNodeCollection((text) => text),
      }, context),
    record: (note) => void notes.push(note),
  });
  onTestFinished(async () => {
    controllers.stop();
    await stop();
  });
  return {
    time,
    role,
    notes,
    replies,
    /** What the machines show, in order: `m-1 Draining`. */
    reported,
    /** What the role wrote, in order, as methods and paths. */
    writes,
    create,
    list,
    order: (id: string, machines: readonly string[]) =>
      shardEvents.next({
        _tag: 'ReclaimInstructed',
        instruction: {
          instructionId: instructionId(id),
          machines,
          graceSeconds: 600,
          preemptorPriority: 0,
        },
      }),
    /** A pod that stays on the Node until it is evicted. */
    addPod: (node: string, name: string, spec: object = {}) =>
      create(PODS, {
        metadata: { name, labels: { app: name } },
        spec: {
          nodeName: node,
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'c', image: 'i' }],
          ...spec,
        },
      }),
    /** A budget that lets no pod of this name leave. */
    addBudget: (pod: string) =>
      create(BUDGETS, {
        metadata: { name: pod },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: pod } } },
      }),
    removeBudget: (pod: string) => ask('DELETE', `${BUDGETS}/${pod}`),
    pods: () => list(PODS).flatMap((pod) => textAt(pod, 'metadata', 'name') ?? []),
    /** An UpcomingNode that refers to this Node; to none by an empty name. */
    addUpcomingNode: (machine: string, node: string, annotated = machine) => {
      const path = `${UPCOMING_NODES_PATH}/${upcomingNodeName(machineId(machine))}`;
      create(UPCOMING_NODES_PATH, {
        apiVersion: 'bigfleet.lucy.sh/v1alpha1',
        kind: 'UpcomingNode',
        metadata: {
          name: upcomingNodeName(machineId(machine)),
          annotations: annotated === '' ? {} : { [MACHINE_ID_KEY]: annotated },
        },
        spec: { resources: {} },
      });
      if (node === '') return;
      const status = { phase: 'Ready', nodeRef: { apiVersion: 'v1', kind: 'Node', name: node } };
      const answered = ask('PATCH', `${path}/status`, { status });
      if (answered.status !== 200) throw new Error(JSON.stringify(answered.body));
    },
    changeNode: (name: string, patch: object) => ask('PATCH', `/api/v1/nodes/${name}`, patch),
    /** How the key of an owner reads: its end, `open` without one, `none` without the key. */
    keyOf: (node: string, owner: string) => {
      const text = textAt(
        get(`/api/v1/nodes/${node}`),
        'metadata',
        'annotations',
        `${CORDON_PREFIX}${owner}`,
      );
      if (text === undefined) return 'none';
      const reading = readCordon(text);
      return reading._tag === 'Recognized' ? reading.annotation.ended ?? 'open' : reading.why;
    },
  };
};
