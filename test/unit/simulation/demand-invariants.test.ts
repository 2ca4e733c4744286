/**
 * What the invariant about UpcomingNodes allows. Found by worlds 38 and 127: a person deleted the
 * Node of a machine that had been drained; a machine became idle at the end of its world, 26 ms
 * before its object was deleted.
 */
import { describe, expect, test } from 'vitest';
import { upcomingNodesEqualFleet } from '../../simulation/demand-invariants.ts';
import { CLUSTER } from '../../simulation/simulated-process.ts';
import { invariantRig } from '../../support/simulation/invariant-rig.ts';

const MACHINE = 'm-000001';
const OBJECTS = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
/** Longer than a change may take to be written. */
const LONG_SECONDS = 70;

/** A cluster without an operator, with one machine that is CONFIGURED. */
const rig = () => {
  const { site, invariant, breaches, pass } = invariantRig(upcomingNodesEqualFleet);
  site.script.place(MACHINE, { state: 'CONFIGURED', cluster: CLUSTER });
  site.ask('POST', OBJECTS, {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'UpcomingNode',
    metadata: { name: `un-${MACHINE}` },
    spec: { resources: { cpu: '8' } },
  });
  return {
    site,
    pass,
    breaches,
    end: () => invariant.end?.(),
    show: (phase: string) =>
      site.ask('PATCH', `${OBJECTS}/un-${MACHINE}/status`, { status: { phase } }).status,
  };
};

describe('upcomingNodesEqualFleet', () => {
  test('a machine that leaves at the end of its world is not missed yet', async () => {
    const { site, pass, show, end, breaches } = rig();
    expect(show('Ready')).toBe(200);
    await pass(LONG_SECONDS);
    site.script.forget(MACHINE);
    await pass(1);
    end();
    expect(breaches).toEqual([]);
  });

  test('at rest, an object whose machine left earlier is a violation', async () => {
    const { site, pass, show, end, breaches } = rig();
    expect(show('Ready')).toBe(200);
    await pass(LONG_SECONDS);
    site.script.forget(MACHINE);
    await pass(10);
    expect(breaches).toEqual([]);
    end();
    expect(breaches).toEqual([`"un-${MACHINE}" is not a machine of this cluster`]);
  });

  test.each([
    { phase: 'Ready', isFine: true },
    { phase: 'Drained', isFine: true },
    { phase: 'Draining', isFine: false },
    { phase: 'Failed', isFine: false },
  ])(
    'a machine whose Node was deleted while it serves has phase $phase: $isFine',
    async (given) => {
      const { site, pass, show, breaches } = rig();
      await pass(1);
      expect(site.ask('DELETE', `/api/v1/nodes/${MACHINE}`).status).toBe(200);
      expect(show(given.phase)).toBe(200);
      await pass(LONG_SECONDS);
      expect(breaches.length === 0).toBe(given.isFine);
    },
  );

  test.each(['Drained', 'Draining', 'Failed'])(
    'a machine with a Node that nobody drains does not show %s',
    async (phase) => {
      const { pass, show, breaches } = rig();
      expect(show(phase)).toBe(200);
      await pass(LONG_SECONDS);
      expect(breaches[0]).toBe(`${MACHINE} is CONFIGURED, object: ${phase}`);
    },
  );
});
