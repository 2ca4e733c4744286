/** What maintenances let their drains do, by the data alone. */
import { expect, test } from 'vitest';
import { drainScope, MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import type { DrainOwner } from '../../../src/domain/drain/cordon.ts';
import { podOf } from '../../support/drains/drain-facts.ts';

const OWNER = 'maintenance-0123456789ab';
const OTHER = 'maintenance-ba9876543210';
const [PLANNED, TARGETED, REST] = ['planned', 'targeted', 'rest'].map((name) => podOf({ name }));
const PODS = [PLANNED, TARGETED, REST].filter((pod) => pod !== undefined);

/** A maintenance that drains `n1` of two pods, one of them now. */
const maintained = () => {
  const nodes = new MaintainedNodes();
  nodes.set('n1', OWNER, {
    isReleased: true,
    isPlanned: ({ name }) => name !== 'rest',
    isTargeted: ({ name }) => name === 'targeted',
    graceSeconds: 5,
  });
  return nodes;
};

/** What a drain of the owner may do on the node. */
const scopeOf = (nodes: MaintainedNodes | undefined, owner: DrainOwner, node = 'n1') => {
  const scope = drainScope({ ...(nodes && { maintained: nodes }) }, {
    node,
    owner,
    on: () => PODS,
  });
  return {
    resumes: nodes?.resumes(node, owner) ?? true,
    isReleased: nodes?.of(node, owner).isReleased ?? true,
    on: [...scope.on()].map(({ name }) => name),
    evicted: PODS.filter((pod) => !scope.isWithheld(pod)).map(({ name }) => name),
    graceSeconds: scope.graceSeconds(),
    daemonSetsLeave: scope.daemonSetsLeave,
  };
};

const ALL = ['planned', 'targeted', 'rest'];
const NOTHING = {
  resumes: false,
  isReleased: false,
  on: [],
  evicted: [],
  graceSeconds: null,
  daemonSetsLeave: true,
};
const EVERYTHING = {
  resumes: true,
  isReleased: true,
  on: ALL,
  evicted: ALL,
  graceSeconds: null,
  daemonSetsLeave: false,
};

test('a maintenance evicts the pods that it targets now', () => {
  expect(scopeOf(maintained(), OWNER)).toEqual({
    resumes: true,
    isReleased: true,
    on: ['planned', 'targeted'],
    evicted: ['targeted'],
    graceSeconds: 5,
    daemonSetsLeave: true,
  });
});

test('a key alone empties no Node: neither of another maintenance nor on another Node', () => {
  expect(scopeOf(maintained(), OTHER)).toEqual(NOTHING);
  expect(scopeOf(maintained(), OWNER, 'n2')).toEqual(NOTHING);
});

test('a reclaim empties its Node, and so does every owner in a process without maintenances', () => {
  expect(scopeOf(maintained(), 'reclaim')).toEqual(EVERYTHING);
  expect(scopeOf(undefined, OWNER)).toEqual(EVERYTHING);
});

test('a maintenance that has left lets its drain do nothing', () => {
  const removed = maintained();
  removed.remove('n1', OWNER);
  expect(scopeOf(removed, OWNER)).toEqual(NOTHING);
  const cleared = maintained();
  cleared.clear();
  expect(scopeOf(cleared, OWNER)).toEqual(NOTHING);
});

test('an owner asks by the name that its maintenance has, or by its own', () => {
  const nodes = maintained();
  nodes.setRequester(OWNER, 'kernel.tidegate.dev');
  expect(nodes.requesterOf(OWNER)).toBe('kernel.tidegate.dev');
  expect(nodes.ownerOf('kernel.tidegate.dev')).toBe(OWNER);
  expect(nodes.requesterOf('reclaim')).toBe('reclaim.tidegate.dev');
  expect(nodes.ownerOf('reclaim.tidegate.dev')).toBeUndefined();
  nodes.clear();
  expect(nodes.requesterOf(OWNER)).toBe(`${OWNER}.tidegate.dev`);
  expect(nodes.ownerOf('kernel.tidegate.dev')).toBeUndefined();
});

test('a name is that of a maintenance that is gone once all others have theirs', () => {
  const nodes = maintained();
  const names = ['gone.nodemaintenance.tidegate.dev', 'kept.nodemaintenance.tidegate.dev'];
  const gone = () => [...names, 'gone.tidegate.dev', 'reclaim.tidegate.dev'].filter(nodes.isGone);
  nodes.setRequester(OWNER, 'kept.nodemaintenance.tidegate.dev');
  expect(gone()).toEqual([]);
  nodes.setAllNamed();
  expect(gone()).toEqual(names.slice(0, 1));
  nodes.clear();
  expect(gone(), 'in the next term').toEqual([]);
});
