/** The commands about drains as their own processes against a real API server. */
import { spawn } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { printCordon } from '../../src/domain/drain/cordon.ts';
import { listOrEmptyAt, parseJson, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { evictionPolicy } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { tidegateCommand } from '../support/processes/program.ts';

const TIDEGATE = tidegateCommand();

/** A command under way. */
const started = (...given: readonly string[]) => {
  const child = spawn(TIDEGATE.file, [...TIDEGATE.args, ...given]);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output, ended };
};

const run = async (...given: readonly string[]) => {
  const { output, ended } = started(...given);
  return { code: await ended, ...output };
};

const MINUTE_MS = 60_000;

const annotation = () => {
  const sinceMs = realTime.now() - MINUTE_MS;
  const deadlineMs = sinceMs + 10 * MINUTE_MS;
  return printCordon({ ids: ['i-7'], deadlineMs, graceSeconds: 600, sinceMs, ended: null });
};

const pod = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: name.split('-')[0] }, ...more },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'example.com/c' }] },
});

const budget = (name: string, app: string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app } } },
});

const ADMISSION = 'admissionregistration.k8s.io/v1';
const GUARD = evictionPolicy('keep-guarded', 'guarded');
const POLICY = [
  { apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicy', ...GUARD.policy },
  { apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicyBinding', ...GUARD.binding },
];

const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', annotations: { 'cordon.tidegate.dev/reclaim': annotation() } },
    spec: { unschedulable: true },
  },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } },
  pod('db-0'),
  pod('twice-0'),
  pod('guarded-0'),
  pod('web-0'),
  budget('db', 'db'),
  budget('one', 'twice'),
  budget('two', 'twice'),
  ...POLICY,
];

const READY = JSON.stringify({
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});
const NO_SLOT = JSON.stringify({
  status: {
    observedGeneration: 1,
    disruptionsAllowed: 0,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
  },
});

describeWithTestbed(
  'the commands about drains on a real API server',
  {},
  (bed) => {
    const here = (): string => `--kubeconfig=${bed().kubeconfig}`;
    const items = (text: string): readonly unknown[] => listOrEmptyAt(parseJson(text), 'items');

    beforeAll(async () => {
      await bed().installCrds();
      const file = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: OBJECTS });
      // The service account of pods is made by a controller that this bed does not run.
      await bed().kubectl('create', 'serviceaccount', 'default').catch(() => '');
      await bed().apply(file);
      const patch = ['patch', '--subresource=status', '--type=merge'];
      for (const name of ['db-0', 'twice-0', 'guarded-0', 'web-0']) {
        await bed().kubectl(...patch, 'pod', name, '-p', READY);
      }
      for (const name of ['db', 'one', 'two']) {
        await bed().kubectl(...patch, 'poddisruptionbudget', name, '-p', NO_SLOT);
      }
    });

    test('DR-43: drain status computes a drain from the cluster alone', async () => {
      const { code, stdout, stderr } = await run('drain', 'status', here());
      expect([code, stderr]).toEqual([0, '']);
      const [heading, line, ...more] = stdout.trimEnd().split('\n');
      expect(heading).toMatch(/^NODE +STATE +OWNER +INSTRUCTION +SINCE +LEFT +PODS.* BLOCKER$/);
      expect(line).toMatch(/^n1 +Draining +reclaim +i-7 +\d+m\S* +\S+ +4\/0\/2 +BudgetNeverAllows/);
      expect(more).toEqual([]);
    });

    test('DR-43: drain status prints all of it for programs', async () => {
      const { stdout } = await run('drain', 'status', 'n1', 'n2', '-o', 'json', here());
      expect(items(stdout)).toMatchObject([
        {
          node: 'n1',
          pods: { left: 4, leaving: 0, blocked: 2 },
          blockers: [
            { reason: 'BudgetNeverAllows', pods: ['default/db-0'], canAct: 'application' },
            { reason: 'TwoBudgets', pods: ['default/twice-0'] },
          ],
        },
        { node: 'n2', state: 'Schedulable' },
      ]);
    });

    test('DR-43: drain plan names the same blockers, and with dry runs the policy as well', async () => {
      const ofPlan = ['drain', 'plan', 'n1', '-o', 'json'];
      const plain = parseJson((await run(...ofPlan, here())).stdout);
      expect(listOrEmptyAt(plain, 'blockers').map((blocker) => textAt(blocker, 'reason')))
        .toEqual(['BudgetNeverAllows', 'TwoBudgets']);
      const asked = await eventually(async () => {
        const { stdout, stderr } = await run(...ofPlan, '--dry-run=server', here());
        expect(stderr).toBe('');
        // A policy holds some time after it was made.
        return stdout.includes('PolicyRefused') ? parseJson(stdout) : undefined;
      }, { what: 'a plan that the policy is in' });
      expect(listOrEmptyAt(asked, 'blockers')).toMatchObject([
        { reason: 'BudgetNeverAllows', pods: ['default/db-0'] },
        { reason: 'PolicyRefused', pods: ['default/guarded-0'] },
        { reason: 'TwoBudgets', pods: ['default/twice-0'] },
      ]);
      const { stdout } = await run('drain', 'plan', 'n1', here());
      expect(stdout).toContain('Node n1: 4 pods must leave in 1 tier, 2 would be blocked');
    });

    test('DR-43: explain names who can act', async () => {
      const { code, stdout } = await run('explain', 'n1', here());
      expect(code).toBe(0);
      expect(stdout).toContain('Node n1: Draining');
      expect(stdout).toContain('The fleet reclaims this machine (instruction i-7)');
      expect(stdout).toContain('Can act    The owner of the application:');
    });

    test('DR-43: drain status --watch prints every change, and exits with 0', async () => {
      const { child, output, ended } = started('drain', 'status', '--watch', '-o', 'json', here());
      const untilPrinted = (text: string) =>
        eventually(() => output.stdout.trimEnd().split('\n').at(-1)?.includes(text) || undefined, {
          what: `a line with ${text}`,
        });
      await untilPrinted('"left":4,"leaving":0,');
      await bed().kubectl('delete', 'pod', 'web-0', '--grace-period=0', '--force');
      await untilPrinted('"left":3,');
      // The key of the owner is released: the Node is no longer listed, and exists.
      const key = 'cordon.tidegate.dev/reclaim';
      await bed().kubectl('annotate', 'node', 'n1', `${key}-`);
      await untilPrinted('"state":"Cordoned"');
      await bed().kubectl('annotate', 'node', 'n1', `${key}=${annotation()}`);
      await untilPrinted('"state":"Draining"');
      await bed().kubectl('delete', 'node', 'n1');
      await untilPrinted('"state":"Gone"');
      if (child.pid !== undefined) process.kill(child.pid, 'SIGTERM');
      expect(await ended).toBe(0);
      expect(output.stderr).toBe('');
    });

    test('exit code 3: a missing node', async () => {
      const ended = await run('drain', 'plan', 'n9', here());
      expect(ended).toEqual({
        code: 3,
        stdout: '',
        stderr: 'Cannot find Node "n9": it does not exist\n',
      });
    });

    test('they read, and try evictions as dry runs only', async () => {
      const ours = (await bed().audit()).map((entry) => JSON.stringify(entry))
        .filter((entry) => entry.includes('tidegate/'));
      expect(ours.length).toBeGreaterThan(0);
      const written = ours.filter((entry) => /"verb":"(?:create|update|patch|delete)"/.test(entry));
      expect(written.filter((entry) => !entry.includes('dryRun=All'))).toEqual([]);
    });
  },
);
