/**
 * Watches objects of a cluster and prints their records as they change.
 *
 * Promises: runs until a signal, or what its caller waits for, ends it; a watch problem is one line
 * on stderr, and its recovery another.
 */
import { Layer, ManagedRuntime } from 'effect';
import type { ActorEnvironment } from '../../actors/actor-environment.ts';
import { makeActorEnvironment } from '../../actors/actor-environment.ts';
import { silentTelemetry, type Telemetry } from '../../api/telemetry.ts';
import { clusterTime } from '../../domain/cluster-time.ts';
import type { Time } from '../../domain/time.ts';
import { clockLayer } from '../../effects/effect-clock.ts';
import type { KubeApi } from '../../effects/kube-api.ts';
import { realTime } from '../../effects/real-time.ts';
import { type ChosenCluster, chosenConnection } from '../cluster-question.ts';
import { awaitedSignal } from '../signals.ts';

/** Records are shown at least this often: a state may change by time alone. */
const TICK_MS = 1000;

/** Objects that are watched. */
export interface Watched {
  /** Resolves when there is something to show; never rejects. */
  readonly whenReady: Promise<void>;
  /** Calls `show` after changes; returns an unsubscribe function. */
  readonly onChange: (show: () => void) => () => void;
  readonly stop: () => void;
}

/** What to watch, and how to show it. */
export interface RecordFollowing {
  readonly cluster: ChosenCluster;
  /** Of this machine by default. */
  readonly time?: Time;
  readonly start: (environment: ActorEnvironment<KubeApi>) => Watched;
  readonly show: (nowMs: number) => void;
  /** False: `show` is called after changes only. */
  readonly isTicking?: boolean;
  /** One line about the watch. */
  readonly report: (line: string) => void;
  /**
   * Ends it before a signal does. For a command that only prints, `terminal.readerGone`: Node
   * ignores SIGPIPE, so that `| head -1` would not end it. For a command with work or an exit code
   * of its own, the end of that: it goes on without a reader.
   */
  readonly ended: Promise<unknown>;
}

/** Watch problems as messages of a command. */
const reportingTelemetry = (report: (line: string) => void): Telemetry => ({
  ...silentTelemetry,
  log: (level, message, fields) => {
    if (level === 'debug') return;
    const about = Object.entries(fields ?? {}).map(([name, value]) => `${name} "${value}"`);
    report(`${message}${about.length === 0 ? '' : `: ${about.join(', ')}`}`);
  },
});

/** Calls `show` every `TICK_MS`; returns a stop function. */
const ticking = (time: Time, show: () => void): () => void => {
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = time.schedule(TICK_MS, () => {
      show();
      arm();
    });
  };
  arm();
  return () => cancel();
};

/** Shows records until a signal or `ended`; resolves with which of them it was. */
export const followRecords = async (
  { cluster, time: machineTime = realTime, start, show: draw, isTicking = true, ...following }:
    RecordFollowing,
): Promise<'signal' | 'ended'> => {
  const { signal, release: releaseSignals } = awaitedSignal();
  const ends = [
    signal.then(() => 'signal' as const),
    following.ended.then(() => 'ended' as const),
  ];
  const time = clusterTime(machineTime);
  const layer = Layer.mergeAll(chosenConnection(cluster, time.observe), clockLayer(time));
  const runtime = ManagedRuntime.make(Layer.orDie(layer));
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: reportingTelemetry(following.report),
    firstSeed: Math.trunc(machineTime.now()) >>> 0,
  });
  const watch = start(environment);
  const show = (): void => draw(time.now());
  const early = await Promise.race([...ends, watch.whenReady.then(() => undefined)]);
  const releases = early === undefined ? [watch.onChange(show)] : [];
  if (early === undefined) show();
  if (early === undefined && isTicking) releases.push(ticking(time, show));
  const cause = early ?? await Promise.race(ends);
  for (const release of releases) release();
  watch.stop();
  await runtime.dispose();
  releaseSignals();
  return cause;
};
