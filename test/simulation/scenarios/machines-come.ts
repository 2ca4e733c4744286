/** Demand rises and machines arrive: every visible step. */
import { type JsonRecord, textAt, valueAt } from '../../../src/domain/json.ts';
import {
  COLLECTIONS,
  isJoined,
  phaseOf,
  phasesIn,
  uidOf,
} from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Scenario } from './scenario.ts';
import {
  boundIds,
  namesOf,
  needsOf,
  REQUESTS,
  sessionSiteOptions,
  untilAcknowledged,
  untilAll,
  untilSession,
  UPCOMING,
} from './session-scene.ts';

const MACHINES = 6;
const OWNED = 24;
/** Slow enough that no phase is superseded before it was written. */
const JOINING_MS = 2000;

const startTimes = (versions: readonly JsonRecord[]): number =>
  new Set(versions.flatMap((one) => textAt(one, 'status', 'provisioningStartTime') ?? [])).size;

export const machinesCome: Scenario = {
  name: 'machines-come',
  shows: 'machines arrive for demand, with bootstrap pulls, up to Ready with their Nodes',
  siteOptions: sessionSiteOptions(30, { machines: OWNED, fleetTiming: { joiningMs: JOINING_MS } }),
  play: async (harness) => {
    const seen = { machines: harness.following(UPCOMING), requests: harness.following(REQUESTS) };
    harness.processes.start();
    harness.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'wanted'));
    const ready = await untilAll(harness, COLLECTIONS.upcomingNodes, {
      what: 'every machine is Ready with its Node',
      count: MACHINES,
      each: isJoined,
    });
    const bound = boundIds(harness);
    harness.is('one object for each', namesOf(ready), bound.map((id) => `un-${id}`));
    const nodes = harness.list(COLLECTIONS.nodes);
    for (const one of ready) {
      const name = nameOf(one);
      const node = nodes.find((candidate) => `un-${nameOf(candidate)}` === name);
      harness.is(`the Node of ${name}`, valueAt(one, 'status', 'nodeRef'), {
        apiVersion: 'v1',
        kind: 'Node',
        name: nameOf(node),
        uid: uidOf(node),
      });
      const versions = seen.machines.of(name);
      harness.is(`the way of ${name}`, [phasesIn(versions), startTimes(versions)], [
        ['Registered', 'Ready'],
        1,
      ]);
    }
    const pulls = harness.site.script.shard.bootstraps.answered.entries();
    harness.is('a pull each', pulls.map((pull) => pull.machineId).toSorted(), bound);
    const good = pulls.filter(({ error, late, ttlSeconds }) =>
      error === '' && !late && ttlSeconds === 600
    );
    harness.is('every pull succeeds', good.length, MACHINES);

    await untilAcknowledged(harness, MACHINES);
    for (const request of harness.list(COLLECTIONS.requests)) {
      const steps = seen.requests.of(nameOf(request))
        .map((one) => [phaseOf(one), textAt(one, 'status', 'acknowledgedAt') !== undefined]);
      // Phase and time are set by one patch.
      harness.is(`${nameOf(request)} is acknowledged once`, steps, [['', false], [
        'Acknowledged',
        true,
      ]]);
    }
    harness.is('the demand', needsOf(harness), [
      { resources: { cpu: '48', memory: '192Gi' }, priority: 1000 },
    ]);
  },
};

const PHASES = [
  ['CREATING', 'Provisioning'],
  ['IDLE', 'Launched'],
  ['CONFIGURING', 'Registered'],
  ['CONFIGURED', 'Ready'],
  ['DRAINING', 'Draining'],
] as const;

export const machineBought: Scenario = {
  name: 'machine-bought',
  shows: 'a newly created machine goes through all phases in order',
  siteOptions: sessionSiteOptions(31, { makesNodes: false }),
  play: async (harness) => {
    const seen = harness.following(UPCOMING);
    const { script } = harness.site;
    harness.processes.start();
    await untilSession(harness);
    for (const [state, phase] of PHASES) {
      script.place('bought', { state, cluster: CLUSTER });
      await untilAll(harness, COLLECTIONS.upcomingNodes, {
        what: `it is ${phase}`,
        count: 1,
        each: (one) => phaseOf(one) === phase,
      });
    }
    script.place('bought', { state: 'IDLE' });
    await harness.until(
      'it is returned',
      () => harness.list(COLLECTIONS.upcomingNodes).length === 0,
    );
    const versions = seen.of('un-bought');
    harness.is('its phases', phasesIn(versions), [...PHASES.map(([, phase]) => phase), 'Drained']);
    harness.is('one start time', startTimes(versions), 1);
    harness.is('one object', [new Set(versions.map(uidOf)).size, seen.deleted()], [1, [
      'un-bought',
    ]]);
  },
};
