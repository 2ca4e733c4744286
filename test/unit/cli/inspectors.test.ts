/** Inspectors exist only when requested, and so cost nothing otherwise. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { operatorSettings } from '../../../src/effects/settings.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { inspectorTitle, startInspectors } from '../../../src/cli/operator/inspectors.ts';

const emptyFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-onlookers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const looked = async (asked: {
  readonly recordFile?: string;
  readonly inspectAddress?: { readonly host: string; readonly port: number };
}) => {
  const inspectors = await startInspectors({
    recordFile: asked.recordFile,
    inspectAddress: asked.inspectAddress,
    title: 'test',
    time: realTime,
  });
  const lines: string[] = [];
  await inspectors.open({ ...silentTelemetry, log: (_level, message) => lines.push(message) });
  await inspectors.close();
  return { inspectors: inspectors.all.length, lines };
};

test('no inspector exists without page and recording', async () => {
  expect(await looked({})).toEqual({ inspectors: 0, lines: [] });
});

test('a recording is one inspector and one file', async () => {
  const folder = await emptyFolder();
  const { inspectors, lines } = await looked({ recordFile: join(folder, 'report.jsonl') });
  expect([inspectors, lines]).toEqual([1, ['Recording lifecycles']]);
  expect(await readdir(folder)).toEqual(['report.jsonl']);
});

test('a live page is one inspector and one server', async () => {
  const { inspectors, lines } = await looked({ inspectAddress: { host: '', port: 0 } });
  expect([inspectors, lines]).toEqual([1, ['Live page is served']]);
});

test('a full disk is a line of the log and a metric, and no failure of the process', async () => {
  const inspectors = await startInspectors({
    recordFile: '/dev/full',
    inspectAddress: undefined,
    title: 'test',
    time: realTime,
  });
  const lines: string[] = [];
  const counted: string[] = [];
  await inspectors.open({
    ...silentTelemetry,
    log: (level, message, fields) =>
      void lines.push(`${level} ${message} ${fields?.['problem'] ?? ''}`),
    count: (name, _by, ..._labels) => void counted.push(name),
  });
  await expect.poll(() => counted).toEqual(['tidegate_recording_failures_total']);
  expect(lines.at(-1)).toMatch(
    /^error Recording ended early Cannot record to "\/dev\/full": .*no space left/i,
  );
  await inspectors.close();
});

const titleFor = (flags: Readonly<Record<string, string>>): string => {
  const around = { environment: {}, hostname: 'h', namespace: undefined, nonce: 'n' };
  const settled = operatorSettings(flags, around);
  if (settled._tag === 'SettingsProblem') throw new Error(settled.message);
  return inspectorTitle(settled.settings);
};

test('page and recording are titled by the cluster, or by the roles without a fleet', () => {
  const fleet = { 'cluster-id': 'blue', 'shard-addr': 's:1', 'insecure-plaintext': 'true' };
  expect(titleFor({ roles: 'fleet,pods', ...fleet })).toBe('Tidegate · blue');
  expect(titleFor({ roles: 'pods' })).toBe('Tidegate · pods');
  expect(titleFor({ roles: 'maintenance,evictions' })).toBe('Tidegate · evictions, maintenance');
});
