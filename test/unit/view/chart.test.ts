/** Charts of lifecycles: their content, without losses. */
import { describe, expect, test } from 'vitest';
import { assign, createMachine, setup } from 'xstate';
import { fleetMachine } from '../../../packages/stand-in-fleet/src/machine.ts';
import { MACHINES } from '../../../src/machines/index.ts';
import { type Chart, chartOf, statesOf, transitionText } from '../../../src/view/chart/chart.ts';
import { machineJson } from '../../../src/view/chart/chart-config.ts';
import { arrowMark, chartDiff, chartDiffText } from '../../../src/view/chart/chart-diff.ts';
import { chartFromJson } from '../../../src/view/chart/chart-file.ts';
import {
  type Box,
  type PlacedChart,
  placedChart,
  type PlacedState,
} from '../../../src/view/chart/chart-layout.ts';
import { chartMermaid } from '../../../src/view/chart/chart-mermaid.ts';
import { chartPictures, PAGE_PX, TEXT_PX } from '../../../src/view/chart/chart-pictures.ts';
import { arrowsOf, lineText, lineWidth, rowsOf } from '../../../src/view/chart/chart-rows.ts';
import { chartSvg } from '../../../src/view/chart/chart-svg.ts';
import { textWidth, wrapped } from '../../../src/view/chart/text-width.ts';

const DRAWN = Object.entries({ ...MACHINES, fleetMachine });

/** The pictures of each machine: placing them takes the most of this file's time. */
const drawn = new Map<string, ReturnType<typeof chartPictures>>();

const picturesOf = (name: string, chart: Chart): ReturnType<typeof chartPictures> => {
  const pictures = drawn.get(name) ?? chartPictures(chart);
  drawn.set(name, pictures);
  return pictures;
};

const gate = setup({
  types: { context: {} as { opened: number }, events: {} as { type: 'key.turned' } },
  guards: { oiled: ({ context }, times: number) => context.opened < times },
  delays: { creak: 10 },
}).createMachine({
  id: 'door',
  description: 'A <door> & its "lock".',
  context: { opened: 0 },
  initial: 'shut',
  states: {
    shut: {
      description: 'The door is shut.',
      meta: { reason: 'DrainPaused' },
      on: {
        'key.turned': [
          { guard: { type: 'oiled', params: 3 }, target: 'open', actions: assign({ opened: 1 }) },
          { target: 'stuck' },
        ],
      },
    },
    open: {
      description: 'Everybody comes in.',
      after: { creak: { target: 'open', reenter: true } },
      on: { 'key.turned': 'shut' },
    },
    stuck: { description: 'The door is stuck.', type: 'final' },
  },
});

describe('a chart', () => {
  test('has causes, guards, actions and the last candidate', () => {
    expect(chartOf(gate).transitions.map(transitionText)).toEqual([
      'key.turned [oiled 3]',
      'key.turned [else]',
      'key.turned',
      'after creak',
    ]);
  });

  test.each(DRAWN)('of %s round-trips through its JSON', (_, machine) => {
    const chart = chartOf(machine);
    const text = JSON.stringify(machineJson(chart));
    expect(JSON.parse(JSON.stringify(chartFromJson(text)))).toEqual(
      JSON.parse(JSON.stringify(chart)),
    );
  });

  test.each(DRAWN)('of %s has each transition in a box or on an arrow, once', (_, machine) => {
    const chart = chartOf(machine);
    const onArrows = new Set(arrowsOf(chart).flatMap(({ transitions }) => transitions));
    const starts = statesOf(chart.root).flatMap((state) =>
      rowsOf(chart, state).filter(({ style, pieces }) =>
        style === 'move' && pieces[0]?.text.trim() !== ''
      )
    );
    expect(onArrows.size + starts.length).toBe(chart.transitions.length);
  });

  test('names a state in its box with its reason and its content', () => {
    const chart = chartOf(gate);
    const [, shut, open] = statesOf(chart.root);
    const reported = (state: typeof shut) =>
      state === undefined ? [] : rowsOf(chart, state).map(({ pieces }) => lineText(pieces));
    expect(reported(shut)).toEqual(['shut', 'DrainPaused', 'The door is shut.']);
    expect(reported(open)).toEqual(['open', 'Everybody comes in.', 'after creak ↻']);
  });
});

const isInside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x && inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width && other.x < one.x + one.width &&
  one.y < other.y + other.height && other.y < one.y + one.height;

const parentOf = ({ path }: PlacedState): string =>
  path.slice(0, Math.max(path.lastIndexOf('.'), 0));

/** Boxes that overlap, or leave their parent state. */
const misplaced = ({ states }: PlacedChart): readonly string[] => {
  const inner = states.slice(1);
  const external = inner.filter((state) => {
    const outer = states.find(({ path }) => path === parentOf(state));
    return outer === undefined || !isInside(state, outer);
  });
  const over = inner.flatMap((one, at) =>
    inner.slice(at + 1)
      .filter((other) => parentOf(one) === parentOf(other) && overlap(one, other))
      .map((other) => `${one.path} over ${other.path}`)
  );
  return [...external.map(({ path }) => `${path} outside`), ...over];
};

describe('a placed chart', () => {
  test.each(DRAWN)('of %s has each state and text in its box, without overlaps', async (
    _,
    machine,
  ) => {
    const placed = await placedChart(chartOf(machine));
    expect(misplaced(placed)).toEqual([]);
    const spilt = placed.states.filter(({ rows, width }) =>
      rows.some(({ pieces, style }) => lineWidth(pieces, style) > width)
    );
    expect(spilt.map(({ path }) => path)).toEqual([]);
    const lost = placed.arrows.filter(({ points }) => points.length < 2);
    expect(lost.map(({ from, to }) => `${from} to ${to}`)).toEqual([]);
  });

  test('is deterministic', async () => {
    const chart = chartOf(MACHINES.fleetSession);
    expect(await placedChart(chart)).toEqual(await placedChart(chart));
  });

  test('leaves room for every text', () => {
    expect(textWidth('WWW', 10)).toBeGreaterThanOrEqual(30);
    expect(wrapped('one two three', 10, textWidth('one two', 10))).toEqual(['one two', 'three']);
    expect(wrapped('unbreakable', 10, 5)).toEqual(['unbreakable']);
  });
});

describe('the SVG of a chart', () => {
  test('names every state and every arrow for pages and screen readers', async () => {
    const chart = chartOf(MACHINES.nodeDrain);
    const svg = chartSvg(await placedChart(chart));
    const states = [...svg.matchAll(/data-state="([^"]*)"/g)].map(([, path]) => path);
    expect(new Set(states)).toEqual(new Set(statesOf(chart.root).map(({ path }) => path)));
    const arrows = [...svg.matchAll(/data-from="([^"]*)" data-to="([^"]*)"/g)]
      .map(([, from, to]) => `${from} ${to}`);
    for (const { from, to } of arrowsOf(chart)) expect(arrows).toContain(`${from} ${to}`);
    expect(svg).toContain('<title>');
    expect(svg).toContain('prefers-color-scheme:dark');
  });

  test('omits the style sheet when the page has it, for a strict content policy', async () => {
    const svg = chartSvg(await placedChart(chartOf(gate)), { isStyled: false });
    expect(svg).not.toContain('<style');
    expect(svg).not.toContain('style=');
  });

  test('has literal colours for programs without variables of CSS', async () => {
    const svg = chartSvg(await placedChart(chartOf(gate)));
    expect(svg).not.toMatch(/var\(|--[a-z]+:/);
    expect(svg).toMatch(/\.chart \.cause\{fill:#[0-9a-f]{6}\}/);
  });

  test('marks the states that are never left', async () => {
    const svg = chartSvg(await placedChart(chartOf(gate)));
    expect(svg.match(/class="end"/g)).toHaveLength(1);
    const ends = statesOf(chartOf(MACHINES.nodeDrain).root).filter(({ isEnd }) => isEnd);
    expect(ends.map(({ path }) => path)).toEqual([
      'bindings.complete',
      'work.drained',
      'work.failed',
      'work.cancelled',
      'work.alreadyEnded',
    ]);
  });

  test('escapes external text', async () => {
    const svg = chartSvg(await placedChart(chartOf(gate)));
    expect(svg).toContain('A &lt;door&gt; &amp; its &quot;lock&quot;.');
  });
});

describe('the pictures of a chart', () => {
  test.each(DRAWN)('of %s have legible text on a page', async (name, machine) => {
    const pictures = await picturesOf(name, chartOf(machine));
    for (const { path, placed } of pictures) {
      const scale = Math.min(1, PAGE_PX / placed.width);
      const svg = chartSvg(placed);
      const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
      expect([path, Math.min(...sizes) * scale >= TEXT_PX]).toEqual([path, true]);
      expect(misplaced(placed)).toEqual([]);
    }
  });

  test.each(DRAWN)('of %s have every state, and neither JSON nor assign', async (name, machine) => {
    const chart = chartOf(machine);
    const texts = (await picturesOf(name, chart)).map(({ placed }) => chartSvg(placed));
    const drawn = texts.flatMap((svg) =>
      [...svg.matchAll(/data-state="([^"]*)"/g)].map(([, path]) => path)
    );
    expect(new Set(drawn)).toEqual(new Set(statesOf(chart.root).map(({ path }) => path)));
    for (const svg of texts) {
      expect(svg).not.toMatch(/&quot;\w+&quot;:|class="action">[^<]*\bassign\b/);
    }
  });
});

test('the Mermaid diagram has every state and every transition with a target', () => {
  expect(chartMermaid(chartOf(gate))).toBe(`stateDiagram-v2
  state "<b>door</b><br/>A &lt;door> &amp; its 'lock'." as door {
    [*] --> door_shut
    state "<b>shut</b><br/>The door is shut.<br/>reason DrainPaused" as door_shut
    state "<b>open</b><br/>Everybody comes in." as door_open
    state "<b>stuck</b><br/>The door is stuck." as door_stuck
    door_stuck --> [*]
  }
  door_shut --> door_open : key.turned [oiled 3]
  door_shut --> door_stuck : key.turned [else]
  door_open --> door_shut : key.turned
  door_open --> door_open : after creak
`);
});

const planted = (states: Readonly<Record<string, object>>): Chart =>
  chartOf(createMachine({ id: 'lamp', initial: 'off', states }));

describe('the difference of two charts', () => {
  const before = planted({
    off: { on: { 'switch.pressed': 'on', 'bulb.broken': 'dark' } },
    on: { description: 'Bright.', on: { 'switch.pressed': 'off' } },
    dark: {},
  });
  const after = planted({
    off: { on: { 'switch.pressed': 'dim' } },
    on: { description: 'Very bright.', on: { 'switch.pressed': 'off' } },
    dim: { on: { 'switch.pressed': 'on' } },
  });
  const diff = chartDiff(before, after);

  test('lists what was added, removed and changed', () => {
    expect(diff === undefined ? '' : chartDiffText(diff)).toBe(`lamp
  ~ state on: description "Very bright.", was "Bright."
  + state dim
  - state dark
  ~ transition off: switch.pressed -> dim: target "dim", was "on"
  + transition dim: switch.pressed -> on
  - transition off: bulb.broken -> dark
`);
  });

  test('draws removed and current parts, with marks', async () => {
    if (diff === undefined) throw new Error('No difference');
    expect(statesOf(diff.union.root).map(({ path }) => path)).toEqual([
      '',
      'off',
      'on',
      'dim',
      'dark',
    ]);
    const marks = arrowsOf(diff.union).map(({ from, to, transitions }) =>
      `${from} ${to} ${arrowMark(diff, transitions)}`
    );
    expect(marks).toEqual([
      'off dim changed',
      'on off undefined',
      'dim on added',
      'off dark removed',
    ]);
    expect(misplaced(await placedChart(diff.union))).toEqual([]);
  });

  test('is empty between a chart and itself, and everything for a new machine', () => {
    expect(chartDiff(after, after)?.differences).toEqual([]);
    const added = chartDiff(undefined, after)?.differences ?? [];
    expect(new Set(added.map(({ mark }) => mark))).toEqual(new Set(['added']));
    expect(added).toHaveLength(1 + 3 + 3);
    expect(chartDiff(undefined, undefined)).toBeUndefined();
  });

  test('reports a changed order of candidates, because the first that matches is taken', () => {
    const candidates = [{ guard: 'a', target: 'on' }, { guard: 'b', target: 'off' }];
    const drawn = (always: object) => planted({ off: { always }, on: {} });
    const turned = chartDiff(drawn(candidates), drawn(candidates.toReversed()));
    expect(turned === undefined ? '' : chartDiffText(turned)).toBe(`lamp
  ~ transition off: [b] -> off: place "1", was "2"
  ~ transition off: [a] -> on: place "2", was "1"
`);
  });
});
