/** What the demo tells of a changing cluster. */
import { describe, expect, test } from 'vitest';
import {
  emptyScene,
  isFinished,
  type MachineSeen,
  missing,
  type Scene,
  summary,
  tellChanges,
} from '../../../tools/demo/story.ts';
import { requestManifests, REQUESTS_TOTAL } from '../../../tools/demo/requests.ts';

const machine = (phase: MachineSeen['phase'], nodeName = ''): ReadonlyMap<string, MachineSeen> =>
  new Map([['un-m-1', { name: 'un-m-1', phase, nodeName, kind: 'standard-8', zone: 'zone-a' }]]);

const told = (before: Scene, now: Scene): readonly string[] =>
  tellChanges(before, now).map(({ who, what }) => `${who}: ${what}`);

describe('the story of the demo', () => {
  const start = emptyScene(2);
  const registered: Scene = {
    ...start,
    acknowledged: 2,
    bound: 1,
    machines: machine('Registered'),
  };
  const ready: Scene = {
    ...registered,
    machines: machine('Ready', 'm-1'),
    nodes: new Map([['m-1', true]]),
  };

  test('tells each change once, causes before what follows from them', () => {
    expect(told(start, registered)).toEqual([
      'requests: 2 of 2 acknowledged',
      'machine: un-m-1  Registered  (standard-8, zone-a)',
    ]);
    expect(told(registered, ready)).toEqual([
      'machine: un-m-1  Registered → Ready  (standard-8, zone-a)',
      'node: m-1  joined, ready',
      'machine: un-m-1  is Node m-1',
    ]);
    expect(told(ready, ready)).toEqual([]);
  });

  test('is finished only when each machine is Ready with a ready Node', () => {
    expect([start, registered, ready].map(isFinished)).toEqual([false, false, true]);
    expect(isFinished({ ...ready, bound: 2 })).toBe(false);
    expect(isFinished({ ...ready, nodes: new Map([['m-1', false]]) })).toBe(false);
    expect(missing(registered)).toBe(
      '2 of 2 requests acknowledged, 0 of 1 machines Ready, 0 with a ready Node',
    );
  });

  test('ends with a summary that counts kinds and writes', () => {
    expect(summary(ready, new Map([['create upcomingnodes', 1]]))).toEqual([
      '2 of 2 CapacityRequests acknowledged by the shard',
      '1 UpcomingNodes Ready: 1 × standard-8',
      '1 Nodes joined, each linked from its UpcomingNode',
      'writes of the operator: 1 × create upcomingnodes',
    ]);
  });

  test('asks for capacity fifty times', () => {
    expect(REQUESTS_TOTAL).toBe(50);
    expect(JSON.parse(requestManifests()).items).toHaveLength(50);
  });
});
