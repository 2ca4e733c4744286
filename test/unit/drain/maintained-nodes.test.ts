/** What maintenances let their drains do. */
import { expect, test } from 'vitest';
import {
  drainScope,
  type MaintainedNode,
  MaintainedNodes,
} from '../../../src/actors/node-drains/maintained-nodes.ts';
import { podOf } from '../../support/drains/drain-facts.ts';

const OWNER = 'maintenance-0123456789ab';
const POD = podOf({ name: 'web', node: 'n1' });
const OTHER_POD = podOf({ name: 'db', node: 'n1' });
const PODS = [POD, OTHER_POD];

/** Only the first pod must leave, and may now. */
const COVERED: MaintainedNode = {
  isReleased: true,
  isPlanned: ({ name }) => name === 'web',
  isTargeted: ({ name }) => name === 'web',
  graceSeconds: 5,
};

/** The answer for a Node, without functions. */
const answerOf = (maintained: MaintainedNodes, owner: 'reclaim' | typeof OWNER) => {
  const { isPlanned, isTargeted, ...answer } = maintained.of('n1', owner);
  return { ...answer, planned: PODS.map(isPlanned), targeted: PODS.map(isTargeted) };
};

const NOTHING = {
  isReleased: false,
  planned: [false, false],
  targeted: [false, false],
  graceSeconds: null,
};
const WHOLE = {
  isReleased: true,
  planned: [true, true],
  targeted: [true, true],
  graceSeconds: null,
};

test('a drain of a maintenance evicts nothing from a Node that is not covered', () => {
  const maintained = new MaintainedNodes();
  expect([answerOf(maintained, OWNER), maintained.resumes('n1', OWNER)]).toEqual([NOTHING, false]);
  maintained.set('n1', OWNER, COVERED);
  expect(answerOf(maintained, OWNER)).toMatchObject({ planned: [true, false], graceSeconds: 5 });
  expect([maintained.resumes('n1', OWNER), maintained.resumes('n2', OWNER)]).toEqual([true, false]);
  maintained.remove('n1', OWNER);
  expect([answerOf(maintained, OWNER), maintained.resumes('n1', OWNER)]).toEqual([NOTHING, false]);
});

test('every other owner drains the whole Node, whatever maintenances cover', () => {
  const maintained = new MaintainedNodes();
  maintained.set('n1', OWNER, COVERED);
  expect([answerOf(maintained, 'reclaim'), maintained.resumes('n1', 'reclaim')])
    .toEqual([WHOLE, true]);
});

test('a maintenance has the name that it asks by, and none after the end of the term', () => {
  const maintained = new MaintainedNodes();
  const own = `${OWNER}.tidegate.dev`;
  const asked = 'kernel.example.com';
  expect([maintained.requesterOf(OWNER), maintained.ownerOf(asked)]).toEqual([own, undefined]);
  maintained.setRequester(OWNER, asked);
  maintained.set('n1', OWNER, COVERED);
  expect([maintained.requesterOf(OWNER), maintained.ownerOf(asked)]).toEqual([asked, OWNER]);
  maintained.clear();
  expect([maintained.requesterOf(OWNER), maintained.ownerOf(asked)]).toEqual([own, undefined]);
  expect(maintained.resumes('n1', OWNER)).toBe(false);
});

test('the pods of a drain are those that its maintenance names, or all', () => {
  const maintained = new MaintainedNodes();
  maintained.set('n1', OWNER, COVERED);
  const scopeOf = (owner: 'reclaim' | typeof OWNER, all?: MaintainedNodes) => {
    const scope = drainScope(all === undefined ? {} : { maintained: all }, {
      node: 'n1',
      owner,
      on: () => PODS,
    });
    const { daemonSetsLeave } = scope;
    return {
      pods: [...scope.on()].map(({ name }) => name),
      withheld: PODS.filter(scope.isWithheld).map(({ name }) => name),
      graceSeconds: scope.graceSeconds(),
      daemonSetsLeave,
    };
  };
  const all = {
    pods: ['web', 'db'],
    withheld: [],
    graceSeconds: null,
    daemonSetsLeave: false,
  };
  expect(scopeOf(OWNER, maintained))
    .toEqual({ pods: ['web'], withheld: ['db'], graceSeconds: 5, daemonSetsLeave: true });
  expect(scopeOf('reclaim', maintained)).toEqual(all);
  expect(scopeOf(OWNER)).toEqual(all);
});
