/**
 * Who looks on at the lifecycles of a role: the live page and the recording, as far as they are
 * asked for.
 *
 * Promises: nothing is made, and nothing costs anything, that was not asked for.
 */
import { defectText, type Telemetry } from '../api/telemetry.ts';
import type { ListenAddress } from '../effects/option-kinds.ts';
import { realTime } from '../effects/real-time.ts';
import { startActorRecorder } from '../observability/actor-recorder.ts';
import type { Onlooker } from '../observability/inspected.ts';
import { KINDS, liveBoard, startLivePage } from './live-page.ts';

/** What the log says of the live page; the demo reads it there. */
export const PAGE_LOG = { served: 'Live page is served', opened: 'Live page is opened' } as const;

/** What is asked for. */
export interface OnlookerOptions {
  readonly inspectAddress: ListenAddress | undefined;
  readonly recordFile: string | undefined;
  /** What page and recording are called. */
  readonly title: string;
}

/** Those that look on. */
export interface Onlookers {
  readonly all: readonly Onlooker[];
  /** Opens the page; fails with a sentence when its address cannot be had. */
  readonly open: (telemetry: Pick<Telemetry, 'log'>) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Begins to look on; fails with a sentence when the recording cannot be written. */
export const startOnlookers = async (
  { inspectAddress, recordFile, title }: OnlookerOptions,
): Promise<Onlookers> => {
  const board = inspectAddress && liveBoard();
  const recorder = recordFile === undefined
    ? undefined
    : await startActorRecorder({ file: recordFile, title, time: realTime, kinds: KINDS });
  let closePage = async (): Promise<void> => {};
  return {
    all: [board, recorder].flatMap((one) => one === undefined ? [] : [one.observe]),
    open: async (telemetry) => {
      if (recordFile !== undefined) {
        telemetry.log('info', 'Lifecycles are recorded', { file: recordFile });
      }
      if (inspectAddress === undefined || board === undefined) return;
      const page = await startLivePage({
        address: inspectAddress,
        board,
        title,
        onOpened: (pages) => telemetry.log('info', PAGE_LOG.opened, { pages }),
        onDefect: (cause) =>
          telemetry.log('error', 'Live page cannot show something', {
            problem: defectText(cause),
          }),
      });
      closePage = page.close;
      telemetry.log('info', PAGE_LOG.served, { url: page.url });
    },
    close: async () => {
      await Promise.all([closePage(), recorder?.close()]);
    },
  };
};
