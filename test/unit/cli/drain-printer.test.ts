/** Changing drains, on a terminal and in a pipe. */
import { describe, expect, test } from 'vitest';
import { drainPrinter } from '../../../src/cli/drain/drain-printer.ts';
import type { StatusFormat } from '../../../src/cli/drain/drain-request.ts';
import type { DrainStatus } from '../../../src/view/drain-status.ts';
import { drainStatus } from '../../../src/view/drain-status.ts';
import { podOf } from '../../support/drains/drain-facts.ts';
import { SCENE_NOW_MS, sceneOfNode } from '../../support/drains/drain-scene.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const drain = (name: string, pods: number, laterMs = 0): DrainStatus =>
  drainStatus(sceneOfNode({
    node: { name },
    pods: Array.from({ length: pods }, (_, at) => podOf({ name: `p${at}`, node: name })),
    nowMs: SCENE_NOW_MS + laterMs,
  }));

const SECOND = `${new Date(SCENE_NOW_MS).toISOString().slice(0, 19)}Z`;

const printing = (format: StatusFormat, interactive: boolean) => {
  const printed: string[] = [];
  const print = drainPrinter({
    print: (text) => void printed.push(text),
    report: (line) => void printed.push(`${line}\n`),
    ...PLAIN_TERMINAL,
    colors: interactive,
    interactive,
  }, format);
  return {
    show: (drains: readonly DrainStatus[], unlisted?: (node: string) => DrainStatus) =>
      print.show(drains, SCENE_NOW_MS, unlisted),
    report: print.report,
    close: print.close,
    text: () => printed.splice(0).join(''),
  };
};

describe('in a pipe', () => {
  test('every drain is one line, below one heading line', () => {
    const { show, text } = printing('table', false);
    show([drain('n1', 2), drain('n2', 1)]);
    const lines = text().trimEnd().split('\n').map((line) => line.split(/ {2,}/)[0]);
    expect(lines).toEqual(['TIME', SECOND, SECOND]);
  });

  test('only changes are printed again, without headings', () => {
    const { show, text } = printing('table', false);
    show([drain('n1', 2), drain('n2', 1)]);
    text();
    show([drain('n1', 1), drain('n2', 1)]);
    expect(text()).toMatch(/^\S+Z {3}n1 .* 1\/0\/0 .*\n$/);
  });

  test('remaining time alone is no change', () => {
    const { show, text } = printing('json', false);
    show([drain('n1', 2)]);
    text();
    show([drain('n1', 2, 1000)]);
    expect(text()).toBe('');
  });

  test('the time that a pod has been terminating is no change alone', () => {
    const { show, text } = printing('json', false);
    const overdue = (laterMs: number): DrainStatus =>
      drainStatus(sceneOfNode({
        pods: [podOf({ deletion: '2026-03-01T11:58:00Z', deletionGraceSeconds: 30 })],
        nowMs: SCENE_NOW_MS + laterMs,
      }));
    show([overdue(0)]);
    expect(text()).toContain('terminating for');
    show([overdue(1000)]);
    expect(text()).toBe('');
  });

  test('a deleted node is printed once', () => {
    const { show, text } = printing('json', false);
    show([drain('n1', 2)]);
    text();
    show([]);
    expect(JSON.parse(text())).toMatchObject({
      at: SECOND,
      node: 'n1',
      state: 'Gone',
      secondsLeft: null,
      pods: { left: 2, leaving: 0, blocked: 0 },
      tiers: [],
      waits: [],
      verdict: { reason: 'NodeDeleted', sentence: 'The Node was deleted with 2 pods on it' },
    });
    show([]);
    expect(text()).toBe('');
  });

  test('a node that is no longer listed but exists is printed once, as it is now', () => {
    const { show, text } = printing('json', false);
    show([drain('n1', 2)]);
    text();
    const now = drainStatus(sceneOfNode({ node: { unschedulable: false, cordons: {} } }));
    show([], () => now);
    expect(JSON.parse(text())).toMatchObject({
      node: 'n1',
      state: 'Schedulable',
      owners: [],
      verdict: { reason: 'NotDraining' },
    });
    show([], () => now);
    expect(text()).toBe('');
  });

  test('JSON is one document a line, YAML one document each', () => {
    const json = printing('json', false);
    json.show([drain('n1', 1), drain('n2', 1)]);
    expect(json.text().trimEnd().split('\n').map((line) => JSON.parse(line).node))
      .toEqual(['n1', 'n2']);
    const yaml = printing('yaml', false);
    yaml.show([drain('n1', 1), drain('n2', 1)]);
    expect(yaml.text().match(/^---$/gm)).toHaveLength(2);
  });
});

describe('on a terminal', () => {
  test('the whole table is redrawn in place', () => {
    const { show, text } = printing('table', true);
    show([drain('n1', 2), drain('n2', 1)]);
    text();
    show([drain('n1', 1), drain('n2', 1)]);
    const drawn = text();
    expect(drawn.startsWith('\u001b[H')).toBe(true);
    expect(drawn).toContain(SECOND);
    expect(drawn).toContain('NODE');
    expect(drawn).toContain('\nn2');
  });

  // It was below the table, where a terminal with many drains has no room.
  test('the last message is below the heading, also with more drains than lines', () => {
    const { show, report, text } = printing('table', true);
    const drains = Array.from({ length: 60 }, (_, at) => drain(`n${at}`, 1));
    show(drains);
    report('Cannot list or watch a collection');
    show(drains);
    const lines = text().split('\r\n');
    const { rows } = PLAIN_TERMINAL.size();
    expect(lines.slice(-rows)[1]).toContain('Cannot list or watch a collection');
    expect(lines.at(-1)).toMatch(/^… and \d+ more lines/);
  });

  test('an empty table is a sentence', () => {
    const { show, text } = printing('table', true);
    show([]);
    expect(text()).toContain('No node is drained');
  });

  test('a problem before the first table is printed at once, and once', () => {
    const { show, report, close, text } = printing('table', true);
    report('Cannot list or watch a collection');
    expect(text()).toBe('Cannot list or watch a collection\n');
    show([drain('n1', 2)]);
    close();
    expect(text()).not.toContain('Cannot list');
  });

  test('the table has a screen of its own, and the last one stays with the messages', () => {
    const { show, report, close, text } = printing('table', true);
    show([drain('n1', 2)]);
    expect(text().startsWith('\u001b[?1049h')).toBe(true);
    report('Watch failed');
    expect(text()).toContain('Watch failed');
    show([drain('n1', 1)]);
    expect(text()).toContain('Watch failed');
    close();
    const left = text();
    const closing = '\u001b[?25h\u001b[?1049l';
    expect(left.startsWith(closing)).toBe(true);
    expect(left.slice(closing.length)).toMatch(/^NODE .*\nn1 .*\nWatch failed\n$/);
  });
});
