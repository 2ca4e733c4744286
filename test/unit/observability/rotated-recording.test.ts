/**
 * A recording whose file was rotated.
 *
 * Regression: the new file had only its head, so that every event of an older actor could not be
 * replayed.
 */
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createActor } from 'xstate';
import { expect, onTestFinished, test } from 'vitest';
import { recordEntry, type RecordLine } from '../../../src/api/actor-record.ts';
import { playerOn } from '../../../src/cli/replay/recording.ts';
import { podEviction } from '../../../src/machines/pod-eviction.ts';
import { makeActorBoard } from '../../../src/observability/actor-board.ts';
import { recordInto, startActorRecorder } from '../../../src/observability/actor-recorder.ts';
import { type Inspector, inspectWith } from '../../../src/observability/inspector.ts';
import { RecordedActors } from '../../../src/observability/recorded-actors.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { FACTS } from '../../support/board/eviction-facts.ts';

const KINDS = new Set(['podEviction']);
const BATCH_MS = 100;
const LONG_MS = 60_000;

const idOf = (name: string): string => `podEviction/ns/${name}`;

const evictionOn = (inspectors: readonly Inspector[]) => (name: string) =>
  createActor(podEviction, {
    id: idOf(name),
    input: { uid: `u-${name}`, key: `ns/${name}`, node: 'n1', facts: FACTS, seed: 1 },
    inspect: inspectWith(() => {}, inspectors),
  }).start();

type Eviction = ReturnType<ReturnType<typeof evictionOn>>;

const move = (actor: Eviction | undefined, terminating: boolean): void =>
  actor?.send({ type: 'pod.observed', facts: { ...FACTS, terminating } });

const linesOf = (texts: readonly string[]): readonly RecordLine[] =>
  texts.map(recordEntry).flatMap((entry) => entry._tag === 'Line' ? [entry.line] : []);

const briefly = ({ id, event, state }: RecordLine) => [id, event.type, state];

/** A recorder of which the test keeps the lines, and rotates the file. */
const recording = () => {
  const time = simulatedTime();
  const actors = new RecordedActors();
  const disk = { texts: [] as string[], waitingBytes: 0 };
  const { observe, close } = recordInto(
    {
      put: (text) => void disk.texts.push(text),
      flush: () => {},
      waitingBytes: () => disk.waitingBytes,
      close: () => Promise.resolve(),
    },
    { title: 'test', time, kinds: KINDS },
    actors,
  );
  const rotate = (): void => {
    disk.texts = [];
    actors.beginFile(time.now());
  };
  return { time, disk, rotate, close, begin: evictionOn([observe]) };
};

test('a file after a rotation replays alone, and leads to the states of the process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-rotated-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'report.jsonl');
  const time = simulatedTime();
  const recorder = await startActorRecorder({
    file,
    bytesMax: 50_000,
    title: 'test',
    time,
    kinds: KINDS,
    onFailure: (problem) => {
      throw new Error(problem);
    },
  });
  const live = makeActorBoard({ time, kinds: KINDS });
  const begin = evictionOn([live.observe, recorder.observe]);
  begin('idle');
  await time.advance(BATCH_MS);
  const busy = begin('busy');
  begin('ended').stop();
  for (let at = 0; at < 600; at += 1) move(busy, at % 2 === 0);
  await time.advance(BATCH_MS);
  await expect.poll(() => access(`${file}.1`).then(() => readFile(file, 'utf8')))
    .toContain('"recording":"tidegate"');
  await time.advance(1000);
  move(busy, true);
  begin('new');
  await recorder.close();
  const clock = { nowMs: 0 };
  const replayed = makeActorBoard({ time: { now: () => clock.nowMs }, kinds: KINDS });
  const player = playerOn(replayed);
  for (const line of linesOf((await readFile(file, 'utf8')).trimEnd().split('\n'))) {
    clock.nowMs = Math.max(clock.nowMs, line.atMs);
    expect(player.play(line)).toBeUndefined();
  }
  for (const name of ['idle', 'busy', 'new']) {
    expect(replayed.row(idOf(name))).toEqual(live.row(idOf(name)));
    expect(replayed.context(idOf(name))).toEqual(live.context(idOf(name)));
  }
  expect(replayed.rows()).toHaveLength(3);
});

test('an older actor precedes its first event, and others come after it, each once', async () => {
  const { time, disk, rotate, begin } = recording();
  const [idle, busy, restarted] = ['idle', 'busy', 'restarted'].map(begin);
  await time.advance(BATCH_MS);
  rotate();
  move(busy, true);
  begin('restarted');
  await time.advance(LONG_MS);
  move(idle, true);
  restarted?.stop();
  await time.advance(BATCH_MS);
  expect(linesOf(disk.texts).map(briefly)).toEqual([
    [idOf('busy'), 'snapshot.restored', 'queued'],
    [idOf('busy'), 'pod.observed', 'leaving.terminating'],
    [idOf('restarted'), 'xstate.init', 'queued'],
    [idOf('idle'), 'snapshot.restored', 'queued'],
    [idOf('idle'), 'pod.observed', 'leaving.terminating'],
    [idOf('restarted'), 'xstate.stop', 'queued'],
  ]);
});

test('many older actors come in batches, and all of them when the recording is closed', async () => {
  const { time, disk, rotate, begin, close } = recording();
  const [first] = Array.from({ length: 2000 }, (_, at) => begin(`p${at}`));
  await time.advance(BATCH_MS);
  rotate();
  move(first, true);
  await time.advance(BATCH_MS);
  expect(disk.texts).toHaveLength(2 + 512);
  await time.advance(BATCH_MS);
  expect(disk.texts).toHaveLength(2 + 2 * 512);
  await close();
  expect(disk.texts).toHaveLength(2 + 1999);
});

test('on a slow disk older actors wait, and what was dropped is in their states', async () => {
  const { time, disk, rotate, begin } = recording();
  const [actor, ended] = ['p1', 'ended'].map(begin);
  await time.advance(BATCH_MS);
  disk.waitingBytes = 2 ** 30;
  move(actor, true);
  ended?.stop();
  rotate();
  await time.advance(LONG_MS);
  expect(disk.texts).toEqual([]);
  disk.waitingBytes = 0;
  begin('p2');
  await time.advance(BATCH_MS);
  expect(linesOf(disk.texts).map(briefly)).toEqual([
    [idOf('p2'), 'xstate.init', 'queued'],
    [idOf('p1'), 'snapshot.restored', 'leaving.terminating'],
  ]);
});
