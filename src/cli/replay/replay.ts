/**
 * `tidegate replay`: replays the recorded lifecycles of a process.
 *
 * Promises: exit code 2 for invalid flags, 3 when this version's machines reach other states;
 * stdout has only the states.
 */
import { defectText } from '../../api/telemetry.ts';
import type { Time } from '../../domain/time.ts';
import { goDurationMs } from '../../domain/go-duration.ts';
import { listen, type ListenAddress } from '../../effects/option-kinds.ts';
import { type FillableBoard, makeActorBoard } from '../../observability/actor-board.ts';
import { actorsText, actorText } from '../../view/replay-text.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failureSentence, unknownWord } from '../failures.ts';
import { replayBoard, startLivePage } from '../operator/live-page.ts';
import { KINDS } from '../operator/machine-levels.ts';
import { jsonText } from '../terminal/json-text.ts';
import { type Player, playerOn, recordedIn, stopMomentIn } from './recording.ts';
import { REPLAY_FORMATS, type ReplayRequest } from './replay-request.ts';
import { endingSignal } from '../signals.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The moment to stop, given the start of the recording; undefined for an invalid text. */
const momentIn = (text: string): ((startedMs: number) => number) | undefined => {
  const afterMs = goDurationMs(text);
  if (afterMs !== undefined) return (startedMs) => startedMs + afterMs;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : () => atMs;
};

/** A valid request. */
interface Asked {
  readonly request: ReplayRequest;
  /** The requested moment; undefined for the end. */
  readonly untilMs: ((startedMs: number) => number) | undefined;
  readonly page: ListenAddress | undefined;
  readonly speed: number;
}

const asked = (request: ReplayRequest): Asked | string => {
  const { format, until, inspectAddress, speed: speedText } = request;
  if (!REPLAY_FORMATS.some((one) => one === format)) {
    return unknownWord('--output', format, REPLAY_FORMATS);
  }
  const untilMs = until === undefined ? undefined : momentIn(until);
  if (until !== undefined && untilMs === undefined) {
    return `Cannot use --until "${until}": it is not a time; write 90s or 2026-01-31T12:00:00Z`;
  }
  const speed = Number(speedText);
  if (!(speed > 0)) return `Cannot use --speed "${speedText}": write a number above 0`;
  if (inspectAddress === undefined) return { request, untilMs, page: undefined, speed };
  const address = listen.read(inspectAddress);
  if (address._tag === 'Unreadable' || address.value === 'off') {
    return `Cannot use --inspect-addr "${inspectAddress}": write HOST:PORT or :PORT`;
  }
  return { request, untilMs, page: address.value, speed };
};

/** The context of a replay. */
interface Playback {
  readonly asked: Asked;
  readonly time: Time;
  readonly terminal: Terminal;
  /** The clock of the recording. */
  readonly clock: { nowMs: number };
  readonly board: FillableBoard;
  readonly player: Player;
}

const pause = (time: Time, ms: number): Promise<void> =>
  new Promise((resolve) => void time.schedule(ms, resolve));

/**
 * The last moment of a replay without a requested one: a clean stop ends every lifecycle, so the
 * end is just before it, as a person last saw the process.
 */
const endOf = async (file: string): Promise<number> =>
  ((await stopMomentIn(file)) ?? Number.POSITIVE_INFINITY) - 1;

/** Replays up to the requested moment; returns the number of problems. */
const playOn = async ({ asked, time, terminal, clock, player }: Playback): Promise<number> => {
  let untilMs = await endOf(asked.request.file);
  let problems = 0;
  const logProblem = (problem: string | undefined): void => {
    if (problem === undefined) return;
    problems += 1;
    terminal.report(problem);
  };
  for await (const recorded of recordedIn(asked.request.file)) {
    if (recorded._tag === 'Problem') {
      logProblem(`${asked.request.file}: ${recorded.problem}`);
      continue;
    }
    const { entry } = recorded;
    if (entry._tag === 'Head') {
      clock.nowMs = entry.head.startedMs;
      untilMs = asked.untilMs?.(entry.head.startedMs) ?? untilMs;
      continue;
    }
    const atMs = entry._tag === 'Line' ? entry.line.atMs : entry.gap.atMs;
    if (atMs > untilMs) break;
    const waitMs = (atMs - clock.nowMs) / asked.speed;
    if (asked.page !== undefined && waitMs >= 1) await pause(time, waitMs);
    clock.nowMs = Math.max(clock.nowMs, atMs);
    logProblem(
      entry._tag === 'Line'
        ? player.play(entry.line)
        : `${entry.gap.lost} lines are missing here: the disk was too slow`,
    );
  }
  if (Number.isFinite(untilMs)) clock.nowMs = Math.max(clock.nowMs, untilMs);
  return problems;
};

const show = ({ asked: { request }, terminal, clock, board }: Playback): ExitCode => {
  const isJson = request.format === 'json';
  const json = (value: unknown): void => terminal.print(jsonText(value));
  if (request.actor === undefined) {
    if (isJson) json({ at: new Date(clock.nowMs).toISOString(), actors: board.rows() });
    else terminal.print(actorsText(board.rows(), clock.nowMs));
    return EXIT.ok;
  }
  const detail = board.detail(request.actor);
  if (detail === undefined) {
    terminal.report(`No actor "${request.actor}" at that moment of the recording`);
    return EXIT.notMet;
  }
  if (isJson) json(detail);
  else terminal.print(actorText(detail, clock.nowMs));
  return EXIT.ok;
};

/** Replays a recording, on the page or up to a moment. */
export const runReplay = async (
  request: ReplayRequest,
  terminal: Terminal,
  time: Time,
): Promise<ExitCode> => {
  const understood = asked(request);
  if (typeof understood === 'string') {
    terminal.report(understood);
    return EXIT.usage;
  }
  const clock = { nowMs: 0 };
  const now = { now: () => clock.nowMs };
  const board = understood.page === undefined
    ? makeActorBoard({ time: now, kinds: KINDS })
    : replayBoard(now);
  const playback: Playback = {
    asked: understood,
    time,
    terminal,
    clock,
    board,
    player: playerOn(board),
  };
  try {
    const page = understood.page &&
      await startLivePage({
        address: understood.page,
        board,
        title: `Tidegate · ${request.file}`,
        now: () => clock.nowMs,
        onDefect: (cause) => terminal.report(`Live page failed to render: ${defectText(cause)}`),
      });
    if (page !== undefined) terminal.report(`Replaying on ${page.url}`);
    const problems = await playOn(playback);
    if (page !== undefined) {
      terminal.report('End of the recording; Ctrl-C closes the page');
      await endingSignal();
      await page.close();
    }
    const code = page === undefined ? show(playback) : EXIT.ok;
    return code === EXIT.ok && problems > 0 ? EXIT.notMet : code;
  } catch (error) {
    terminal.report(`Cannot replay "${request.file}": ${failureSentence(error)}`);
    return EXIT.failure;
  }
};
