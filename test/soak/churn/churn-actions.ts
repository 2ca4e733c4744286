/**
 * What is done to the cluster, its operators and its fleet while it churns.
 *
 * Promises: every action ends with all processes running; what is wanted is written down as it is
 * wanted (`WantedDemand`).
 */
import { realTime } from '../../../src/effects/real-time.ts';
import { COLLECTIONS } from '../../support/api/cluster-connection.ts';
import { wantedMachine } from '../../support/demand/wanted-capacity.ts';
import type { Draw } from '../../support/draws.ts';
import { pause } from '../../support/eventually.ts';
import { type ChurnSite, untilLed } from './churn-site.ts';
import type { Wanted } from './wanted-demand.ts';

const PODS = '/api/v1/namespaces/default/pods';
const POD_CORES = 1;
const REQUEST_CORES = 8;
const REQUEST_PRIORITY = 1000;
const AT_ONCE_MAX = 8;
const WANTED_MAX = 150;
const OUTAGE_MS_MAX = 15_000;
const FROZEN_MS_MAX = 20_000;

/** An action by name, and how often it is drawn beside the others. */
interface Action {
  readonly name: string;
  readonly weight: number;
  readonly run: (site: ChurnSite, draw: Draw) => Promise<void>;
}

const pod = (name: string) => ({
  metadata: { name },
  spec: {
    containers: [{
      name: 'main',
      image: 'image',
      resources: { requests: { cpu: `${POD_CORES}`, memory: '1Gi' } },
    }],
  },
});

const pathOf = ({ kind, name }: Wanted): string =>
  `${kind === 'pod' ? PODS : COLLECTIONS.requests}/${name}`;

let created = 0;

const create = async ({ cluster, demand }: ChurnSite, kind: Wanted['kind']): Promise<void> => {
  created += 1;
  const name = `${kind}-${created}`;
  if (kind === 'pod') await cluster.create(PODS, [pod(name)]);
  else await cluster.create(COLLECTIONS.requests, [wantedMachine(name)]);
  const wanted = kind === 'pod'
    ? { name, kind, priority: 0, cores: POD_CORES }
    : { name, kind, priority: REQUEST_PRIORITY, cores: REQUEST_CORES };
  demand.add(wanted, realTime.now());
};

const remove = async ({ cluster, demand }: ChurnSite, wanted: Wanted): Promise<void> => {
  demand.remove(wanted.name, realTime.now());
  await cluster.call('DELETE', pathOf(wanted), { gracePeriodSeconds: 0 });
};

const some = (draw: Draw): number => 1 + Math.floor(draw() * AT_ONCE_MAX);

const createSome = async (site: ChurnSite, draw: Draw): Promise<void> => {
  const kind = draw() < 0.7 ? 'pod' : 'request';
  const room = WANTED_MAX - site.demand.current().length;
  for (let left = Math.min(room, some(draw)); left > 0; left -= 1) await create(site, kind);
};

/** Enough that nothing rests at zero. */
export const populate = async (site: ChurnSite): Promise<void> => {
  for (let count = 0; count < WANTED_MAX / 3; count += 1) {
    await create(site, count % 5 === 0 ? 'request' : 'pod');
  }
};

const removeSome = async (site: ChurnSite, draw: Draw): Promise<readonly Wanted[]> => {
  const wanted = site.demand.current();
  const first = Math.floor(draw() * wanted.length);
  const chosen = wanted.slice(first, first + some(draw));
  for (const one of chosen) await remove(site, one);
  return chosen;
};

const replaceSome = async (site: ChurnSite, draw: Draw): Promise<void> => {
  for (const { kind } of await removeSome(site, draw)) await create(site, kind);
};

const withoutApiServer = async (
  { bed, demand }: ChurnSite,
  meanwhile: () => Promise<void>,
): Promise<void> => {
  demand.outageBegan(realTime.now());
  await bed.stopApiServer();
  await meanwhile();
  await bed.startApiServer();
  demand.outageEnded(realTime.now());
};

const freeze = async (site: ChurnSite, draw: Draw): Promise<void> => {
  const standby = await site.standby();
  if (standby === undefined) return;
  standby.signal('STOP');
  await replaceSome(site, draw);
  await pause(draw() * FROZEN_MS_MAX);
  standby.signal('CONT');
};

/** Without a session, between two of them, the fleet answers with an error: nothing to end. */
const endSession = async ({ fleet }: ChurnSite): Promise<void> => {
  await fleet().script('POST', '/sessions/end', { cluster: 'test' }).catch(() => {});
};

const ACTIONS: readonly Action[] = [
  { name: 'create', weight: 8, run: createSome },
  { name: 'remove', weight: 5, run: async (site, draw) => void await removeSome(site, draw) },
  { name: 'replace', weight: 6, run: replaceSome },
  {
    name: 'end the session',
    weight: 2,
    run: endSession,
  },
  {
    name: 'kill the leader',
    weight: 1,
    run: async (site) => {
      const leader = await untilLed(site);
      leader.signal('KILL');
      await leader.exited;
      await site.startOperators();
    },
  },
  {
    name: 'stop the leader',
    weight: 1,
    run: async (site) => {
      await (await untilLed(site)).stop();
      await site.startOperators();
    },
  },
  { name: 'freeze the standby', weight: 1, run: freeze },
  {
    name: 'freeze the standby, then kill the leader',
    weight: 1,
    run: async (site, draw) => {
      await freeze(site, draw);
      const leader = await untilLed(site);
      leader.signal('KILL');
      await leader.exited;
      await site.startOperators();
    },
  },
  {
    name: 'kill the fleet',
    weight: 1,
    run: async (site) => {
      site.fleet().signal('KILL');
      await site.fleet().exited;
      await site.restartFleet();
    },
  },
  {
    name: 'take the API server away',
    weight: 1,
    run: (site, draw) => withoutApiServer(site, () => pause(draw() * OUTAGE_MS_MAX)),
  },
  {
    name: 'compact the history',
    weight: 1,
    run: async ({ bed, demand }) => {
      demand.outageBegan(realTime.now());
      await bed.compactHistory();
      demand.outageEnded(realTime.now());
    },
  },
];

const TOTAL_WEIGHT = ACTIONS.reduce((sum, { weight }) => sum + weight, 0);

/** The action at this share of all weights. */
export const actionAt = (share: number): Action => {
  let left = share * TOTAL_WEIGHT;
  for (const action of ACTIONS) {
    left -= action.weight;
    if (left < 0) return action;
  }
  throw new Error(`no action at ${share}`);
};
