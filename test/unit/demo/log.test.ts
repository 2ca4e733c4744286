/** A demo in few lines: numbers at rest, machines that change together, what a drain waits for. */
import { expect, test } from 'vitest';
import type { DemoMachine, DemoScene } from '../../../src/view/demo-scene.ts';
import { makeDemoLog } from '../../../src/view/demo-log.ts';
import { demoPicture } from '../../../src/view/demo-text.ts';

const EMPTY: DemoScene = {
  machines: [],
  pods: { running: 0, all: 0 },
  requests: { acknowledged: 0, all: 0 },
  budgets: [],
  evictions: [],
  timeline: [],
};
const pods = (running: number, all: number): Partial<DemoScene> => ({ pods: { running, all } });
const machine = (name: string, phase: string): DemoMachine => ({
  name,
  phase,
  node: name,
  pods: 0,
  drain: undefined,
});

/** Shows scenes 100 ms apart; `times` repeats one. */
const viewed = () => {
  const log = makeDemoLog();
  let nowMs = 0;
  return {
    see: (scene: Partial<DemoScene>, times = 1) =>
      Array.from({ length: times }).flatMap(() => {
        nowMs += 100;
        return log.linesAt({ ...EMPTY, ...scene }, nowMs);
      }).map(({ who, what }) => `${who}: ${what}`),
    settle: (scene: Partial<DemoScene>) =>
      log.settledLines({ ...EMPTY, ...scene }, nowMs).map(({ who, what }) => `${who}: ${what}`),
  };
};

test('a number is one line when it stands still, not one for each step', () => {
  const { see } = viewed();
  expect(see({}, 20)).toEqual([]);
  const rising = [0, 3, 5, 9].flatMap((running) => see(pods(running, 12)));
  expect(rising).toEqual([]);
  expect(see(pods(12, 12), 20)).toEqual(['pods: 12 of 12 running']);
});

test('the end of a step prints what has not stood still yet', () => {
  const { see, settle } = viewed();
  see(pods(12, 12));
  expect(settle(pods(12, 12))).toEqual(['pods: 12 of 12 running']);
  expect(see(pods(12, 12), 20)).toEqual([]);
});

test('machines that change together share a line', () => {
  const { see } = viewed();
  const ready = { machines: [machine('m-1', 'Ready'), machine('m-2', 'Ready')] };
  expect(see(ready, 10)).toEqual(['2 machines: Ready: m-1, m-2']);
  expect(see({ machines: [machine('m-2', 'Ready')] }, 10)).toEqual(['m-1: returned to the fleet']);
});

test('an Event is printed at once and once, unless it repeats a phase', () => {
  const { see } = viewed();
  const about = { about: 'Node n1', note: 'words' };
  const timeline = [
    { id: '1', reason: 'DrainStarted', ...about },
    { id: '2', reason: 'NodeReady', ...about },
  ];
  expect(see({ timeline }, 20)).toEqual(['DrainStarted: Node n1: words']);
});

test('while a drain goes on, pods that come and go are not printed', () => {
  const { see, settle } = viewed();
  see(pods(10, 10), 10);
  const draining = { machines: [machine('m-1', 'Draining')] };
  expect(see({ ...draining, ...pods(9, 11) }, 20)).toEqual([]);
  expect(settle({ ...draining, ...pods(10, 10) })).toEqual([]);
});

test('a picture has a bar for what is done', () => {
  const frame = { title: 'T', elapsed: '1 s', printedLines: [], columns: 80, rows: 24 };
  const picture = demoPicture({ ...EMPTY, ...pods(6, 12) }, frame);
  const line = picture.find((one) => one.startsWith('pods'));
  expect(line).toBe(`pods      ${'█'.repeat(12)}${'░'.repeat(12)}  6 of 12 running`);
});
