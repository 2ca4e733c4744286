/** The steps of test suites, and the times of their files. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fileTimes, slowest } from '../../../tools/suites/file-times.ts';
import { type SuiteChoice, suiteSteps } from '../../../tools/suites/suite-steps.ts';
import { RELEASE_ONLY, SIMULATED_AS_WELL } from '../../../tools/suites/release-only.ts';
import { SCENARIOS } from '../../simulation/scenarios/catalogue.ts';

const ALL: SuiteChoice = { fast: false, full: false, changed: undefined };

const projectsOf = (choice: SuiteChoice, runtime: 'node' | 'deno'): readonly string[] =>
  suiteSteps(choice)
    .filter((step) => step.runtime === runtime)
    .flatMap(({ args }) => args.filter((arg) => arg.startsWith('--project=')));

describe('suites', () => {
  it('begins with the check', () => {
    for (const choice of [ALL, { ...ALL, full: true }]) {
      expect(suiteSteps(choice)[0]?.args).toEqual(['tools/check.ts']);
    }
    const [fast] = suiteSteps({ ...ALL, fast: true });
    expect(fast?.args).toEqual(['tools/check.ts', '--fast']);
  });

  it('runs every project on Node', () => {
    expect(projectsOf(ALL, 'node')).toEqual([
      '--project=tidy',
      '--project=pure',
      '--project=clusters',
    ]);
  });

  it('tries tests on mutants and planted bugs: on those that changed, and on all for a release', () => {
    const args = (choice: SuiteChoice) => suiteSteps(choice).map((step) => step.args);
    expect(args(ALL)).toContainEqual(['tools/models.ts', '--mutants=changed']);
    expect(args(ALL)).toContainEqual(['test/mutants/main.ts', '--changed']);
    const release = args({ ...ALL, full: true });
    expect(release).toContainEqual(['tools/models.ts', '--mutants']);
    expect(release).toContainEqual(['test/mutants/main.ts']);
    const simulated = ['test/simulation/main.ts', '--planted'];
    expect(release).toContainEqual(simulated);
    expect(args(ALL)).not.toContainEqual(simulated);
  });

  it('plays what needs few processes beside the suites that need all cores, and nothing else', () => {
    const steps = suiteSteps(ALL);
    const alone = steps.filter(({ isBeside }) => isBeside !== true).map(({ title }) => title);
    expect(alone).toEqual(['pure', 'mutants', 'on clusters']);
    const titles = steps.map(({ title }) => title);
    expect(titles.slice(0, titles.indexOf('pure')))
      .toEqual(['check', 'programs of the test bed', 'on Deno']);
    const fast = suiteSteps({ ...ALL, fast: true }).map(({ title }) => title);
    expect(fast).not.toContain('audit');
  });

  it('builds the programs of the test bed before anything uses them', () => {
    const steps = suiteSteps({ ...ALL, full: true });
    const clusters = steps.filter(({ args }) =>
      args.some((arg) => /=clusters|=models-k/.test(arg))
    );
    expect(clusters.map(({ after }) => after))
      .toEqual(['programs of the test bed', 'programs of the test bed']);
  });

  it('starts no process, no cluster and no simulation when it is to be fast', () => {
    const projects = projectsOf({ ...ALL, fast: true }, 'node');
    const slow = /processes|clusters|integration|e2e|models-|simulation/;
    expect(projects.filter((one) => slow.test(one))).toEqual([]);
  });

  it('takes the scale of a release for everything but the check', () => {
    const steps = suiteSteps({ ...ALL, full: true }).slice(1);
    expect(new Set(steps.map(({ env }) => env['TIDEGATE_TEST_SCALE'])))
      .toEqual(new Set(['release']));
  });

  it('drives every path on a cluster, and the crowds, before a release', () => {
    expect(projectsOf({ ...ALL, full: true }, 'node')).toEqual(
      expect.arrayContaining([
        '--project=models-embedded',
        '--project=models-kube-apiserver-shortest',
        '--project=e2e-crowds',
      ]),
    );
    expect(suiteSteps({ ...ALL, full: true }).map(({ title }) => title)).toContain('attacks');
  });

  it('hands the revision of a change to vitest', () => {
    const args = suiteSteps({ ...ALL, changed: 'main' }).flatMap((step) => step.args);
    expect(args).toContain('--changed=main');
  });
});

describe('tests on clusters that run before a release only', () => {
  it('are there', () => {
    const root = new URL('../../../', import.meta.url);
    expect(RELEASE_ONLY.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
  });

  it('each have a test per scenario, and scenarios that every run plays', async () => {
    const onEachRun = SCENARIOS.filter(({ crowd }) => crowd !== true).map(({ name }) => name);
    for (const [file, scenarios] of Object.entries(SIMULATED_AS_WELL)) {
      const text = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8');
      expect([file, text.match(/^ {2}it\(/gm)?.length]).toEqual([file, scenarios.length]);
      expect(onEachRun).toEqual(expect.arrayContaining([...scenarios]));
    }
  });
});

/** The files with tests of each rule, by rule. */
const filesOfRules = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const page = new URL('../../../docs/reference/rule-tests.md', import.meta.url);
  const chapters = (await readFile(page, 'utf8')).split(/^### /m).slice(1);
  return new Map(chapters.map((chapter) => [
    chapter.slice(0, chapter.indexOf('\n')),
    [...chapter.matchAll(/\]\(\.\.\/\.\.\/([^)]+)\)/g)].map(([, file = '']) => file),
  ]));
};

it('each rule has a test in every run', async () => {
  const rules = await filesOfRules();
  expect(rules.size).toBeGreaterThan(200);
  const untested = [...rules].filter(([, files]) =>
    files.every((file) => RELEASE_ONLY.includes(file))
  );
  expect(untested.map(([rule]) => rule)).toEqual([]);
});

describe('times of files', () => {
  const report = {
    testResults: [
      { name: '/project/test/a.test.ts', startTime: 1000, endTime: 1500 },
      { name: '/project/test/b.test.ts', startTime: 1000, endTime: 4000 },
    ],
  };

  it('are what vitest reports, slowest first', () => {
    expect(slowest(fileTimes(report, '/project/'), 1)).toEqual([
      { file: 'test/b.test.ts', ms: 3000 },
    ]);
  });
});
