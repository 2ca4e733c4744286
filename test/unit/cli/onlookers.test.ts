/** Looking on at lifecycles: what was not asked for does not exist, and so costs nothing. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { startOnlookers } from '../../../src/cli/onlookers.ts';
import { seenBy } from '../../../src/observability/observability.ts';

const emptyFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-onlookers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const looked = async (asked: {
  readonly recordFile?: string;
  readonly inspectAddress?: { readonly host: string; readonly port: number };
}) => {
  const onlookers = await startOnlookers({
    recordFile: asked.recordFile,
    inspectAddress: asked.inspectAddress,
    title: 'test',
  });
  const said: string[] = [];
  await onlookers.open({ log: (_level, message) => said.push(message) });
  await onlookers.close();
  return { taps: onlookers.taps.length, said };
};

test('nobody looks on where neither page nor recording is asked for', async () => {
  expect(await looked({})).toEqual({ taps: 0, said: [] });
});

test('where nobody looks on, actors are inspected by the tap of logs and metrics itself', () => {
  const tap = (): void => {};
  expect(seenBy(tap, [])).toBe(tap);
});

test('those who look on see what the tap sees, after it', () => {
  const seen: string[] = [];
  const look = (who: string) => () => void seen.push(who);
  const inspect = seenBy(look('tap'), [look('board'), look('recording')]);
  createActor(createMachine({ id: 'door' }), { inspect }).start();
  expect(seen.slice(0, 3)).toEqual(['tap', 'board', 'recording']);
  expect(seen.length % 3).toBe(0);
});

test('a recording is one tap and one file', async () => {
  const folder = await emptyFolder();
  const { taps, said } = await looked({ recordFile: join(folder, 'report.jsonl') });
  expect([taps, said]).toEqual([1, ['Lifecycles are recorded']]);
  expect(await readdir(folder)).toEqual(['report.jsonl']);
});

test('a live page is one tap and one server', async () => {
  const { taps, said } = await looked({ inspectAddress: { host: '', port: 0 } });
  expect([taps, said]).toEqual([1, ['Live page is served']]);
});
