/**
 * The inspectors of a process's statecharts: the live page and the recording, each enabled by its
 * flag.
 *
 * Promises: an inspector whose flag is absent is not created, not even loaded, and costs nothing; a
 * recording that cannot go on is an error in the log and a metric, and ends nothing else.
 */
import { readFile } from 'node:fs/promises';
import { defectText, type Telemetry } from '../../api/telemetry.ts';
import { ROLE_NAMES, type RoleName } from '../../domain/operator-roles.ts';
import type { ListenAddress } from '../../effects/option-kinds.ts';
import type { Time } from '../../domain/time.ts';
import type { OperatorSettings } from '../../effects/settings.ts';
import { startActorRecorder } from '../../observability/actor-recorder.ts';
import type { Inspector } from '../../observability/inspector.ts';
import { failureSentence } from '../failures.ts';
import { KINDS } from './machine-levels.ts';

/** Log messages about the live page; the demo reads its address from them. */
export const PAGE_LOG = { served: 'Live page is served', opened: 'Live page is opened' } as const;

/** The flags. */
export interface InspectorOptions {
  readonly inspectAddress: ListenAddress | undefined;
  /** Further host names of the page. */
  readonly inspectHosts?: readonly string[];
  /** The file with the token of the page. */
  readonly inspectTokenFile?: string | undefined;
  readonly recordFile: string | undefined;
  /** The title of page and recording. */
  readonly title: string;
  /** The clock of the deadlines that the page shows. */
  readonly time: Pick<Time, 'now' | 'schedule'>;
}

/** The running inspectors. */
export interface Inspectors {
  readonly all: readonly Inspector[];
  /** Opens the page; throws when its address is not available. */
  readonly open: (telemetry: Pick<Telemetry, 'log' | 'count'>) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Identifies the process by its cluster, or by its roles without a fleet. */
export const inspectorTitle = (settings: Pick<OperatorSettings, RoleName>): string =>
  `Tidegate · ${
    settings.fleet?.clusterId ??
      ROLE_NAMES.filter((role) => settings[role] !== undefined).join(', ')
  }`;

/** The token in the file; an empty one would admit everybody. */
const tokenIn = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`Cannot read --inspect-token-file "${file}": ${failureSentence(cause)}`);
  });
  if (text.trim() === '') throw new Error(`Cannot use --inspect-token-file "${file}": it is empty`);
  return text.trim();
};

/** Starts the inspectors; throws when the recording cannot be written or the token not be read. */
export const startInspectors = async (
  { inspectAddress, inspectHosts = [], inspectTokenFile, recordFile, title, time }:
    InspectorOptions,
): Promise<Inspectors> => {
  /** The log exists only after the inspectors. */
  let earlyFailure: string | undefined;
  let onFailure = (problem: string): void => {
    earlyFailure = problem;
  };
  let dropped = 0;
  let onDropped = (): void => {
    dropped += 1;
  };
  const token = inspectTokenFile === undefined ? undefined : await tokenIn(inspectTokenFile);
  const livePage = inspectAddress && await import('./live-page.ts');
  const board = livePage?.liveBoard(time);
  const recorder = recordFile === undefined ? undefined : await startActorRecorder({
    file: recordFile,
    title,
    time,
    kinds: KINDS,
    onFailure: (problem) => onFailure(problem),
    onDropped: () => onDropped(),
  });
  let closePage = async (): Promise<void> => {};
  return {
    all: [board, recorder].flatMap((one) => one === undefined ? [] : [one.observe]),
    open: async (telemetry) => {
      if (recordFile !== undefined) {
        telemetry.log('info', 'Recording lifecycles', { file: recordFile });
      }
      onFailure = (problem) => {
        telemetry.count('tidegate_recording_failures_total', 1);
        telemetry.log('error', 'Recording ended early', { problem });
      };
      onDropped = () => telemetry.count('tidegate_recording_lines_dropped_total', 1);
      if (dropped > 0) telemetry.count('tidegate_recording_lines_dropped_total', dropped);
      if (earlyFailure !== undefined) onFailure(earlyFailure);
      if (inspectAddress === undefined || livePage === undefined || board === undefined) return;
      const page = await livePage.startLivePage({
        address: inspectAddress,
        access: { names: inspectHosts, token },
        board,
        title,
        now: time.now,
        onOpened: (pages) => telemetry.log('info', PAGE_LOG.opened, { pages }),
        onDefect: (cause) =>
          telemetry.log('error', 'Live page failed to render', {
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
