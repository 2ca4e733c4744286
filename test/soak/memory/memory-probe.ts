/**
 * Preloaded into a process under measurement: writes one line of figures for every SIGUSR2.
 *
 * Promises: the figures follow two forced collections, with a turn of the event loop between them
 * for finalizers; it holds no server, timer or socket, so that it adds nothing to what it counts.
 */
import { readdirSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import process from 'node:process';
import { getHeapSpaceStatistics } from 'node:v8';

const STDOUT = 1;

const countsOf = (names: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

/** Without the descriptor that reads the folder itself. */
const openFiles = (): number => readdirSync('/proc/self/fd').length - 1;

/** Where V8 keeps bytecode and machine code: it compiles for as long as functions become hot. */
const CODE_SPACES = ['code', 'trusted'];

const codeUsed = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name: name }) => CODE_SPACES.some((space) => name.startsWith(space)))
    .reduce((bytes, { space_used_size: used }) => bytes + used, 0);

/** Of this process itself: no port is opened. Collects more than `gc` does, code included. */
const session = new Session();
session.connect();

const collect = (then: () => void): void => {
  session.post('HeapProfiler.collectGarbage', then);
};

const report = (): void => {
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = countsOf(process.getActiveResourcesInfo());
  const memory = { heapUsed, codeUsed: codeUsed(), external, rss, files: openFiles(), resources };
  writeSync(STDOUT, `${JSON.stringify({ memory })}\n`);
};

process.on('SIGUSR2', () => {
  collect(() => setImmediate(() => collect(report)));
});
