/**
 * `tidegate drain NODE` beside `kubectl drain NODE` on random small clusters: the same pods gone,
 * the same left, the same exit code, requests and time.
 *
 * Not measured: the start of a process of ours (the command runs in this one, kubectl in its own),
 * real kubelets, a network. The operator's requests are printed beside those of the command,
 * because kubectl needs no operator.
 */
import process from 'node:process';
import { binaries } from '../../tools/testbed/binaries.ts';
import {
  drainByKubectl,
  drainByTidegate,
  type DrainRun,
  outcomeOf,
} from '../support/drains/drain-comparison.ts';
import { drainCase } from '../support/drains/drain-cases.ts';
import { duration, print, printFigure, sum } from './measurement.ts';

const FIRST_SEED = 1000;

interface Pair {
  readonly seed: number;
  readonly theirs: DrainRun;
  readonly ours: DrainRun;
}

const share = (ours: number, theirs: number): string => (ours / theirs).toFixed(2);

const printPairs = (title: string, pairs: readonly Pair[]): void => {
  if (pairs.length === 0) return;
  const total = (figureOf: (pair: Pair) => number): number => sum(pairs.map(figureOf));
  const theirs = total(({ theirs }) => theirs.requests.length);
  const ours = total(({ ours }) => ours.requests.length);
  const operator = total(({ ours }) => ours.operatorRequests);
  const [theirMs, ourMs] = [total(({ theirs }) => theirs.ms), total(({ ours }) => ours.ms)];
  print(`${title}: ${pairs.length} clusters`);
  printFigure(
    '  requests of kubectl and of tidegate',
    `${theirs}, ${ours}`,
    `ratio ${share(ours, theirs)}; with the operator's ${operator}: ` +
      share(ours + operator, theirs),
  );
  printFigure(
    '  time of kubectl and of tidegate',
    `${duration(theirMs)}, ${duration(ourMs)}`,
    `ratio ${share(ourMs, theirMs)}`,
  );
};

/** Compares both on so many clusters, and fails when they differ. */
export const benchDrainNode = async (count: number): Promise<void> => {
  print('tidegate drain beside kubectl drain');
  const { kubectl } = await binaries(() => {});
  const pairs: Pair[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + count; seed += 1) {
    const asked = drainCase(seed);
    const theirs = await drainByKubectl(asked, kubectl);
    const ours = await drainByTidegate(asked);
    const [wanted, got] = [JSON.stringify(outcomeOf(theirs)), JSON.stringify(outcomeOf(ours))];
    if (wanted !== got) {
      print(`seed ${seed} differs: kubectl ${wanted}, tidegate ${got}`);
      process.exitCode = 1;
    }
    pairs.push({ seed, theirs, ours });
  }
  const evicted = ({ theirs }: Pair): number => theirs.output.split(' evicted\n').length - 1;
  const ended = pairs.filter(({ theirs }) => theirs.code === 0);
  printPairs('all', pairs);
  printPairs('refused, or given up', pairs.filter(({ theirs }) => theirs.code !== 0));
  printPairs('drained, no pod evicted', ended.filter((pair) => evicted(pair) === 0));
  printPairs(
    'drained, 1 to 3 pods evicted',
    ended.filter((pair) => [1, 2, 3].includes(evicted(pair))),
  );
  printPairs('drained, more pods evicted', ended.filter((pair) => evicted(pair) > 3));
};
