/**
 * `tidegate drain status --watch`: watches the cluster and prints its drains as they change.
 *
 * Promises: runs until a signal ends it or its output has no reader any more, with exit code 0.
 */
import type { Time } from '../../domain/time.ts';
import type { DrainReading } from '../../effects/drain-reads.ts';
import type { DrainStatus } from '../../view/drain-status.ts';
import type { ChosenCluster } from '../cluster-question.ts';
import type { DrainPrinter } from './drain-printer.ts';
import { statusesOf } from './drain-status.ts';
import { type DrainWatch, startDrainWatch } from './drain-watch.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { followRecords } from '../terminal/record-following.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What to show, and how. */
export interface Following {
  readonly cluster: ChosenCluster;
  readonly own: DrainReading['own'];
  /** A label selector of Nodes; undefined for all. */
  readonly selector: string | undefined;
  readonly drainsOf: (reading: DrainReading, nowMs: number) => readonly DrainStatus[];
  readonly print: DrainPrinter;
  readonly terminal: Terminal;
  readonly time: Time;
}

/** Shows drains until a signal ends it or its output has no reader any more. */
export const followDrains = async (
  { cluster, own, selector, drainsOf, print, terminal, time }: Following,
): Promise<ExitCode> => {
  let watch: DrainWatch | undefined;
  await followRecords({
    cluster,
    time,
    report: print.report,
    start: (environment) => watch = startDrainWatch(environment, { own, selector }),
    show: (nowMs) => {
      if (watch === undefined) return;
      const reading = watch.reading();
      print.show(drainsOf(reading, nowMs), nowMs, (name) => {
        const node = watch?.node(name);
        return node && statusesOf({ ...reading, nodes: [node] }, nowMs)[0];
      });
    },
    ended: terminal.readerGone,
  });
  print.close();
  return EXIT.ok;
};
