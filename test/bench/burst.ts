/**
 * The overhead of observing a busy operator: ten thousand pods arrive in bursts and become demand
 * in a real `tidegate pods`: alone, alone again, with `--record`, and with its live page open. The
 * four processes run side by side and take their bursts in turn, because a machine's speed changes
 * over minutes; rounds start new processes, because a process may be fast or slow for its whole
 * life. Pairs are compared within a round: the difference of two equal runs is the noise. On a busy
 * machine the cost of an event, measured in slices of milliseconds, is more precise.
 *
 * The bench itself opens the page's two event streams: a browser on the same cores would be
 * measured instead of the page's cost to the operator.
 *
 * Not measured: a disk that is slower than the recording grows, and a network.
 */
import { readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { recordEntry } from '../../src/api/actor-record.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { eventually } from '../support/eventually.ts';
import { endChild, processorMs } from './bench-process.ts';
import { type EventCosts, eventCosts } from './event-cost.ts';
import { duration, mebibytes, median, print, printFigure, sum } from './measurement.ts';
import { startPodCluster, startPodsProcess } from './pods-process.ts';

const PODS = 10_000;
/** The first pods find a process that is not warm yet: they do not count. */
const WARMING_PODS = 2_000;
const BURSTS = 8;
const ROUNDS = 12;
/** Longer than a recorder or a page buffers. */
const IDLE_MS = 150;
const PATIENCE_MS = 120_000;
const RECORDING = 'recording.jsonl';
/** The first pod of the cluster, whose page is open. */
const WATCHED = 'podDemand/00000000-0000-4000-8000-000000000000';

const VARIANTS = ['alone', 'alone again', 'recorded', 'served'] as const;
type Variant = typeof VARIANTS[number];

interface Burst {
  readonly ms: number;
  readonly processorMs: number;
}

/** Reads an event stream until `close`; counts its bytes and events. */
const reading = async (url: string) => {
  let bytes = 0;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, resolve).once('error', reject);
  });
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  response.on('error', () => {});
  return { bytes: () => bytes, close: () => void response.destroy() };
};

/** The streams of an open page. */
const openedPage = async (port: number) => {
  const page = `http://127.0.0.1:${port}/live`;
  const streams = [await reading(page), await reading(`${page}?actor=${WATCHED}`)];
  return {
    bytes: () => sum(streams.map((stream) => stream.bytes())),
    close: () => streams.forEach(({ close }) => close()),
  };
};

/** The size of a recording, its lines and its dropped lines. */
const recordingIn = async (file: string) => {
  const text = await readFile(file, 'utf8');
  const entries = text.trimEnd().split('\n').map(recordEntry);
  const gaps = entries.flatMap((entry) => entry._tag === 'Gap' ? [entry.gap.lost] : []);
  return {
    lines: entries.length,
    lost: sum(gaps),
    bytes: text.length,
  };
};

type Page = Awaited<ReturnType<typeof openedPage>>;

interface Tried extends Burst {
  /** The figures of one kind of observer. */
  readonly note: string;
  /** Events in the recording. */
  readonly events: number;
}

/** A process's remaining work for one burst must not fall into the next. */
const untilIdle = async (pid: number): Promise<void> => {
  let last = -1;
  await eventually(async () => {
    const before = last;
    last = await processorMs(pid);
    return last === before;
  }, { what: 'the role to be idle', timeoutMs: PATIENCE_MS, everyMs: IDLE_MS });
};

/** An operator with one kind of observer and its own cluster. */
const openRun = async (variant: Variant) => {
  const cluster = await startPodCluster(PODS, 'later');
  const port = await freePort();
  const role = await startPodsProcess({
    api: cluster.port,
    flags: (folder) => [
      ...(variant === 'recorded' ? [`--record=${join(folder, RECORDING)}`] : []),
      ...(variant === 'served' ? [`--inspect-addr=127.0.0.1:${port}`] : []),
    ],
  });
  const pid = role.child.pid ?? 0;
  let page: Page | undefined;
  let bursts = 0;
  const looked = async (): Promise<Pick<Tried, 'note' | 'events'>> => {
    if (page !== undefined) return { note: `${mebibytes(page.bytes())} told to it`, events: 0 };
    if (variant !== 'recorded') return { note: '', events: 0 };
    const { lines, lost, bytes } = await recordingIn(join(role.folder, RECORDING));
    return { note: `${lines} lines, ${mebibytes(bytes)}, ${lost} left out`, events: lines };
  };
  return {
    variant,
    looked,
    /** Resolves when it is at work and looked on. */
    ready: async (): Promise<void> => {
      await eventually(role.isReady, { what: 'the role to be ready', timeoutMs: PATIENCE_MS });
      if (variant === 'served') page = await openedPage(port);
    },
    /** So far. */
    processorMs: () => processorMs(pid),
    /** Releases pods; returns the milliseconds until all of them have their requests. */
    burst: async (pods: number): Promise<number> => {
      const startMs = realTime.monotonic();
      cluster.burst(pods);
      bursts += 1;
      await eventually(() => cluster.completions() >= bursts, {
        what: 'the requests of all pods',
        timeoutMs: PATIENCE_MS,
        everyMs: 10,
        hopeless: () => role.child.exitCode === null ? undefined : 'the role has ended',
      });
      const ms = realTime.monotonic() - startMs;
      await untilIdle(pid);
      return ms;
    },
    end: async (): Promise<void> => {
      page?.close();
      await role.end();
      endChild(cluster.child);
    },
  };
};

type Run = Awaited<ReturnType<typeof openRun>>;

/** The throughput beside a run alone, in percent: more time is less of it. */
const beside = (alone: number, looked: number): number => alone / looked * 100;

const percent = (figures: readonly number[]): readonly [middle: string, ends: string] => [
  `${median(figures).toFixed(1)} %`,
  `${Math.min(...figures).toFixed(1)} to ${Math.max(...figures).toFixed(1)} %`,
];

type Round = Readonly<Record<Variant, Tried>>;

/**
 * A Latin square: each item equally often in each position; every other row is reversed, so that no
 * item always follows the same one.
 */
const inTurn = <Item>(items: readonly Item[], turn: number): readonly Item[] => {
  const at = turn % items.length;
  const turned = [...items.slice(at), ...items.slice(0, at)];
  return Math.floor(turn / items.length) % 2 === 0 ? turned : turned.toReversed();
};

const tried = async (runs: readonly Run[], turn: number): Promise<ReadonlyMap<Variant, Tried>> => {
  for (const run of runs) {
    await run.ready();
    await run.burst(WARMING_PODS);
  }
  const warm = new Map<Variant, number>();
  for (const run of runs) warm.set(run.variant, await run.processorMs());
  const clocks = new Map<Variant, number>();
  for (let burst = 0; burst < BURSTS; burst += 1) {
    for (const run of inTurn(runs, turn + burst)) {
      const ms = await run.burst((PODS - WARMING_PODS) / BURSTS);
      clocks.set(run.variant, (clocks.get(run.variant) ?? 0) + ms);
    }
  }
  const byVariant = new Map<Variant, Tried>();
  for (const run of runs) {
    byVariant.set(run.variant, {
      ms: clocks.get(run.variant) ?? 0,
      processorMs: await run.processorMs() - (warm.get(run.variant) ?? 0),
      ...await run.looked(),
    });
  }
  return byVariant;
};

const round = async (turn: number): Promise<Round> => {
  const runs: Run[] = [];
  try {
    for (const variant of inTurn(VARIANTS, turn)) runs.push(await openRun(variant));
    const byVariant = await tried(runs, turn);
    const of = (variant: Variant): Tried =>
      byVariant.get(variant) ?? { ms: 0, processorMs: 0, note: '', events: 0 };
    return {
      alone: of('alone'),
      'alone again': of('alone again'),
      recorded: of('recorded'),
      served: of('served'),
    };
  } finally {
    await Promise.all(runs.map(({ end }) => end()));
  }
};

/** The baseline of a variant: both plain runs of its round; for the second of them the first. */
const aloneOf = (round: Round, variant: Variant, figure: keyof Burst): number =>
  variant === 'alone again'
    ? round.alone[figure]
    : (round.alone[figure] + round['alone again'][figure]) / 2;

const printVariant = (rounds: readonly Round[], variant: Variant): void => {
  const pods = PODS - WARMING_PODS;
  const ms = median(rounds.map((one) => one[variant].ms));
  const used = median(rounds.map((one) => one[variant].processorMs));
  print(`  ${variant}`);
  printFigure(
    '  pods a second',
    String(Math.round(pods / ms * 1000)),
    rounds.at(-1)?.[variant].note,
  );
  printFigure('  processor time, all threads', duration(used));
  if (variant === 'alone') return;
  for (const [what, figure] of [['processor time', 'processorMs'], ['the clock', 'ms']] as const) {
    const shares = rounds.map((one) => beside(aloneOf(one, variant, figure), one[variant][figure]));
    const [middle, ends] = percent(shares);
    printFigure(`  throughput beside alone, by ${what}`, middle, ends);
    const together = beside(
      sum(rounds.map((one) => aloneOf(one, variant, figure))),
      sum(rounds.map((one) => one[variant][figure])),
    );
    printFigure('    all rounds together', `${together.toFixed(1)} %`);
  }
};

/** A share of the burst that is finer than its rounds: events a pod, by what looking on adds. */
const printEventCosts = (costs: EventCosts, rounds: readonly Round[]): void => {
  const podUs = median(rounds.map(({ alone }) => alone.processorMs)) * 1000 /
    (PODS - WARMING_PODS);
  const events = median(rounds.map(({ recorded }) => recorded.events)) / PODS;
  print(`  an event of an actor, of which a pod has ${events.toFixed(1)}`);
  printFigure('  alone', `${costs.alone.toFixed(1)} µs`);
  for (const variant of ['recorded', 'served'] as const) {
    const more = costs[variant] - costs.alone;
    const share = more * events / podUs * 100;
    printFigure(`  more when it is ${variant}`, `${more.toFixed(1)} µs`);
    printFigure('    of what a pod costs the operator', `${share.toFixed(1)} %`, 'aim: below 5 %');
  }
};

/** Measures and prints. */
export const benchBurst = async (): Promise<void> => {
  print();
  print(
    `Burst, ${PODS} pods become demand; medians of ${ROUNDS} rounds (aim: 95 % of the throughput)`,
  );
  const rounds: Round[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) rounds.push(await round(turn));
  for (const variant of VARIANTS) printVariant(rounds, variant);
  printEventCosts(await eventCosts(), rounds);
};
