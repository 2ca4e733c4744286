/** A recording can be replayed from its file alone. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createActor } from 'xstate';
import { expect, onTestFinished, test } from 'vitest';
import { recordEntry, recordText } from '../../../src/api/actor-record.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { MACHINES } from '../../../src/machines/index.ts';
import { podEviction } from '../../../src/machines/pod-eviction.ts';
import { recordInto, startActorRecorder } from '../../../src/observability/actor-recorder.ts';
import { inspectWith } from '../../../src/observability/inspector.ts';
import { makeReplay, stateOf } from '../../../src/view/replay.ts';
import { FACTS } from '../../support/board/eviction-facts.ts';

const fail = (problem: string): void => {
  throw new Error(problem);
};

const INPUT = { uid: 'u1', key: 'ns/p1', node: 'n1', facts: FACTS, seed: 1 };

const recordingFile = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-recording-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'report.jsonl');
};

const recorded = async () => {
  const file = await recordingFile();
  const time = simulatedTime();
  const recorder = await startActorRecorder({
    file,
    onFailure: fail,
    title: 'test',
    time,
    kinds: new Set(Object.keys(MACHINES)),
  });
  const inspect = inspectWith(() => {}, [recorder.observe]);
  const actor = createActor(podEviction, {
    id: 'podEviction/ns/p1',
    input: INPUT,
    inspect,
  }).start();
  createActor(podEviction, { id: 'stranger/1', input: INPUT, inspect }).start();
  await time.advance(1000);
  actor.send({ type: 'pod.observed', facts: { ...FACTS, terminating: true } });
  actor.stop();
  await recorder.close();
  const text = await readFile(file, 'utf8');
  return text.trimEnd().split('\n').map(recordEntry);
};

const linesIn = (entries: Awaited<ReturnType<typeof recorded>>) =>
  entries.flatMap((entry) => entry._tag === 'Line' ? [entry.line] : []);

test('a recording begins with its head and has each event with the state that it led to', async () => {
  const entries = await recorded();
  expect(entries[0]).toMatchObject({ _tag: 'Head', head: { title: 'test', format: 1 } });
  expect(linesIn(entries).map(({ id, event, state, status }) => [id, event.type, state, status]))
    .toEqual([
      ['podEviction/ns/p1', 'xstate.init', 'queued', 'active'],
      ['podEviction/ns/p1', 'pod.observed', 'leaving.terminating', 'active'],
      ['podEviction/ns/p1', 'xstate.stop', 'leaving.terminating', 'stopped'],
    ]);
});

test('a replayed recording reaches the recorded states', async () => {
  const replay = makeReplay(MACHINES);
  const replayed = linesIn(await recorded()).map(replay.play);
  expect(replayed.map(({ _tag }) => _tag)).toEqual(['Moved', 'Moved', 'Moved']);
  const last = replayed.at(-1);
  expect(last?._tag === 'Moved' && stateOf(last.actor.snapshot)).toBe('leaving.terminating');
});

test('a replay reports different states, and events that it cannot replay', () => {
  const replay = makeReplay(MACHINES);
  const line = { atMs: 0, id: 'podEviction/ns/p1', status: 'active' };
  const init = { type: 'xstate.init', input: INPUT };
  expect(replay.play({ ...line, event: init, state: 'dancing' }))
    .toMatchObject({ _tag: 'Disagreed', recorded: 'dancing' });
  expect(replay.play({ ...line, id: 'podEviction/ns/p2', event: { type: 'a.b' }, state: '' }))
    .toMatchObject({ _tag: 'Unplayable', why: 'its start is not in the recording' });
  expect(replay.play({ ...line, id: 'ferry/1', event: init, state: '' }))
    .toMatchObject({ _tag: 'Unplayable', why: 'there is no machine "ferry"' });
});

test('an error in an event is stored in its line and restored as an error', () => {
  const event = { type: 'xstate.error.actor.evictPod', error: new Error('no way') };
  const line = { atMs: 1, id: 'a/b', event, state: '', status: 'active' };
  expect(recordEntry(recordText(line))).toEqual({ _tag: 'Line', line });
});

test('events are written in batches, while the recording runs', async () => {
  const file = await recordingFile();
  const time = simulatedTime();
  const kinds = new Set(['podEviction']);
  const recorder = await startActorRecorder({ file, onFailure: fail, title: 'test', time, kinds });
  const size = async () => (await stat(file)).size;
  const inspect = inspectWith(() => {}, [recorder.observe]);
  const actor = createActor(podEviction, { id: 'podEviction/ns/p1', input: INPUT, inspect })
    .start();
  await time.settle();
  expect(await size()).toBe(0);
  await time.advance(100);
  await expect.poll(size).toBeGreaterThan(0);
  const before = await size();
  // A full batch is written at once.
  for (let sent = 0; sent < 2000; sent += 1) actor.send({ type: 'pod.observed', facts: FACTS });
  await expect.poll(size).toBeGreaterThan(before);
  await recorder.close();
  expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(2002);
});

test('lines are dropped when the disk is too slow, and the recording counts them', async () => {
  let waiting = 0;
  let dropped = 0;
  const lines: string[] = [];
  const onDropped = () => {
    dropped += 1;
  };
  const { observe, close } = recordInto({
    put: (line) => void lines.push(line),
    flush: () => {},
    waitingBytes: () => waiting,
    close: () => Promise.resolve(),
  }, { title: 'test', time: simulatedTime(), kinds: new Set(['podEviction']), onDropped });
  const inspect = inspectWith(() => {}, [observe]);
  const actor = createActor(podEviction, { id: 'podEviction/ns/p1', input: INPUT, inspect })
    .start();
  waiting = 2 ** 30;
  for (let sent = 0; sent < 3; sent += 1) actor.send({ type: 'pod.observed', facts: FACTS });
  waiting = 0;
  actor.send({ type: 'pod.observed', facts: FACTS });
  await close();
  expect(lines.map(recordEntry).map((entry) => entry._tag === 'Gap' ? entry.gap.lost : entry._tag))
    .toEqual(['Head', 'Line', 3, 'Line']);
  expect(dropped).toBe(3);
});

test('an error in a handwritten event is restored as an error', () => {
  const text = '{"atMs":1,"id":"a/b","event":{"type":"t","error":{"$error":"no"}},"state":""}';
  const entry = recordEntry(text);
  expect(entry._tag === 'Line' && 'error' in entry.line.event && entry.line.event.error)
    .toEqual(new Error('no'));
});

test.each([
  ['nonsense', 'it is not a JSON object'],
  [
    '{"recording":"tidegate","format":9}',
    'the recording has a format that this version does not know',
  ],
  ['{"id":"a/b"}', 'it has no "atMs"'],
  ['{"atMs":1,"id":"a/b"}', 'it has no "id", or no "event" with a type'],
])('a line that contains %s is unreadable: %s', (text, why) => {
  expect(recordEntry(text)).toEqual({ _tag: 'Unreadable', why });
});

test('a recording that cannot be written is one sentence with its remedy', async () => {
  const file = '/nowhere/at/all.jsonl';
  await expect(startActorRecorder({
    file,
    onFailure: fail,
    title: '',
    time: simulatedTime(),
    kinds: new Set(),
  })).rejects.toThrow(
    /^Cannot record to "\/nowhere\/at\/all.jsonl": .+; use a writable file for --record/,
  );
});
