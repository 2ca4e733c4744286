/** The log of a demo on a changing cluster. */
import { describe, expect, test } from 'vitest';
import {
  changeLines,
  EMPTY_SCENE,
  isDown,
  isUp,
  type MachineSeen,
  type Scene,
  sceneText,
  summary,
} from '../../../tools/demo/scene.ts';

const machine = (phase: MachineSeen['phase'], nodeName = ''): ReadonlyMap<string, MachineSeen> =>
  new Map([['un-m-1', { name: 'un-m-1', phase, nodeName, kind: 'standard-8', zone: 'zone-a' }]]);

const linesOf = (before: Scene, now: Scene): readonly string[] =>
  changeLines(before, now).map(({ who, what }) => `${who}: ${what}`);

describe('the log of the demo', () => {
  const asked: Scene = { ...EMPTY_SCENE, pods: 2, requests: 2 };
  const registered: Scene = {
    ...asked,
    acknowledged: 2,
    bound: 1,
    machines: machine('Registered'),
  };
  const up: Scene = {
    ...registered,
    running: 2,
    machines: machine('Ready', 'm-1'),
    nodes: new Map([['m-1', true]]),
  };

  test('reports each change once, causes before effects', () => {
    expect(linesOf(EMPTY_SCENE, asked)).toEqual([
      'requests: 0 of 2 acknowledged',
      'pods: 0 of 2 running',
    ]);
    expect(linesOf(asked, registered)).toEqual([
      'requests: 2 of 2 acknowledged',
      'machine: un-m-1  Registered  (standard-8, zone-a)',
    ]);
    expect(linesOf(registered, up)).toEqual([
      'machine: un-m-1  Registered → Ready  (standard-8, zone-a)',
      'node: m-1  joined, ready',
      'machine: un-m-1  is Node m-1',
      'pods: 2 of 2 running',
    ]);
    expect(linesOf(up, up)).toEqual([]);
  });

  test('reports removals in the same order', () => {
    expect(linesOf(up, EMPTY_SCENE)).toEqual([
      'requests: none left',
      'machine: un-m-1  went back',
      'node: m-1  left',
      'pods: none left',
    ]);
  });

  test('is up only when every pod runs and each machine is Ready with a ready Node', () => {
    expect([EMPTY_SCENE, asked, registered, up].map((scene) => isUp(scene, 2)))
      .toEqual([false, false, false, true]);
    expect(isUp(up, 3)).toBe(false);
    expect(isUp({ ...up, bound: 2 }, 2)).toBe(false);
    expect(isUp({ ...up, nodes: new Map([['m-1', false]]) }, 2)).toBe(false);
    expect(isUp({ ...up, acknowledged: 1 }, 2)).toBe(false);
    expect(sceneText(registered)).toBe(
      '0 of 2 pods running, 2 of 2 requests acknowledged, 0 of 1 machines Ready, 0 Nodes',
    );
  });

  test('is down only when nothing is left', () => {
    expect([EMPTY_SCENE, asked, registered, up].map(isDown)).toEqual([true, false, false, false]);
    expect(isDown({ ...EMPTY_SCENE, bound: 1 })).toBe(false);
    expect(isDown({ ...EMPTY_SCENE, nodes: new Map([['m-1', true]]) })).toBe(false);
  });

  test('ends with a summary that counts kinds and writes', () => {
    expect(summary(up, new Map([['create upcomingnodes', 1]]))).toEqual([
      '2 pods that fitted nowhere made 2 CapacityRequests',
      '1 machines came for them: 1 × standard-8',
      '2 pods ran on 1 Nodes',
      'the Deployment was scaled to 0, and every machine went back',
      'writes of the operator: 1 × create upcomingnodes',
    ]);
  });
});
