/**
 * The cluster at rest: what must hold once nothing changes any more.
 *
 * Promises: computed from the API server's objects and the fleet's machines alone, with no code of
 * the operator's roles.
 */
import { type JsonRecord, listOrEmptyAt, textAt, valueAt } from '../../../src/domain/json.ts';
import { COLLECTIONS, nameOf, phaseOf, uidOf } from '../../support/api/cluster-connection.ts';
import { boundMachines, objectName } from '../../support/fleet/fleet-script.ts';
import type { ChurnSite } from './churn-site.ts';
import { acceptedCores } from './rollup-watch.ts';
import { coresByPriority } from './wanted-demand.ts';

const PODS = '/api/v1/namespaces/default/pods';

const ownerOf = (request: JsonRecord): string =>
  textAt(listOrEmptyAt(request, 'metadata', 'ownerReferences')[0], 'uid') ?? '';

const differences = (
  what: string,
  expected: Iterable<string>,
  actual: Iterable<string>,
): readonly string[] => {
  const [wanted, found] = [[...expected].sort(), [...actual].sort()];
  const missing = wanted.filter((one) => !found.includes(one));
  const needless = found.filter((one) => !wanted.includes(one));
  const double = found.filter((one, index) => found.indexOf(one) !== index);
  return [
    ...missing.map((one) => `${what}: ${one} is missing`),
    ...needless.map((one) => `${what}: ${one} should not be there`),
    ...double.map((one) => `${what}: ${one} is there twice`),
  ];
};

const textsOf = (cores: ReadonlyMap<number, number>): readonly string[] =>
  [...cores].filter(([, sum]) => sum > 0).map(([priority, sum]) => `${sum} of ${priority}`);

const requestProblems = async ({ cluster, demand }: ChurnSite): Promise<readonly string[]> => {
  const pods = await cluster.list(PODS);
  const requests = await cluster.list(COLLECTIONS.requests);
  const wanted = demand.current();
  const ofKind = (kind: string) => wanted.filter((one) => one.kind === kind).map((one) => one.name);
  const owned = requests.filter((request) => ownerOf(request) !== '');
  return [
    ...differences('pods', ofKind('pod'), pods.map(nameOf)),
    ...differences('requests of pods, by pod', pods.map(uidOf), owned.map(ownerOf)),
    ...differences(
      'requests of people',
      ofKind('request'),
      requests.filter((request) => !owned.includes(request)).map(nameOf),
    ),
    ...requests.filter((request) => phaseOf(request) !== 'Acknowledged')
      .map((request) => `request ${nameOf(request)} is "${phaseOf(request)}"`),
  ];
};

const demandProblems = async (site: ChurnSite): Promise<readonly string[]> =>
  differences(
    'cores in the fleet’s demand',
    textsOf(coresByPriority(site.demand.current())),
    textsOf(await acceptedCores(site)),
  );

/** A reclaim never uncordons, also when a killed fleet has forgotten its instruction (DR-04). */
const isInStep = (upcoming: JsonRecord, cordoned: ReadonlySet<string>): boolean =>
  phaseOf(upcoming) === 'Ready' ||
  (phaseOf(upcoming) === 'Drained' &&
    cordoned.has(textAt(upcoming, 'status', 'nodeRef', 'name') ?? ''));

const machineProblems = async (site: ChurnSite): Promise<readonly string[]> => {
  const machines = await boundMachines(site.fleet(), 'test');
  const objects = await site.cluster.list(COLLECTIONS.upcomingNodes);
  const nodes = await site.cluster.list(COLLECTIONS.nodes);
  const cordoned = new Set(
    nodes.filter((node) => valueAt(node, 'spec', 'unschedulable') === true).map(nameOf),
  );
  return [
    ...differences('UpcomingNodes', machines.map(({ id }) => objectName(id)), objects.map(nameOf)),
    ...machines.filter(({ state }) => state !== 'CONFIGURED')
      .map(({ id, state }) => `machine ${id} is ${state}`),
    ...objects.filter((one) => !isInStep(one, cordoned))
      .map((one) => `${nameOf(one)} is "${phaseOf(one)}"`),
  ];
};

/** What does not hold; empty at rest. */
export const restProblems = async (site: ChurnSite): Promise<readonly string[]> =>
  (await Promise.all([requestProblems(site), demandProblems(site), machineProblems(site)])).flat();
