/** `tidegate replay`: the states of a recording at a moment, and its errors. */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createActor } from 'xstate';
import { expect, onTestFinished, test } from 'vitest';
import { runReplay } from '../../../src/cli/replay/replay.ts';
import type { ReplayRequest } from '../../../src/cli/replay/replay-request.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { podEviction } from '../../../src/machines/pod-eviction.ts';
import { startActorRecorder } from '../../../src/observability/actor-recorder.ts';
import { inspectWith } from '../../../src/observability/inspector.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';
import { FACTS } from '../../support/board/eviction-facts.ts';

const fail = (problem: string): void => {
  throw new Error(problem);
};

const ID = 'podEviction/ns/p1';
const newFile = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-replay-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'report.jsonl');
};

/** A pod that waits for a slot, and terminates a minute later. */
const recording = async (): Promise<string> => {
  const file = await newFile();
  const time = simulatedTime();
  const recorder = await startActorRecorder({
    file,
    onFailure: fail,
    title: 'test',
    time,
    kinds: new Set(['podEviction']),
  });
  const actor = createActor(podEviction, {
    id: ID,
    input: { uid: 'u1', key: 'ns/p1', node: 'n1', facts: FACTS, seed: 1 },
    inspect: inspectWith(() => {}, [recorder.observe]),
  }).start();
  await time.advance(60_000);
  actor.send({ type: 'pod.observed', facts: { ...FACTS, terminating: true } });
  await time.advance(1000);
  await recorder.close();
  return file;
};

const replayed = async (file: string, request: Partial<ReplayRequest> = {}) => {
  let stdout = '';
  const lines: string[] = [];
  const code = await runReplay({
    file,
    until: undefined,
    actor: undefined,
    format: 'table',
    inspectAddress: undefined,
    speed: '1',
    ...request,
  }, {
    print: (text) => void (stdout += text),
    report: (line) => void lines.push(line),
    ...PLAIN_TERMINAL,
  }, simulatedTime());
  return { code, stdout, lines };
};

test('a replay shows the state of each actor at the end, and at an earlier moment', async () => {
  const file = await recording();
  const end = await replayed(file);
  expect(end).toMatchObject({ code: 0, lines: [] });
  expect(end.stdout).toBe(
    'ACTOR               STATE                 STATUS   REASON        SINCE\n' +
      'podEviction/ns/p1   leaving.terminating   active   Terminating   0s\n',
  );
  const before = await replayed(file, { until: '30s' });
  expect(before.stdout).toMatch(/podEviction\/ns\/p1 +queued +active +BlockedByBudget +30s/);
  const moment = await replayed(file, { until: '2026-01-01T00:00:45Z' });
  expect(moment.stdout).toMatch(/queued +active +BlockedByBudget +45s/);
});

test('the end of a replay is just before the process was asked to stop', async () => {
  const file = await recording();
  const stopMs = Date.parse('2026-01-01T00:02:00Z');
  const line = (item: object) =>
    `${JSON.stringify({ atMs: stopMs, status: 'stopped', ...item })}\n`;
  await appendFile(
    file,
    line({ id: ID, event: { type: 'xstate.stop' }, state: 'leaving.terminating' }) +
      line({ id: 'operator', event: { type: 'stop.requested' }, state: 'closingRoles' }),
  );
  const { code, stdout, lines } = await replayed(file);
  expect([code, lines]).toEqual([0, []]);
  expect(stdout).toMatch(/leaving\.terminating +active +Terminating +1m$/m);
});

test('a replay prints the path of one actor, as text and as JSON', async () => {
  const file = await recording();
  const { stdout } = await replayed(file, { actor: ID });
  expect(stdout).toContain(`${ID} is in leaving.terminating since 0s (Terminating)`);
  expect(stdout).toMatch(/00:01:00\.000 +pod\.observed +leaving\.terminating/);
  const json = await replayed(file, { actor: ID, format: 'json' });
  expect(JSON.parse(json.stdout)).toMatchObject({ row: { id: ID, state: 'leaving.terminating' } });
  const nobody = await replayed(file, { actor: 'podEviction/ns/p9' });
  expect(nobody).toMatchObject({ code: 3, stdout: '' });
  expect(nobody.lines).toEqual([
    'No actor "podEviction/ns/p9" at that moment of the recording',
  ]);
});

test.each([
  [{ until: 'soon' }, /^Cannot use --until "soon": it is not a time; write 90s or /],
  [{ speed: '0' }, /^Cannot use --speed "0": write a number above 0$/],
  [{ format: 'xml' }, /^Cannot use --output "xml": unknown value; write one of table, json$/],
  [
    { inspectAddress: 'nowhere' },
    /^Cannot use --inspect-addr "nowhere": write HOST:PORT or :PORT$/,
  ],
])('a replay with %j is a usage error', async (request, sentence) => {
  const { code, lines } = await replayed('unread.jsonl', request);
  expect(code).toBe(2);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(sentence);
});

test('an invalid or missing recording is reported in one line', async () => {
  const file = await newFile();
  await writeFile(file, '{"hello":"world"}\n{"more":1}\n');
  const other = await replayed(file);
  expect(other).toMatchObject({
    code: 1,
    stdout: '',
    lines: [
      `Cannot replay "${file}": this is not a recording of tidegate: line 1: it has no "atMs"`,
    ],
  });
  await writeFile(file, '');
  expect(await replayed(file)).toMatchObject({
    code: 1,
    stdout: '',
    lines: [`Cannot replay "${file}": this is not a recording of tidegate: it is empty`],
  });
  const missing = await replayed(`${file}.not`);
  expect(missing.code).toBe(1);
  expect(missing.lines[0]).toMatch(/^Cannot replay ".+": ENOENT/);
});
