/**
 * `tidegate drain status --watch`: watches the cluster and prints its drains as they change.
 *
 * Promises: runs until a signal ends it, with exit code 0; a watch problem is one line on stderr,
 * and its recovery another.
 */
import { Layer, ManagedRuntime } from 'effect';
import { clockLayer } from '../effects/effect-clock.ts';
import { startDrainWatch } from './drain-watch.ts';
import { makeActorEnvironment } from '../actors/actor-environment.ts';
import type { Telemetry } from '../api/telemetry.ts';
import type { DrainReading } from '../effects/drain-reads.ts';
import { realTime } from '../effects/real-time.ts';
import type { DrainStatus } from '../view/drain-status.ts';
import { type ChosenCluster, chosenConnection } from './cluster-question.ts';
import type { DrainPrinter } from './drain-printer.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { endingSignal } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** The display is refreshed at least this often. */
const TICK_MS = 1000;

/** Watch problems as messages of a command. */
const printerTelemetry = ({ report }: DrainPrinter): Telemetry => ({
  log: (level, message, fields) => {
    if (level === 'debug') return;
    const about = Object.entries(fields ?? {}).map(([name, value]) => `${name} "${value}"`);
    report(`${message}${about.length === 0 ? '' : `: ${about.join(', ')}`}`);
  },
  count: () => {},
  gauge: () => {},
  forget: () => {},
  observe: () => {},
});

/** What to show, and how. */
export interface Following {
  readonly cluster: ChosenCluster;
  readonly own: DrainReading['own'];
  /** A label selector of Nodes; undefined for all. */
  readonly selector: string | undefined;
  readonly drainsOf: (reading: DrainReading, nowMs: number) => readonly DrainStatus[];
  readonly print: DrainPrinter;
  readonly terminal: Terminal;
}

/** Calls `show` every `TICK_MS`; returns a stop function. */
const ticking = (show: () => void): () => void => {
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = realTime.schedule(TICK_MS, () => {
      show();
      arm();
    });
  };
  arm();
  return () => cancel();
};

/** Shows drains until a signal ends it. */
export const followDrains = async (
  { cluster, own, selector, drainsOf, print, terminal }: Following,
): Promise<ExitCode> => {
  const signal = endingSignal();
  const layer = Layer.mergeAll(chosenConnection(cluster), clockLayer(realTime));
  const runtime = ManagedRuntime.make(Layer.orDie(layer));
  const environment = makeActorEnvironment({
    time: realTime,
    runtime,
    telemetry: printerTelemetry(print),
    firstSeed: Math.trunc(realTime.now()) >>> 0,
  });
  const watch = startDrainWatch(environment, { own, selector });
  const show = (): void => {
    const nowMs = realTime.now();
    print.show(drainsOf(watch.reading(), nowMs), nowMs);
  };
  const ended = await Promise.race([signal, watch.whenReady.then(() => undefined)]);
  const ends = ended === undefined ? [watch.onChange(show)] : [];
  if (ended === undefined) show();
  if (ended === undefined && terminal.interactive) ends.push(ticking(show));
  await signal;
  for (const end of ends) end();
  print.close();
  watch.stop();
  await runtime.dispose();
  return EXIT.ok;
};
