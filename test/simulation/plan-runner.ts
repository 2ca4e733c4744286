/** Executes the steps of a plan: actions of people, workload owners and the fleet, and faults. */
import { numberAt } from '../../src/domain/json.ts';
import { nodeName } from '../../packages/stand-in-fleet/src/node-object.ts';
import type { Weather } from './api-line.ts';
import { budgetPath, machineRequest, workloadPath } from './app-objects.ts';
import { type EmbeddedSite, REQUESTS } from './embedded-site.ts';
import { playEvictions } from './eviction-scenes.ts';
import { nameOf } from './invariant.ts';
import { isCordoned, isDraining, ownersOf } from './node-annotations.ts';
import { playFailures } from './node-availability-scenes.ts';
import { playMaintenances } from './node-maintenance-scenes.ts';
import { playNetwork } from './network-scenes.ts';
import { TAKEOVER_MS } from './operator-processes.ts';
import { CLUSTER } from './simulated-process.ts';
import { playMachines } from './machine-scenes.ts';
import type { Act, AppPlan, WorldPlan } from './world-plan.ts';

/** Runs something so much later, on the time of the world. */
export type Schedule = (delayMs: number, run: () => void) => void;

/** The plan's controls over processes and their environment. */
export interface WorldControls {
  readonly crash: (forMs: number) => void;
  readonly replace: () => void;
  readonly freeze: (forMs: number) => void;
  /** Cuts the leader off from the API server. */
  readonly cutOffLeader: (forMs: number) => void;
  /** Delays the frames between the leader and the shard. */
  readonly holdFrames: (forMs: number) => void;
  /** Cuts a standby off from the API server. */
  readonly cutOffStandby: (forMs: number) => void;
  readonly weather: (change: Partial<Weather>, forMs: number) => void;
  readonly dropWatches: () => void;
  /** A fault lasts so long from now. */
  readonly trouble: (forMs: number) => void;
  readonly schedule: Schedule;
  /** Whether a process started in the last `lastMs`. */
  readonly startedWithin: (lastMs: number) => boolean;
  readonly cordonedByPerson: Set<string>;
}

const chosen = <T>(list: readonly T[], pick: number): T | undefined => list[pick % list.length];

const SETTLE_MS = 2000;
/** How long the operator waits for a page of a list. */
const LIST_TIMEOUT_MS = 60_000;
const BURST = ['CREATING', 'CONFIGURING', 'CONFIGURED', 'FAILED', 'CONFIGURED'] as const;
const BURST_MACHINES = 3;

const nodesOf = ({ cluster }: EmbeddedSite) =>
  [...cluster.store.collection('nodes').ordered()].map(({ object }) => object);

/** Machines that serve and are not being drained, with their ids. */
export const runningMachines = (site: EmbeddedSite) =>
  site.bound().filter(({ id, state, held }) => {
    const node = site.cluster.store.collection('nodes').get({ namespace: '', name: nodeName(id) });
    return state === 'CONFIGURED' && !held && node !== undefined && !isDraining(node);
  });

const reclaim = (
  site: EmbeddedSite,
  pick: number,
  { graceSeconds, provider }: { readonly graceSeconds: number; readonly provider: boolean },
): void => {
  const machine = chosen(runningMachines(site), pick);
  if (machine !== undefined) site.script.reclaim(machine.id, { graceSeconds }, provider);
};

const patchNode = (site: EmbeddedSite, name: string, unschedulable: boolean): void => {
  site.ask('PATCH', `/api/v1/nodes/${name}`, { spec: { unschedulable: unschedulable || null } });
};

const replicasOf = (site: EmbeddedSite, app: AppPlan): number =>
  numberAt(site.ask('GET', workloadPath(app, app.name)).body, 'spec', 'replicas') ?? app.replicas;

/** People and workload owners. */
const playPerson =
  (site: EmbeddedSite, plan: WorldPlan, hand: WorldControls) => (act: Act): boolean => {
    switch (act._tag) {
      case 'Uncordon': {
        const node = chosen(nodesOf(site).filter(isDraining), act.pick);
        if (node !== undefined) patchNode(site, nameOf(node), false);
        return true;
      }
      case 'Cordon': {
        const node = chosen(nodesOf(site).filter((one) => !isCordoned(one)), act.pick);
        if (node === undefined || ownersOf(node).length > 0) return true;
        hand.cordonedByPerson.add(nameOf(node));
        patchNode(site, nameOf(node), true);
        return true;
      }
      case 'DeleteNode': {
        const node = chosen(nodesOf(site), act.pick);
        if (node !== undefined) site.ask('DELETE', `/api/v1/nodes/${nameOf(node)}`);
        return true;
      }
      case 'DeletePod': {
        const pods = [...site.cluster.store.collection('pods').ordered()];
        const pod = chosen(pods, act.pick);
        if (pod === undefined) return true;
        site.ask('DELETE', `/api/v1/namespaces/${pod.at.namespace}/pods/${pod.at.name}`);
        return true;
      }
      case 'Scale': {
        const app = chosen(plan.apps, act.pick);
        if (app === undefined) return true;
        const replicas = Math.max(1, replicasOf(site, app) + act.by);
        site.ask('PATCH', workloadPath(app, app.name), { spec: { replicas } });
        return true;
      }
      case 'Rollout': {
        const app = chosen(plan.apps.filter(({ kind }) => kind === 'Deployment'), act.pick);
        if (app === undefined) return true;
        const annotations = { 'example.com/rolled-out': `${act.pick}` };
        const spec = { template: { metadata: { annotations } } };
        site.ask('PATCH', workloadPath(app, app.name), { spec });
        return true;
      }
      case 'Rebudget': {
        const app = chosen(plan.apps.filter(({ budget }) => budget !== undefined), act.pick);
        if (app === undefined) return true;
        const spec = { minAvailable: null, maxUnavailable: act.pick % 3 };
        site.ask('PATCH', budgetPath(app.name), { spec });
        return true;
      }
      default:
        return false;
    }
  };

const changeDemand = (site: EmbeddedSite, by: number): void => {
  const requests = [
    ...site.cluster.store.collection('capacityrequests.bigfleet.lucy.sh').ordered(),
  ];
  for (let less = 0; less < -by; less += 1) {
    const request = requests.at(-1 - less);
    if (request !== undefined) site.ask('DELETE', `${REQUESTS}/${request.at.name}`);
  }
  for (let more = 0; more < by; more += 1) {
    site.ask('POST', REQUESTS, machineRequest(1000 + site.cluster.store.revision()));
  }
};

/** The fleet. */
const playFleet = (site: EmbeddedSite, hand: WorldControls) => (act: Act): boolean => {
  const { script } = site;
  const cut = (): void => {
    if (script.shard.clusters.get(CLUSTER)?.live === undefined) return;
    script.end(CLUSTER, { status: undefined, message: '' });
  };
  const away = (forMs: number): void => {
    hand.trouble(forMs);
    script.admission.refuse = true;
    cut();
    hand.schedule(forMs, () => {
      script.admission.refuse = false;
    });
  };
  switch (act._tag) {
    case 'Reclaim':
      reclaim(site, act.pick, act);
      return true;
    case 'ReclaimMany':
      for (let left = act.count; left > 0; left -= 1) reclaim(site, left, act);
      return true;
    case 'Demand':
      changeDemand(site, act.by);
      return true;
    case 'Burst':
      for (let number = 0; number < BURST_MACHINES; number += 1) {
        const id = `burst-${act.pick}-${number}`;
        for (const state of BURST) script.place(id, { state, cluster: CLUSTER });
      }
      return true;
    case 'Vanish': {
      const machine = chosen(runningMachines(site), act.pick);
      away(act.forMs);
      if (machine !== undefined) hand.schedule(SETTLE_MS, () => script.forget(machine.id));
      return true;
    }
    case 'FleetOutage':
      away(act.forMs);
      return true;
    case 'CutSession':
      hand.trouble(SETTLE_MS);
      cut();
      return true;
    case 'RejectRollups':
      hand.trouble(act.count * 60_000);
      script.shard.rollups.faults.rejectNext += act.count;
      return true;
    default:
      return false;
  }
};

/** Faults. */
const playFault = (site: EmbeddedSite, hand: WorldControls) => (act: Act): boolean => {
  switch (act._tag) {
    case 'Crash':
      hand.crash(act.forMs);
      return true;
    case 'Replace':
      hand.replace();
      return true;
    case 'Freeze':
      hand.freeze(act.forMs);
      return true;
    case 'CutOffStandby':
      hand.cutOffStandby(act.forMs);
      return true;
    case 'ApiOutage':
      hand.weather({ outage: true }, act.forMs);
      // The first request of a process that starts meanwhile is repeated only after its timeout.
      hand.schedule(act.forMs, () => {
        if (hand.startedWithin(act.forMs)) hand.trouble(LIST_TIMEOUT_MS + TAKEOVER_MS);
      });
      return true;
    case 'ApiErrors':
      // A process that starts now repeats a list whose answer was lost only after its timeout, and
      // may request the lease only then.
      hand.trouble(act.forMs + LIST_TIMEOUT_MS + TAKEOVER_MS);
      hand.weather({ errorShare: act.share }, act.forMs);
      return true;
    case 'SlowApi':
      hand.weather({ latencyMs: act.latencyMs }, act.forMs);
      return true;
    case 'SlowList':
      // A process that lists at its end waits as long again, and may request the lease only then.
      hand.trouble(2 * act.forMs + TAKEOVER_MS);
      hand.weather({ slowList: act.collection, slowListMs: act.forMs / 2 }, act.forMs);
      return true;
    case 'SlowFrames':
      // What has queued up arrives later; a new session gets a replay.
      hand.trouble(2 * act.forMs);
      hand.weather({ frameMs: act.frameMs }, act.forMs);
      if (site.script.shard.clusters.get(CLUSTER)?.live !== undefined) {
        site.script.end(CLUSTER, { status: undefined, message: '' });
      }
      return true;
    case 'DropWatches':
      hand.trouble(SETTLE_MS);
      hand.dropWatches();
      return true;
    case 'Compact':
      hand.trouble(SETTLE_MS);
      site.cluster.store.compact();
      hand.dropWatches();
      return true;
    case 'Deafen': {
      const node = chosen(nodesOf(site), act.pick);
      if (node === undefined) return true;
      const name = nameOf(node);
      hand.trouble(act.forMs);
      site.controllers.kubelets.setSilent(name, true);
      hand.schedule(act.forMs, () => site.controllers.kubelets.setSilent(name, false));
      return true;
    }
    default:
      return false;
  }
};

/** Executes steps. */
export const planRunner = (site: EmbeddedSite, plan: WorldPlan, hand: WorldControls) => {
  const handlers = [
    playPerson(site, plan, hand),
    playFleet(site, hand),
    playNetwork(site, hand),
    playEvictions(site, hand.schedule),
    playMaintenances(site, hand.cordonedByPerson),
    playFailures(site, hand),
    playMachines(site, hand.schedule),
    playFault(site, hand),
  ];
  return (act: Act): void => {
    handlers.some((handle) => handle(act));
  };
};

/** A step as text. */
export const sceneText = ({ _tag, ...rest }: Act): string =>
  [_tag, ...Object.entries(rest).map(([key, value]) => `${key}=${value}`)].join(' ');
