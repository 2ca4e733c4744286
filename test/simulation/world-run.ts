/**
 * Runs one world from its start to its rest, with every invariant.
 *
 * Promises: only simulated time advances, and the event loop is drained at every step; the run ends
 * with the first violation; the same plan gives the same log.
 */
import type { EvictionRequestPolicy } from '../../src/actors/eviction-requests/eviction-requests.ts';
import { isReady } from '../../packages/embedded-kubernetes/src/controllers/pod-reading.ts';
import {
  budgetObject,
  budgetPath,
  machineRequest,
  priorityClass,
  workloadObject,
  workloadPath,
} from './app-objects.ts';
import { REQUESTS, WORKLOADS } from './embedded-site.ts';
import { REPORT_DEADLINE_MS } from './eviction-request-invariants.ts';
import type { Bench, Invariant } from './invariant.ts';
import { isDraining } from './node-annotations.ts';
import { endFailures, loseOneNode } from './node-availability-scenes.ts';
import { endMaintenances, workOnNodes } from './node-maintenance-scenes.ts';
import { operatorProcesses } from './operator-processes.ts';
import { ORDINARY_FLAGS } from './simulated-process.ts';
import { leaveObjects } from './machine-scenes.ts';
import { planRunner, runningMachines, sceneText, type WorldControls } from './plan-runner.ts';
import type { WorldPlan } from './world-plan.ts';
import { type Breach, CALM_MS, REST_MS_MAX, type WorldState, worldState } from './world-state.ts';

/** The result of a world. */
export interface WorldReport {
  readonly plan: WorldPlan;
  readonly breach: Breach | undefined;
  readonly log: readonly string[];
  readonly simulatedMs: number;
  readonly nodes: number;
  readonly pods: number;
  readonly evictions: number;
}

const BOOT_MS_MAX = 240_000;
const PRIORITY = 1000;
const WAVES = 2;
const WAVE_NODES = 2;
const WAVE_GRACE_SECONDS = 400;
/** From an instruction to the cordon. */
const SETTLE_MS = 10_000;
/** Deadlines that pass within a world. */
const EVICTION_POLICY: EvictionRequestPolicy = {
  timing: { deadlineMs: REPORT_DEADLINE_MS, warningMs: 20_000, skewMs: 10_000 },
  ttlMs: null,
};
const GROUP = '/apis/apps/v1/namespaces/shop/daemonsets';

const count = (state: WorldState, resource: string, holds: (object: unknown) => boolean): number =>
  [...state.site.cluster.store.collection(resource).objects()].filter(holds).length;

const agent = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: WORKLOADS },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: {
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'main', image: 'registry.example/agent:1' }],
      },
    },
  },
};

const must = (state: WorldState, path: string, object: unknown): void => {
  const { status, body } = state.site.ask('POST', path, object);
  if (status !== 201) throw new Error(`Cannot make ${path}: ${JSON.stringify(body)}`);
};

const populate = (state: WorldState, plan: WorldPlan): void => {
  must(state, '/apis/scheduling.k8s.io/v1/priorityclasses', priorityClass(PRIORITY));
  must(state, GROUP, agent);
  for (const app of plan.apps) {
    must(state, workloadPath(app), workloadObject(app));
    if (app.budget !== undefined) must(state, budgetPath(), budgetObject(app.name, app.budget));
  }
};

/** Nodes join for requested capacity, then workloads fill them. */
const boot = async (state: WorldState, plan: WorldPlan): Promise<boolean> => {
  for (let number = 0; number < plan.nodes; number += 1) {
    must(state, REQUESTS, machineRequest(number));
  }
  const joined = () => count(state, 'nodes', isReady) >= plan.nodes;
  if (!await state.pass(BOOT_MS_MAX, joined)) return false;
  populate(state, plan);
  const wanted = plan.apps.reduce((sum, { replicas }) => sum + replicas, 0);
  return await state.pass(BOOT_MS_MAX, () => count(state, 'pods', isReady) >= wanted);
};

const stagehand = (
  state: WorldState,
  processes: ReturnType<typeof operatorProcesses>,
): WorldControls => {
  const { time, weather, fair, trouble, cordonedByPerson, starts } = state;
  return {
    crash: processes.crash,
    replace: processes.replace,
    freeze: processes.freeze,
    cutOffLeader: processes.cutOffLeader,
    holdFrames: processes.holdFrames,
    cutOffStandby: (forMs) => {
      trouble(forMs);
      processes.cutOffStandby(forMs);
    },
    weather: (change, forMs) => {
      Object.assign(weather, change);
      trouble(forMs);
      time.schedule(forMs, () => void Object.assign(weather, fair));
    },
    dropWatches: () => {
      for (const { api } of processes.all()) api.dropWatches('cut');
    },
    trouble,
    schedule: (delayMs, run) => void time.schedule(delayMs, run),
    startedWithin: (lastMs) =>
      starts.values().some((startMs) => time.monotonic() - startMs <= lastMs),
    cordonedByPerson,
  };
};

const play = async (
  state: WorldState,
  processes: ReturnType<typeof operatorProcesses>,
  plan: WorldPlan,
): Promise<void> => {
  const { time, log } = state;
  const act = planRunner(state.site, plan, stagehand(state, processes));
  const beganMs = time.monotonic();
  for (const scene of plan.scenes) {
    await state.pass(beganMs + scene.atMs - time.monotonic());
    if (state.breach() !== undefined) return;
    log.note(`SCENE ${sceneText(scene.act)}`);
    act(scene.act);
  }
};

/** In calm two waves of nodes are reclaimed, to reveal the effects of earlier faults. */
const epilogue = async (state: WorldState): Promise<void> => {
  for (let wave = 0; wave < WAVES; wave += 1) {
    for (const { id } of runningMachines(state.site).slice(0, WAVE_NODES)) {
      state.site.script.reclaim(id, { graceSeconds: WAVE_GRACE_SECONDS }, false);
    }
    await state.pass(SETTLE_MS);
    await state.pass(REST_MS_MAX, () => count(state, 'nodes', isDraining) === 0);
  }
};

/** True once no request has changed for this long: a roll-up and its acknowledgement. */
const UNCHANGED_MS = 30_000;

/** Whether requests are at rest: a machine that goes late takes pods along, which are replaced. */
const areRequestsAtRest = ({ invariants, time }: WorldState): () => boolean => {
  let changedMs = time.monotonic();
  invariants.push({
    change: ({ resource }) => {
      if (resource.startsWith('capacityrequests.')) changedMs = time.monotonic();
    },
  });
  return () => time.monotonic() - changedMs > UNCHANGED_MS;
};

const rest = async (state: WorldState, { withAvailability }: WorldPlan): Promise<void> => {
  if (withAvailability) await endFailures(state);
  await state.rest();
  await endMaintenances(state);
  if (withAvailability) await loseOneNode(state);
  state.log.note('EPILOGUE');
  await epilogue(state);
  const areAtRest = areRequestsAtRest(state);
  await state.pass(CALM_MS);
  // The fleet may reclaim what it needs no more only now, behind a budget that gives no slot.
  await state.pass(REST_MS_MAX, () => areAtRest() && count(state, 'nodes', isDraining) === 0);
  state.check();
};

/** Runs the world of a plan, with additional invariants. */
export const runWorld = async (
  plan: WorldPlan,
  more: readonly ((bench: Pick<Bench, 'broken'>) => Invariant)[] = [],
): Promise<WorldReport> => {
  const state = worldState(plan);
  state.invariants.push(...more.map((make) => make(state)));
  const processes = operatorProcesses(state, {
    ...ORDINARY_FLAGS,
    withPods: plan.withPods,
    evictions: plan.withRequests ? EVICTION_POLICY : undefined,
    maintenance: plan.withMaintenances,
    availability: plan.withAvailability,
    via: plan.drainsRequest ? 'auto' : 'evictions',
  });
  workOnNodes(state);
  leaveObjects(state.site, plan.leftObjects);
  processes.start();
  if (plan.standby) processes.start();
  const booted = await boot(state, plan);
  const pods = count(state, 'pods', () => true);
  const nodes = count(state, 'nodes', () => true);
  if (booted) {
    await play(state, processes, plan);
    await rest(state, plan);
  } else state.broken('worlds start', 'nodes or pods are missing');
  for (const process of processes.all()) process.crash();
  await state.site.stop();
  const evictions = state.log.lines
    .filter((line) => line.endsWith('-> 201') && line.includes('/eviction ')).length;
  return {
    plan,
    breach: state.breach(),
    log: state.log.lines,
    simulatedMs: state.time.monotonic(),
    nodes,
    pods,
    evictions,
  };
};
