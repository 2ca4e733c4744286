/**
 * A thousand open EvictionRequests of fifteen interceptors each, on simulated time: how long after
 * their deadlines they are handed over, with the default write budget.
 *
 * Not measured: a real API server and the processor. Of the times only the latency of the simulated
 * network, 1 to 15 ms each way, and the write budget are real.
 */
import process from 'node:process';
import { mixedCrowd, requestCrowd } from '../simulation/request-crowd.ts';
import { duration, print, printFigure } from './measurement.ts';

const INTERCEPTORS = 15;
const DEADLINE_MS = 1_200_000;
const QPS = 200;
const BURST = 400;

/** Measures and prints. */
export const benchHandOvers = async (requests: number): Promise<void> => {
  const crowd = requestCrowd({
    requests,
    interceptors: INTERCEPTORS,
    heartbeatsOf: mixedCrowd,
    qps: QPS,
    burst: BURST,
  });
  const before = process.cpuUsage();
  crowd.create();
  crowd.start();
  await crowd.time.advance((INTERCEPTORS + 1.9) * DEADLINE_MS);
  const { user, system } = process.cpuUsage(before);
  await crowd.stop();
  const { history } = crowd;
  const lateMs = history.handOvers
    .flatMap(({ atMs, deadlineMs }) => deadlineMs === null ? [] : [atMs - deadlineMs])
    .toSorted((left, right) => left - right);
  const share = (part: number): string =>
    duration(lateMs[Math.ceil(part * lateMs.length) - 1] ?? 0);
  print();
  print(`${requests} EvictionRequests with ${INTERCEPTORS} interceptors each, made at one moment`);
  printFigure('hand-overs by deadline', String(lateMs.length));
  printFigure('median after the deadline', share(0.5));
  printFigure('99 of 100', share(0.99));
  printFigure('the latest', share(1), 'of 1 s, the aim');
  printFigure('writes of the status', String(history.writes()));
  printFigure('the most of one request within a second', String(history.mostInASecond()));
  printFigure('processor time, the embedded cluster included', duration((user + system) / 1000));
};
