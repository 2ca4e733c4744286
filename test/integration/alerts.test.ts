/** The alerts, evaluated by Prometheus' own engine on series on which they fire and do not fire. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../tools/testbed/commands.ts';
import { promtool } from '../../tools/testbed/observability.ts';
import { describeWithReceivers } from '../support/api/testbed.ts';

const BUILD_TIMEOUT_MS = 15 * 60 * 1000;
const RULES = fileURLToPath(new URL('../../docs/tasks/alerts.yaml', import.meta.url));
const TESTS = fileURLToPath(new URL('alerts/rules.test.yaml', import.meta.url));

describeWithReceivers('alerts', () => {
  let program = '';
  beforeAll(async () => {
    program = await promtool();
  }, BUILD_TIMEOUT_MS);

  test('are rules that Prometheus can load', async () => {
    const { code, stdout, stderr } = await runCommand(program, ['check', 'rules', RULES]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('SUCCESS');
  });

  test('fire on what a person must act on, with summary and runbook, and on nothing else', async () => {
    const { code, stdout, stderr } = await runCommand(program, ['test', 'rules', TESTS]);
    expect({ code, problem: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, problem: '' });
  });

  test('that are changed fail their tests', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-alerts-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const changed = (await readFile(RULES, 'utf8'))
      .replace('tidegate_drains_in_last_quarter) > 0', 'tidegate_drains_in_last_quarter) > 5');
    await writeFile(join(folder, 'alerts.yaml'), changed);
    const tests = (await readFile(TESTS, 'utf8'))
      .replace('../../../docs/tasks/alerts.yaml', 'alerts.yaml');
    await writeFile(join(folder, 'rules.test.yaml'), tests);
    const { code, stdout, stderr } = await runCommand(program, [
      'test',
      'rules',
      join(folder, 'rules.test.yaml'),
    ]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('TidegateDrainLate');
  });
});
