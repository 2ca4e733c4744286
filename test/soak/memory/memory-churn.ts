/**
 * What is done to the operator's cluster and fleet while its memory is measured.
 *
 * Promises: between two actions there are as many requests, pods and machines as at first, under
 * names that were never used before; `clear` takes all of them away.
 */
import { textAt } from '../../../src/domain/json.ts';
import { COLLECTIONS, nameOf } from '../../support/api/cluster-connection.ts';
import { wantedMachine } from '../../support/demand/wanted-capacity.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { boundMachines } from '../../support/fleet/fleet-script.ts';
import { type Draw, drawOne } from '../../support/draws.ts';
import { pause } from '../../support/eventually.ts';
import { CLUSTER, type MemorySite } from './memory-site.ts';

const REQUESTS = 20;
const PODS = 60;
const MACHINES = 6;
const REPLICAS_MIN = 4;
const REPLICAS_SPAN = 6;
const APPS = ['single', 'wide'] as const;
const UNAVAILABLE = { single: 1, wide: 3 } as const;
const GRACE_SECONDS = 20;
const HELD_MS = 3000;
const AWAY_MS = 3000;
const SESSION_ENDS = ['UNAVAILABLE', 'INTERNAL', 'ABORTED', 'RESOURCE_EXHAUSTED'] as const;
const WATCHED = ['pods', 'nodes', 'capacityrequests', 'upcomingnodes', 'poddisruptionbudgets'];
const PODS_PATH = DRAIN_COLLECTIONS.pods;

/** What is there, oldest first. */
interface LiveObjects {
  readonly requests: string[];
  readonly pods: string[];
  readonly machines: string[];
  created: number;
}

/** The churn of a site. */
export interface MemoryChurn {
  /** Everything that is there throughout. */
  readonly populate: () => Promise<void>;
  /** Does one thing, and returns what it was. */
  readonly step: () => Promise<string>;
  /** Removes all that `populate` and `step` made; resolves before controllers have followed. */
  readonly clear: () => Promise<void>;
}

/** What an action works on. */
interface Scene extends MemorySite {
  readonly there: LiveObjects;
  readonly draw: Draw;
}

const pod = (name: string, draw: Draw) => ({
  metadata: { name, labels: { app: 'bare', turn: name } },
  spec: {
    containers: [{
      name: 'main',
      image: 'image',
      resources: { requests: { cpu: `${1 + Math.floor(draw() * 3)}`, memory: '1Gi' } },
    }],
  },
});

const fresh = (there: LiveObjects, prefix: string): string => {
  there.created += 1;
  return `${prefix}-${there.created}`;
};

const withoutGrace = { gracePeriodSeconds: 0 };

const addRequest = async ({ call, there }: Scene): Promise<void> => {
  const name = fresh(there, 'request');
  await call('POST', COLLECTIONS.requests, wantedMachine(name));
  there.requests.push(name);
};

const addPod = async ({ call, there, draw }: Scene): Promise<void> => {
  const name = fresh(there, 'pod');
  await call('POST', PODS_PATH, pod(name, draw));
  there.pods.push(name);
};

const addMachine = async ({ fleet, there }: Scene): Promise<void> => {
  const id = fresh(there, 'machine');
  await fleet.script('POST', `/machines/${id}/state`, { state: 'CONFIGURED', cluster: CLUSTER });
  there.machines.push(id);
};

const replaceRequest = async (scene: Scene): Promise<void> => {
  const name = scene.there.requests.shift();
  if (name !== undefined) await scene.call('DELETE', `${COLLECTIONS.requests}/${name}`);
  await addRequest(scene);
};

const replacePods = async (scene: Scene): Promise<void> => {
  for (let count = 1 + Math.floor(scene.draw() * 5); count > 0; count -= 1) {
    const name = scene.there.pods.shift();
    if (name !== undefined) {
      await scene.call('DELETE', `${PODS_PATH}/${name}`, withoutGrace);
    }
    await addPod(scene);
  }
};

const returnMachine = async ({ fleet }: Scene, id: string): Promise<void> => {
  await fleet.script('POST', `/machines/${id}/state`, { state: 'IDLE', cluster: CLUSTER });
  await fleet.script('DELETE', `/machines/${id}`);
};

/** The oldest machine is reclaimed, drained, and replaced by one that never was there. */
const replaceMachine = async (scene: Scene): Promise<void> => {
  const { fleet, there } = scene;
  const machine = there.machines.shift();
  await addMachine(scene);
  if (machine === undefined) return;
  await fleet.script('POST', '/reclaim', { machine, graceSeconds: GRACE_SECONDS, drain: false });
  await fleet.script('POST', `/machines/${machine}/state`, { state: 'DRAINING', cluster: CLUSTER });
  await pause(HELD_MS);
  await returnMachine(scene, machine);
};

const reclaimBound = async ({ fleet, draw }: Scene): Promise<void> => {
  const bound = await boundMachines(fleet, CLUSTER);
  const machine = drawOne(draw, bound.filter(({ state }) => state === 'CONFIGURED'));
  if (machine === undefined) return;
  await fleet.script('POST', '/reclaim', { machine: machine.id, graceSeconds: GRACE_SECONDS });
};

const failMachine = async ({ fleet, draw }: Scene): Promise<void> => {
  const machine = drawOne(draw, await boundMachines(fleet, CLUSTER));
  if (machine === undefined || machine.id.startsWith('machine-')) return;
  const body = { state: 'FAILED', cluster: CLUSTER, lastError: 'out of capacity' };
  await fleet.script('POST', `/machines/${machine.id}/state`, body);
  await pause(HELD_MS);
  await fleet.script('POST', `/machines/${machine.id}/repair`);
};

const nodePassesBy = async ({ call, there, draw }: Scene): Promise<void> => {
  const name = fresh(there, 'node');
  const resources = { cpu: '4', memory: '16Gi', pods: '20' };
  await call('POST', COLLECTIONS.nodes, {
    metadata: { name },
    status: { capacity: resources, allocatable: resources },
  });
  await pause(draw() * HELD_MS);
  await call('DELETE', `${COLLECTIONS.nodes}/${name}`);
};

const patchObjects = async ({ call, there, draw }: Scene): Promise<void> => {
  const annotations = { turn: fresh(there, 'turn') };
  const paths = [
    `${COLLECTIONS.requests}/${drawOne(draw, there.requests) ?? ''}`,
    `${PODS_PATH}/${drawOne(draw, there.pods) ?? ''}`,
  ];
  for (const path of paths) await call('PATCH', path, { metadata: { annotations } });
};

const scale = async ({ call, draw }: Scene): Promise<void> => {
  const replicas = REPLICAS_MIN + Math.floor(draw() * REPLICAS_SPAN);
  const app = drawOne(draw, APPS) ?? APPS[0];
  await call('PATCH', `${DRAIN_COLLECTIONS.deployments}/${app}`, { spec: { replicas } });
};

/** Between two sessions there is none to end. */
const endSession = async ({ fleet, draw }: Scene): Promise<void> => {
  const status = drawOne(draw, [...SESSION_ENDS, undefined]);
  const body = { cluster: CLUSTER, ...(status === undefined ? {} : { status }) };
  await fleet.script('POST', '/sessions/end', body).catch(() => {});
};

const pullBootstrap = async ({ fleet }: Scene): Promise<void> => {
  await fleet.script('POST', '/bootstrap', { cluster: CLUSTER }).catch(() => {});
};

const ODD = ['unknown-state', 'empty-machine-id', 'empty-frame', 'no-message', 'unknown-ack'];

const oddFrame = async ({ fleet, draw }: Scene): Promise<void> => {
  await fleet.script('POST', '/frames', { cluster: CLUSTER, odd: drawOne(draw, ODD) })
    .catch(() => {});
};

const dropWatches = async ({ call, draw }: Scene): Promise<void> => {
  const resource = drawOne(draw, [...WATCHED, undefined]);
  await call('POST', '/_sim/watches', {
    quietly: draw() < 0.5,
    ...(resource === undefined ? {} : { resource }),
  });
};

/** Watches that break after it find their revision gone: 410. */
const compact = async ({ call }: Scene): Promise<void> => {
  await call('POST', '/_sim/compact', {});
  await call('POST', '/_sim/watches', {});
};

const FAULTS: readonly object[] = [
  { kind: 'refuse', status: 429, retryAfterSeconds: 1, methods: ['PATCH', 'POST'], times: 5 },
  { kind: 'refuse', status: 500, methods: ['PATCH', 'POST', 'PUT'], times: 3 },
  { kind: 'refuse', status: 409, methods: ['PATCH'], times: 3 },
  { kind: 'refuse', status: 503, methods: ['GET'], times: 3 },
  { kind: 'cut', done: true, methods: ['PATCH', 'POST'], times: 3 },
  { kind: 'cut', done: false, times: 3 },
  // Only the operator writes a status: a call of the soak's own would never end.
  { kind: 'hang', done: true, methods: ['PATCH'], path: '/status', times: 1 },
  { kind: 'slow', delayMs: 2000, methods: ['PATCH', 'POST'], times: 5 },
];

/** A fault that the next calls meet; `call` repeats those of the soak's own that it meets. */
const setFault = async ({ call, draw }: Scene): Promise<void> => {
  await call('POST', '/_sim/faults', drawOne(draw, FAULTS));
};

/** Shorter than a lease lasts. */
const apiServerAway = async ({ call }: Scene): Promise<void> => {
  await call('POST', '/_sim/faults', { kind: 'unreachable' });
  await call('POST', '/_sim/watches', {});
  await pause(AWAY_MS);
  await call('DELETE', '/_sim/faults');
};

/** An action by name, and how often it is drawn beside the others. */
interface Action {
  readonly name: string;
  readonly weight: number;
  readonly run: (scene: Scene) => Promise<void>;
}

const ACTIONS: readonly Action[] = [
  { name: 'replace a request', weight: 20, run: replaceRequest },
  { name: 'replace pods', weight: 30, run: replacePods },
  { name: 'replace a machine', weight: 6, run: replaceMachine },
  { name: 'reclaim a machine', weight: 6, run: reclaimBound },
  { name: 'fail a machine', weight: 2, run: failMachine },
  { name: 'a Node comes and goes', weight: 4, run: nodePassesBy },
  { name: 'patch objects', weight: 10, run: patchObjects },
  { name: 'scale a deployment', weight: 5, run: scale },
  { name: 'pull a bootstrap', weight: 4, run: pullBootstrap },
  { name: 'send an odd frame', weight: 2, run: oddFrame },
  { name: 'end the session', weight: 3, run: endSession },
  { name: 'drop watches', weight: 4, run: dropWatches },
  { name: 'compact the history', weight: 2, run: compact },
  { name: 'refuse, cut or delay calls', weight: 4, run: setFault },
  { name: 'take the API server away', weight: 1, run: apiServerAway },
];

const TOTAL_WEIGHT = ACTIONS.reduce((sum, { weight }) => sum + weight, 0);

const drawnAction = (draw: Draw): Action => {
  let left = draw() * TOTAL_WEIGHT;
  for (const action of ACTIONS) {
    left -= action.weight;
    if (left < 0) return action;
  }
  throw new Error('the weights do not add up');
};

const repeated = async (times: number, run: () => Promise<void>): Promise<void> => {
  for (let count = 0; count < times; count += 1) await run();
};

const clear = async (scene: Scene): Promise<void> => {
  const { call, cluster, there } = scene;
  await call('DELETE', '/_sim/faults');
  for (const app of APPS) {
    await call('DELETE', `${DRAIN_COLLECTIONS.budgets}/${app}`);
    await call('DELETE', `${DRAIN_COLLECTIONS.deployments}/${app}`);
  }
  for (const name of there.requests.splice(0)) {
    await call('DELETE', `${COLLECTIONS.requests}/${name}`);
  }
  for (const one of await cluster.list(PODS_PATH)) {
    if (textAt(one, 'metadata', 'labels', 'app') !== 'bare') continue;
    await call('DELETE', `${PODS_PATH}/${nameOf(one)}`, withoutGrace);
  }
  there.pods.splice(0);
  for (const id of there.machines.splice(0)) await returnMachine(scene, id);
};

/** The churn of a site; draws of equal seeds are equal. */
export const memoryChurn = (site: MemorySite, draw: Draw): MemoryChurn => {
  const there: LiveObjects = { requests: [], pods: [], machines: [], created: 0 };
  const scene: Scene = { ...site, there, draw };
  return {
    populate: async () => {
      const { cluster } = site;
      await cluster.create(
        DRAIN_COLLECTIONS.deployments,
        APPS.map((app) => deployment(app, REPLICAS_MIN)),
      );
      await cluster.create(
        DRAIN_COLLECTIONS.budgets,
        APPS.map((app) => budget(app, { maxUnavailable: UNAVAILABLE[app] })),
      );
      await repeated(REQUESTS, () => addRequest(scene));
      await repeated(PODS, () => addPod(scene));
      await repeated(MACHINES, () => addMachine(scene));
    },
    step: async () => {
      const action = drawnAction(draw);
      await action.run(scene);
      return action.name;
    },
    clear: () => clear(scene),
  };
};
