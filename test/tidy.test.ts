/**
 * The rules of design and style, executed.
 *
 * Each rule is tried twice: on the project, and on a planted file that breaks it. A message names
 * the file, the line, and the remedy.
 */
import { basename } from 'node:path';
import { type AnyStateMachine, createMachine } from 'xstate';
import { describe, expect, test } from 'vitest';
import { fleetMachine } from '../packages/stand-in-fleet/src/machine.ts';
import { MACHINES } from '../src/machines/index.ts';
import { chartOf } from '../src/view/chart/chart.ts';
import { machineJson } from '../src/view/chart/chart-config.ts';
import { chartDrift } from '../tools/chart-drift.ts';
import { patched, plantedBugs, simulatedPatches } from './mutants/planted-bugs.ts';
import { brokenBy, invariantNames } from './simulation/planted-bugs.ts';
import { blanked } from './tidy/blanking.ts';
import { CITATION_RULES } from './tidy/citations.ts';
import { brokenLinks, pages } from './tidy/links.ts';
import {
  looseVersions,
  manifests,
  missingDependencies,
  productionInstall,
  unusedDependencies,
} from './tidy/manifests.ts';
import { MATCHER_RULES } from './tidy/matchers.ts';
import { ROOM_RULES } from './tidy/rooms.ts';
import { SHAPE_RULES } from './tidy/shape.ts';
import { projectFiles, sourceFile, violationText } from './tidy/source-file.ts';
import { chartProblems, chartProblemText } from './tidy/statecharts.ts';
import { WORD_RULES } from './tidy/words.ts';

const RULES = [
  ...ROOM_RULES,
  ...WORD_RULES,
  ...SHAPE_RULES,
  ...CITATION_RULES,
  ...MATCHER_RULES,
];
const files = projectFiles();

describe('tidy', () => {
  test('the project has files to look at', () => {
    expect(files.length).toBeGreaterThan(50);
  });

  test.each(RULES)('$title', ({ check }) => {
    expect(files.flatMap(check).map(violationText)).toEqual([]);
  });

  test.each(RULES)('a planted file is caught: $title', ({ check, planted }) => {
    const caught = check(sourceFile(planted.path, planted.text)).map(violationText);
    expect(caught.length).toBeGreaterThan(0);
    expect(caught[0]).toMatch(/^(?:src|packages|test|tools)\/\S+:\d+: .+\. \S.+$/);
  });

  test('a rule about code does not trip over words in comments and literals', () => {
    const text = "/** Date.now( */\nexport const a = 'Date.now('; // setTimeout(\n" +
      'export const b = `Math.random( ${c.map((d) => `console.${d}`)} process.env`;\n' +
      'export const e = /Date.now\\(["\'`/]/.test(f);\n';
    const caught = WORD_RULES.flatMap(({ check }) => check(sourceFile('src/domain/x.ts', text)));
    expect(caught).toEqual([]);
  });

  test('a regular expression that a matcher reads is no value', () => {
    const text = '/** X. */\nexpect(a).toMatchObject({ b: expect.stringMatching(/c/) });\n';
    const caught = MATCHER_RULES.flatMap(({ check }) => check(sourceFile('test/x.test.ts', text)));
    expect(caught).toEqual([]);
  });

  test('functions count whole, whatever their bodies and types look like', () => {
    const body = '  step();\n'.repeat(90);
    const rule = SHAPE_RULES.find(({ title }) => title.endsWith('the functions inside of them'));
    const long = [
      `const a = (): Wide<A, B> => run(() => {\n${body}});\n`,
      `const a = (one: One): { readonly two: Two } => {\n${body}};\n`,
      `const a = (one: One) => (two: Two) => ({\n${'  x: 1,\n'.repeat(90)}});\n`,
      `class A {\n  run(): void {\n${body}  }\n}\n`,
    ];
    const caught = long.map((text) => rule?.check(sourceFile('src/domain/x.ts', text)).length ?? 0);
    expect(caught.map((count) => count > 0)).toEqual(long.map(() => true));
    const short = `type A = (a: B) => void;\n${body}const b = (): void => {};\n${body}`;
    expect(rule?.check(sourceFile('src/domain/x.ts', short))).toEqual([]);
  });

  test('blanking keeps every line where it was', () => {
    for (const { text, path } of files) {
      const { code, comments } = blanked(text);
      expect([path, code.length, comments.length]).toEqual([path, text.length, text.length]);
    }
  });
});

describe('tidy statecharts', () => {
  test('every statechart of the catalogue describes its states and names its invokes', () => {
    expect(chartProblems(MACHINES).map(chartProblemText)).toEqual([]);
  });

  test("the machine of the stand-in fleet is drawn as well as the operator's", () => {
    expect(chartProblems({ [fleetMachine.id]: fleetMachine }).map(chartProblemText)).toEqual([]);
  });

  test('every file in src/machines that has a statechart is in the catalogue', () => {
    const drawn = files.filter(({ path, code }) =>
      path.startsWith('src/machines/') && /\bcreateMachine\(/.test(code)
    );
    const catalogue = files.find(({ path }) => path === 'src/machines/index.ts');
    const listed = catalogue?.imports.map(({ from }) => from.replace('./', 'src/machines/'));
    expect(drawn.map(({ path }) => path).filter((path) => !listed?.includes(path))).toEqual([]);
  });

  test('a planted statechart is caught for each of its faults', () => {
    const planted = createMachine({
      id: 'other',
      initial: 'Waiting',
      states: {
        Waiting: {
          on: { START: 'done', 'gate.open': 'done' },
          after: { 1000: 'done' },
          invoke: { src: 'fetchAll' },
        },
        done: { description: 'It is done.', meta: { reason: 'NobodyKnows' } },
      },
    });
    expect(chartProblems({ planted }).map(({ problem }) => problem)).toEqual([
      'its id is "other"',
      'it has no description',
      'its name is not camelCase',
      'event "START" is no "subject.verb"',
      'event "gate.open" orders',
      'invoke "fetchAll" has id "0.other.Waiting"',
      'delay 1000 is a literal',
      'its reason "NobodyKnows" is not registered',
    ]);
  });
});

describe('a lifecycle that breaks a rule fails with a sentence that names it', () => {
  const sentences = (machine: AnyStateMachine): readonly string[] =>
    chartProblems({ [machine.id]: machine }).map(chartProblemText);

  test('a state without description', () => {
    const gate = createMachine({ id: 'gate', initial: 'shut', states: { shut: {} } });
    expect(sentences(gate)).toEqual([
      'gate, state shut: it has no description. Say what is true in it',
    ]);
  });

  test('a state that waits without a reason', () => {
    const description = 'Waits for somebody to open.';
    const shut = { description, tags: 'waiting' };
    const gate = createMachine({ id: 'gate', initial: 'shut', states: { shut } });
    expect(sentences(gate)).toEqual([
      'gate, state shut: it waits and has no reason. ' +
      'Say why in meta: { reason }, of src/api/reasons.ts',
    ]);
    const explained = { ...shut, meta: { reason: 'DrainPaused' } };
    expect(sentences(createMachine({ id: 'gate', initial: 'shut', states: { shut: explained } })))
      .toEqual([]);
  });

  test('a guard without a name', () => {
    const gate = createMachine({
      id: 'gate',
      initial: 'shut',
      states: {
        shut: {
          description: 'Closed.',
          on: { 'key.turned': { guard: () => true, target: 'shut' } },
        },
      },
    });
    expect(sentences(gate)).toEqual([
      'gate, state shut: a guard on "key.turned" has no name. ' +
      'Name it in setup({ guards }): it stands in the diagram',
    ]);
  });

  test('a state that was added and is not in the committed chart', () => {
    const shut = { description: 'Closed.' };
    const before = createMachine({ id: 'gate', initial: 'shut', states: { shut } });
    const after = createMachine({
      id: 'gate',
      initial: 'shut',
      states: { shut, ajar: { description: 'Nearly closed.' } },
    });
    const committed = JSON.stringify(machineJson(chartOf(before)));
    expect(chartDrift(chartOf(before), committed)).toBeUndefined();
    expect(chartDrift(chartOf(after), committed)).toBe(
      'The committed chart of gate is not current:\n  + state ajar',
    );
    expect(chartDrift(chartOf(after), undefined)).toBe(
      'The chart of gate is not committed',
    );
  });
});

describe('tidy documentation', () => {
  test('every link leads to a page and a heading that exist', () => {
    expect(pages().flatMap(brokenLinks).map(violationText)).toEqual([]);
  });

  test('a planted link that leads nowhere is caught', () => {
    const text = '# Page\n[a](none.md) [b](#page) [c](#nowhere) [d](../README.md#nowhere)\n';
    const caught = brokenLinks({ path: 'docs/planted.md', text }).map(({ problem }) => problem);
    expect(caught).toEqual([
      'A link leads nowhere: "docs/none.md" does not exist',
      'A link leads nowhere: "docs/planted.md" has no heading "nowhere"',
      'A link leads nowhere: "README.md" has no heading "nowhere"',
    ]);
  });
});

describe('tidy planted bugs', () => {
  const bugs = plantedBugs().map((bug) => [bug.name, bug] as const);

  test.each(bugs)('%s names a test that exists', (_, { testFile, testTitle }) => {
    expect(files.find(({ path }) => path === testFile)?.text).toContain(testTitle);
  });

  test.each(simulatedPatches().map((patch) => [basename(patch), patch]))(
    '%s can be planted in a simulation',
    (_, patch) => {
      expect(patched(patch).size).toBeGreaterThan(0);
    },
  );

  test('every invariant of simulations is named by a planted bug, and no bug names another', () => {
    const broken = new Set(simulatedPatches().map((patch) => brokenBy(basename(patch, '.patch'))));
    expect([...invariantNames()].toSorted()).toEqual([...broken].toSorted());
  });
});

describe('tidy packages', () => {
  const all = manifests().map((manifest) => [manifest.folder || 'the operator', manifest] as const);

  test.each(all)('%s pins every dependency to one version', (_, manifest) => {
    expect(looseVersions(manifest)).toEqual([]);
  });

  test.each(all)('%s uses only what an installation for production has', (_, manifest) => {
    expect(missingDependencies(manifest, files)).toEqual([]);
  });

  test.each(all)('%s has no dependency that it does not use', (_, manifest) => {
    expect(unusedDependencies(manifest, files)).toEqual([]);
  });

  test('an operator is installed without what only other packages, tools and drawing need', () => {
    const held = [...productionInstall()];
    const unwanted = /^(?:ajv|@marcbachmann\/cel-js|elkjs|vite|vitest|preact)$|redis/;
    expect(held.filter((name) => unwanted.test(name))).toEqual([]);
    expect(held.filter((name) => name.startsWith('@tidegate/')).toSorted())
      .toEqual(['@tidegate/go-template', '@tidegate/interceptor']);
  });
});
