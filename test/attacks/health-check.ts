/**
 * What a healthy operator does within a second: demand reaches the shard and is acknowledged, a pod
 * gets its request, a machine that comes is listed with its Node, and one that is reclaimed is
 * cordoned and drained.
 *
 * Promises: leaves nothing behind; rejects with the first thing that does not happen.
 */
import { MachineState } from '../../src/gen/bigfleet/v1alpha1/provider_pb.ts';
import { type JsonRecord, textAt, valueAt } from '../../src/domain/json.ts';
import { machineFrame } from './hostile-shard.ts';
import { type AttackSite, nodeNamed, PATHS, pendingPod, requestNamed, soon } from './site.ts';

const OK = 200;

const get = ({ api }: AttackSite, path: string): JsonRecord | undefined =>
  api.status('GET', path) === OK ? api.ask('GET', path) : undefined;

const demandIsAcknowledged = async (site: AttackSite, id: string): Promise<void> => {
  const resource = `health.example/${id}`;
  const path = `${PATHS.requests}/${id}`;
  site.api.ask('POST', PATHS.requests, requestNamed(id, { resources: { [resource]: '1' } }));
  await soon(
    `the demand "${id}" to reach the shard`,
    () =>
      site.shard.received().some((payload) =>
        payload.case === 'rollup' &&
        payload.value.needs.some(({ aggregateResources }) => resource in aggregateResources)
      ),
  );
  await soon(
    `the request "${id}" to be Acknowledged`,
    () => textAt(get(site, path), 'status', 'phase') === 'Acknowledged',
  );
  site.api.ask('DELETE', path);
};

const machineComesAndGoes = async (site: AttackSite, id: string): Promise<void> => {
  const { api, shard } = site;
  const upcoming = `${PATHS.upcomingNodes}/un-${id}`;
  const node = `${PATHS.nodes}/${id}`;
  api.ask('POST', PATHS.nodes, nodeNamed(id));
  shard.bind(id);
  await soon(`the machine "${id}" to be listed Ready with its Node`, () => {
    const listed = get(site, upcoming);
    return textAt(listed, 'status', 'phase') === 'Ready' &&
      textAt(listed, 'status', 'nodeRef', 'name') === id;
  });
  shard.instruct(`back-${id}`, [id]);
  await soon(
    `the reclaim "back-${id}" to be acknowledged with its Node`,
    () =>
      shard.received().some((payload) =>
        payload.case === 'reclaimAck' && payload.value.instructionId === `back-${id}` &&
        payload.value.nodesStarted === 1
      ),
  );
  await soon(`the Node "${id}" to be cordoned and drained`, () => {
    const drained = get(site, node);
    const cordon = textAt(drained, 'metadata', 'annotations', 'cordon.tidegate.dev/reclaim') ?? '';
    return valueAt(drained, 'spec', 'unschedulable') === true && cordon.includes('"Drained"');
  });
  shard.send(machineFrame(id, { state: MachineState.DRAINING }));
  shard.unbind(id);
  api.ask('DELETE', node);
  await soon(`the UpcomingNode of "${id}" to go`, () => get(site, upcoming) === undefined);
};

const podHasItsRequest = async ({ api }: AttackSite, id: string): Promise<void> => {
  const path = `${PATHS.pods}/${id}`;
  const made = api.ask('POST', PATHS.pods, pendingPod(id));
  const uid = textAt(made, 'metadata', 'uid');
  await soon(
    `the pod "${id}" to have its request`,
    () =>
      api.list(PATHS.requests).some((one) =>
        textAt(one, 'metadata', 'labels', 'bigfleet.lucy.sh/owned-by-pod') === uid
      ),
  );
  api.ask('DELETE', path, { gracePeriodSeconds: 0 });
};

/** Plays it once, under a name that no other has. */
export const playHealthCheck = async (site: AttackSite): Promise<void> => {
  await site.shard.untilSession();
  const id = `health-${site.number()}`;
  const parts = [
    demandIsAcknowledged(site, id),
    machineComesAndGoes(site, id),
    podHasItsRequest(site, id),
  ];
  // Nothing of it goes on behind a failure.
  await Promise.allSettled(parts);
  await Promise.all(parts);
};
