/** `tidegate maintenance` on an embedded cluster, with and without the role that works on it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { describe, expect, onTestFinished, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import {
  runMaintenanceMove,
  runMaintenanceStart,
} from '../../src/cli/maintenance/maintenance-change.ts';
import type {
  MaintenanceMoveRequest,
  MaintenanceShowRequest,
  MaintenanceStartRequest,
  StageVerb,
} from '../../src/cli/maintenance/maintenance-request.ts';
import { runMaintenanceShow } from '../../src/cli/maintenance/maintenance-show.ts';
import { valueAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { serveMaintenances } from '../support/node-maintenance/served-maintenances.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const site = async ({ withDefinitions = true, withRole = false } = {}) => {
  const { cluster, kubeconfig: text, stop } = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 2,
    rate: 20,
    definitions: withDefinitions ? definitions() : [],
  });
  onTestFinished(stop);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-maintenance-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, text);
  if (withRole) await serveMaintenances(kubeconfig);
  const output = { stdout: '', stderr: '' };
  const terminal = {
    print: (printed: string) => void (output.stdout += printed),
    report: (line: string) => void (output.stderr += `${line}\n`),
    ...PLAIN_TERMINAL,
  };
  const environment = { terminal, time: realTime };
  const result = async (code: Promise<number>) => {
    Object.assign(output, { stdout: '', stderr: '' });
    return { code: await code, ...output };
  };
  const change = { dryRun: 'none', format: 'text', wait: false, timeout: undefined };
  const common = { kubeconfig, context: undefined };
  return {
    start: (more: Partial<MaintenanceStartRequest> = {}) =>
      result(runMaintenanceStart({
        name: 'kernel',
        nodes: 'node-1',
        selector: undefined,
        stage: 'Idle',
        reason: undefined,
        maxNodesAtOnce: undefined,
        podTypes: undefined,
        ...change,
        ...common,
        ...more,
      }, environment)),
    move: (verb: StageVerb, more: Partial<MaintenanceMoveRequest> = {}) =>
      result(
        runMaintenanceMove({ verb, name: 'kernel', ...change, ...common, ...more }, environment),
      ),
    show: (more: Partial<MaintenanceShowRequest> = {}) =>
      result(runMaintenanceShow({
        name: undefined,
        format: 'table',
        watch: false,
        ...common,
        ...more,
      }, environment)),
    isCordoned: (node: string): boolean => {
      const answer = cluster.answer({ method: 'GET', path: `/api/v1/nodes/${node}` });
      return answer._tag === 'Answer' && valueAt(answer.body, 'spec', 'unschedulable') === true;
    },
  };
};

describe('tidegate maintenance', () => {
  test('a maintenance goes from stage to stage, and each wait ends with 0 when it is done', {
    timeout: 300_000,
  }, async () => {
    const { start, move, show, isCordoned } = await site({ withRole: true });
    expect((await start({ wait: true })).code).toBe(0);
    expect((await move('cordon', { wait: true })).code).toBe(0);
    expect(isCordoned('node-1')).toBe(true);
    const drained = await move('drain', { wait: true, timeout: '250s' });
    expect(drained).toMatchObject({ code: 0, stderr: '' });
    expect(drained.stdout).toMatch(/^nodemaintenance\/kernel moved: stage Drain\n/);
    expect(drained.stdout).toContain('Drained  1/1 nodes drained');
    expect([isCordoned('node-1'), isCordoned('node-2')]).toEqual([true, false]);
    const nodes = await show({ name: 'kernel' });
    expect(nodes.stderr).toContain('NodeMaintenance "kernel": stage Drain, Drained; 1/1');
    expect(nodes.stdout).toMatch(/^NODE +STATE +PENDING +EVACUATING +MESSAGE\nnode-1 +Admitted/);
    expect((await move('complete', { wait: true })).code).toBe(0);
    expect(isCordoned('node-1')).toBe(false);
    expect((await show()).stdout).toMatch(/\nkernel +Complete +Completed +1\/1 /);
  });

  test('what cannot be changed or shown is one line and an exit code', async () => {
    const { start, move, show } = await site();
    expect(await show()).toMatchObject({ code: 0, stderr: 'No node is maintained\n' });
    expect(await show({ name: 'kernel' })).toMatchObject({ code: 3, stdout: '' });
    expect(await move('drain')).toMatchObject({ code: 3 });
    expect((await start({ dryRun: 'server' })).stdout).toContain('(server dry run)');
    expect((await start({ stage: 'Drain' })).code).toBe(0);
    expect(await start()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('it exists already; write another name'),
    });
    expect(await move('cordon')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('it is in stage Drain, and stages go forward only'),
    });
    expect((await move('drain')).stdout).toBe('nodemaintenance/kernel unchanged: stage Drain\n');
    const { items } = JSON.parse((await show({ format: 'json' })).stdout);
    expect(items).toMatchObject([{ name: 'kernel', phase: 'Unserved' }]);
    expect(await move('drain', { wait: true, timeout: '200ms' })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is not done in time'),
    });
  });

  test('without the CRD each verb says how it is installed', async () => {
    const { start, move, show } = await site({ withDefinitions: false });
    for (const { code, stderr } of [await start(), await move('drain'), await show()]) {
      expect(code).toBe(1);
      expect(stderr).toContain('install its CRD with "kubectl apply --server-side -f ');
    }
  });
});
