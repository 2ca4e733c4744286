/**
 * The environment of a simulated world: the embedded cluster with its controllers, the stand-in
 * fleet with its Nodes, and the actions of people and workload owners.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import type { Time } from '../../src/domain/time.ts';
import { makeCluster } from '../../packages/embedded-kubernetes/src/cluster.ts';
import { startControllers } from '../../packages/embedded-kubernetes/src/controllers/controllers.ts';
import {
  type ControllerTiming,
  DEFAULT_TIMING,
} from '../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { storeEnvironment } from '../../packages/embedded-kubernetes/src/controllers/store-environment.ts';
import type { ApiServer } from '../../packages/stand-in-fleet/src/api-server.ts';
import type { FleetTiming } from '../../packages/stand-in-fleet/src/fleet-time.ts';
import type { ShardOptions } from '../../packages/stand-in-fleet/src/shard.ts';
import { chanceOf, derived } from './chance.ts';
import { fleetStays } from './fleet-stays.ts';
import { restartableFleet } from './restartable-fleet.ts';
import { simulatedInterceptors } from './simulated-interceptors.ts';
import { CLUSTER, NAMESPACE } from './simulated-process.ts';
import { applier, type Ask, asker } from './site-requests.ts';

export const WORKLOADS = 'shop';
export const REQUESTS = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/shop/capacityrequests';

const CRDS = new URL('../../charts/tidegate/files/crds/', import.meta.url);
const definitions: readonly unknown[] = readdirSync(CRDS).toSorted()
  .map((name) => parse(readFileSync(new URL(name, CRDS), 'utf8')));

/** Spare machines, so that reclaimed ones can be replaced. */
const MACHINES = 240;
const CREATION_MS = 3000;
const JOINING_MS = 1500;

/** The settings of an environment; the defaults are those of worlds. */
export interface SiteOptions {
  readonly seed: number;
  /** The provider's own drain. */
  readonly providerDrainMs: number;
  /** Number of machines at the first start. */
  readonly machines?: number;
  readonly timing?: ControllerTiming;
  readonly fleetTiming?: Partial<FleetTiming>;
  /** False: no machine joins, only its frames are sent. */
  readonly makesNodes?: boolean;
  /** The maximum latency of one way to the API server without a fault. */
  readonly latencyMs?: number;
  /** Whether Nodes that fail are handled. */
  readonly withAvailability?: boolean;
}

/** The fleet's own transport to the API server. */
const fleetApi = (
  { time, ask, lagMs, joinLate }: {
    readonly time: Time;
    readonly ask: Ask;
    readonly lagMs: () => number;
    readonly joinLate: ReadonlySet<string>;
  },
): ApiServer => ({
  call: (method, path, body) =>
    new Promise((resolve) => {
      time.schedule(lagMs(), () => {
        const isLate = method === 'POST' && joinLate.has(textAt(body, 'metadata', 'name') ?? '');
        const answer = isLate ? { status: 503, body: undefined } : ask(method, path, body);
        time.schedule(lagMs(), () => resolve(answer));
      });
    }),
  close: () => Promise.resolve(),
});

/** One silence of a Node's kubelet: it runs on, or its machine is off. */
export interface Failing {
  readonly how: 'CutOff' | 'Off';
}

const namespace = (name: string): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

const prepare = (ask: Ask): void => {
  for (const definition of definitions) {
    const made = ask(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      definition,
    );
    if (made.status !== 201) throw new Error(`Cannot make a CRD: ${JSON.stringify(made.body)}`);
  }
  for (const name of [NAMESPACE, WORKLOADS, 'kube-node-lease']) {
    ask('POST', '/api/v1/namespaces', namespace(name));
  }
};

/** The environment, with only the initial content of a cluster. */
export const embeddedSite = (
  siteOptions: SiteOptions,
  time: Time,
  observe: ShardOptions['observe'] = () => {},
) => {
  const chance = chanceOf(derived(siteOptions.seed, 2));
  const cluster = makeCluster({ time, seed: derived(siteOptions.seed, 3) });
  const { answer } = cluster;
  const [ask, apply] = [asker(answer), applier(answer)];
  prepare(ask);
  const harness = storeEnvironment({
    cluster,
    time,
    random: chance.unit,
    timing: siteOptions.timing ?? DEFAULT_TIMING,
  });
  const controllers = startControllers(harness);
  const lagMs = (): number => chance.int(1, 20);
  const joinLate = new Set<string>();
  const failing = new Map<string, Failing>();
  const stays = fleetStays(time);
  const fleet = restartableFleet({
    api: siteOptions.makesNodes === false ? undefined : fleetApi({ time, ask, lagMs, joinLate }),
    time,
    machines: siteOptions.machines ?? MACHINES,
    seed: (start) => derived(siteOptions.seed, 4 + 100 * start).toString(16).padStart(8, '0'),
    timing: {
      creationMs: CREATION_MS,
      joiningMs: JOINING_MS,
      drainingMs: siteOptions.providerDrainMs,
      ...siteOptions.fleetTiming,
    },
    observe: (before, after) => {
      stays.observe(before, after);
      observe(before, after);
    },
  });
  return {
    cluster,
    answer,
    ask,
    apply,
    controllers,
    /** The interceptors of EvictionRequests. */
    interceptors: simulatedInterceptors({ cluster, time, ask, apply }),
    fleet,
    /** The current fleet. */
    get script() {
      return fleet.script();
    },
    chance,
    /** Nodes that do not join for now, by name. */
    joinLate,
    /** Nodes whose kubelet was silenced by a step, by name. */
    failing,
    /** When the machines came to the cluster. */
    stays,
    /** Machines that are bound to this cluster, by id. */
    bound: () =>
      [...fleet.script().shard.inventory.boundTo(CLUSTER)].toSorted()
        .flatMap((id) => fleet.script().shard.inventory.get(id) ?? []),
    stop: async () => {
      controllers.stop();
      await fleet.stop();
    },
  };
};

/** The environment for plans and invariants. */
export type EmbeddedSite = ReturnType<typeof embeddedSite>;
