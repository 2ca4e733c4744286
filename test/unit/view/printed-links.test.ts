/** Every link that the program prints leads to a page and a heading that exist. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { type Reason, REASONS } from '../../../src/api/reasons.ts';
import { HOMEPAGE, pageUrl, runbookUrl } from '../../../src/domain/documentation.ts';
import { certificateFinding, diagnosisText, PAGES } from '../../../src/view/diagnosis.ts';
import { drainPlan } from '../../../src/view/drain-plan.ts';
import { drainPlanText } from '../../../src/view/drain-plan-text.ts';
import { explainNode } from '../../../src/view/explain-node.ts';
import { explanationText } from '../../../src/view/explanation-text.ts';
import { budgetOf, podOf } from '../../support/drains/drain-facts.ts';
import { SCENE_NOW_MS, sceneOfNode } from '../../support/drains/drain-scene.ts';
import { brokenLinks } from '../../tidy/links.ts';
import { PROJECT } from '../../tidy/source-file.ts';

/** The problems of a printed link, read as one of the repository's root. */
const problemsOf = (url: string) => {
  expect(url.startsWith(`${HOMEPAGE}/`)).toBe(true);
  return brokenLinks({ path: 'printed.md', text: `[x](${url.slice(HOMEPAGE.length + 1)})` });
};

test('links begin at the homepage of the package, and a fork learns how to change it', () => {
  expect(manifest.homepage).toBe(HOMEPAGE);
  expect(new URL(HOMEPAGE).protocol).toBe('https:');
  expect(readFileSync(`${PROJECT}CONTRIBUTING.md`, 'utf8')).toContain('`homepage`');
});

const RUNBOOKS = Object.entries<Reason>(REASONS)
  .flatMap(([name, { runbook }]) => runbook === undefined ? [] : [[name, runbook] as const]);

test.each(RUNBOOKS)('the runbook of %s exists', (_, runbook) => {
  expect(problemsOf(runbookUrl(runbook))).toEqual([]);
});

test.each(Object.entries(PAGES))('the page of doctor about "%s" exists', (_, page) => {
  expect(problemsOf(pageUrl(page))).toEqual([]);
});

test('a link to a heading that does not exist is found', () => {
  expect(problemsOf(runbookUrl('no-such-runbook'))).toHaveLength(1);
  expect(runbookUrl('')).toBe('');
});

describe('a printed link', () => {
  const facts = sceneOfNode({
    pods: [podOf()],
    budgets: [budgetOf({
      spec: { minAvailable: undefined, maxUnavailable: 0 },
      status: { currentHealthy: 4, desiredHealthy: 4 },
    })],
  });
  const url = runbookUrl('budget-never-allows');

  test('of explain has a line of its own, so that the command before it can be pasted', () => {
    const lines = explanationText(explainNode(facts), {
      nowMs: SCENE_NOW_MS,
      colors: false,
      columns: 80,
    }).split('\n').map((line) => line.trim());
    expect(lines).toContain(`Runbook    ${url}`);
    const commands = lines.filter((line) => line.startsWith('kubectl '));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect(command).not.toContain('runbook');
    expect(explainNode(facts).runbook).toBe(url);
  });

  test('of a plan follows the change', () => {
    const plan = drainPlan(facts, {
      graceSeconds: 480,
      answers: undefined,
      interceptors: new Map(),
    });
    expect(drainPlanText(plan)).toContain(`Runbook: ${url}`);
  });

  test('of doctor follows the remedy: a certificate problem leads to the page about mTLS', () => {
    const found = certificateFinding({ file: 'tls.crt', identity: 'x', expiresMs: 1 }, 0);
    const text = diagnosisText([found], { columns: 80, colors: false });
    expect(text).toContain(`\n           ${pageUrl('docs/tasks/mtls.md')}#5-rotate\n`);
  });
});

const sections = readFileSync(`${PROJECT}docs/runbooks.md`, 'utf8').split(/^## /m).slice(1)
  .map((text) => [text.split('\n')[0] ?? '', text] as const);

test.each(sections)('the runbook "%s" has symptom, meaning, commands and what to do', (_, text) => {
  const parts = ['**Symptom.**', '**Means.**', '**See.**', '```sh', '**Do.**'];
  expect(parts.filter((part) => !text.includes(part))).toEqual([]);
});
