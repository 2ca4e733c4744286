/**
 * The invariant that recordings replay: the recorded lines alone lead the same machines to the same
 * states. Not in every world, because it runs everything twice.
 */
import { recordEntry } from '../../src/api/actor-record.ts';
import { MACHINES } from '../../src/machines/index.ts';
import { recordInto } from '../../src/observability/actor-recorder.ts';
import { type Inspect, inspectWith } from '../../src/observability/inspector.ts';
import { makeReplay } from '../../src/view/replay.ts';
import type { Bench, Invariant } from './invariant.ts';

/** Its name. */
export const RECORDINGS = 'recordings replay';

/**
 * Time without timers, because invariants change nothing: full batches flush themselves.
 */
const STILL = { now: () => 0, schedule: () => () => {} };

/** A recorder of a process. */
interface Recorder {
  readonly inspect: Inspect;
  readonly close: () => Promise<void>;
}

/** Replays the recording of a process; `onMoved` is called for each line that replays. */
const executed = (
  process: string,
  { broken }: Pick<Bench, 'broken'>,
  onMoved: () => void,
): Recorder => {
  const replay = makeReplay(MACHINES);
  const play = (text: string): void => {
    const entry = recordEntry(text);
    if (entry._tag === 'Head') return;
    if (entry._tag !== 'Line') return broken(RECORDINGS, `${process} recorded ${text}`);
    const { line } = entry;
    const result = replay.play(line);
    if (result._tag === 'Moved') return onMoved();
    const why = result._tag === 'Unplayable' ? result.why : `it was in "${result.recorded}"`;
    broken(RECORDINGS, `${process}, ${line.id} at "${line.event.type}": ${why}`);
  };
  const { observe, close } = recordInto(
    { put: play, flush: () => {}, waitingBytes: () => 0, close: () => Promise.resolve() },
    { title: process, time: STILL, kinds: new Set(Object.keys(MACHINES)) },
  );
  return { inspect: inspectWith(() => {}, [observe]), close };
};

/** The recording of each process replays; `onMoved` is called for each line that does. */
export const recordingsPlayAgain = (
  bench: Pick<Bench, 'broken'>,
  onMoved: () => void = () => {},
): Invariant => {
  const recorders = new Map<string, Recorder>();
  return {
    inspection: (process, event) => {
      const recorder = recorders.get(process) ?? executed(process, bench, onMoved);
      recorders.set(process, recorder);
      recorder.inspect(event);
    },
    end: () => {
      for (const recorder of recorders.values()) void recorder.close();
    },
  };
};
