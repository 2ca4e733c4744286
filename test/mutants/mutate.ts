/**
 * `npm run mutate`: mutates sources, one small slip at a time, and runs the unit and model tests
 * that reach it.
 *
 * Promises: prints the share of caught mutations by room and every survivor with its place; the
 * same seed draws the same sample; what does not compile is not run; exit code 1 when the share is
 * below `--at-least`; with a journal a run goes on where the one before stopped.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { EQUIVALENT } from './equivalent.ts';
import { type InstrumentedSuite, instrumentedSuite } from './instrumented-suite.ts';
import { MutationJournal } from './mutation-journal.ts';
import { instrumented, type Mutation, mutationsIn } from './operators.ts';

import { ROOT } from './planted-bugs.ts';
import { ReachIndex } from './reach-index.ts';
import { rejectedByTypes } from './rejected-mutations.ts';

const HELP = `Usage: npm run mutate -- [options]

  --room=FOLDER      such as src/actors/node-drains; several times for several
  --changed[=REF]    only files that changed since REF (default HEAD)
  --sample=N         N mutations of each room, drawn by the seed; all without it
  --seed=N           of the sample; default 1
  --only=ID          this mutation, as the output names it; several times for several
  --tests=GLOB       only these test files; several times for several
  --journal=FILE     keep what is found there, and do not look for it again
  --again            try those again that survived, such as with other --tests
  --minutes=N        stop after N minutes; the journal has the rest of the way
  --at-least=SHARE   exit code 1 below this percentage
  --help             this text
`;

const ROOMS = ['src/actors', 'src/effects', 'src/streams', 'src/domain/drain'];
const PERCENT = 100;
const MINUTE_MS = 60_000;
/** So many test files are recorded before the journal is written. */
const AT_ONCE = 40;

/** One mutation of a file. */
interface Candidate {
  readonly id: string;
  readonly room: string;
  readonly file: string;
  readonly line: number;
  readonly mutation: Mutation;
}

/** A number for a text and a seed, evenly spread (FNV-1a with a final mix). */
const drawn = (text: string, seed: number): number => {
  let hash = 0x811c9dc5 ^ seed;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
};

const changedSince = (ref: string): ReadonlySet<string> =>
  new Set(
    execFileSync('git', ['diff', '--name-only', ref], { cwd: ROOT, encoding: 'utf8' }).split('\n'),
  );

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const candidatesIn = (room: string, file: string): readonly Candidate[] => {
  const text = textOf(file);
  return mutationsIn(file, text).map((mutation, index) => ({
    id: `${file}#${index}`,
    room,
    file,
    line: text.slice(0, mutation.start).split('\n').length,
    mutation,
  }));
};

const isEquivalent = ({ file, mutation }: Candidate): boolean =>
  EQUIVALENT.some((each) => each.file === file && each.what === mutation.what);

interface Choice {
  readonly rooms: readonly string[];
  readonly changed: string | undefined;
  readonly only: readonly string[] | undefined;
  readonly sample: number;
  readonly seed: number;
}

/** The candidates of each room, the sample of them. */
const chosen = (
  { rooms, changed, only, sample, seed }: Choice,
): readonly Candidate[] => {
  const isChanged = changed === undefined ? undefined : changedSince(changed);
  return rooms.flatMap((room) =>
    globSync(`${room}/**/*.ts`, { cwd: ROOT }).toSorted()
      .filter((file) => isChanged?.has(file) ?? true)
      .flatMap((file) => candidatesIn(room, file))
      .filter(({ id }) => only?.includes(id) ?? true)
      .filter((candidate) => !isEquivalent(candidate))
      .toSorted((left, right) => drawn(left.id, seed) - drawn(right.id, seed))
      .slice(0, sample)
  );
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Sample {
  /** Those that the type checker accepts. */
  readonly candidates: readonly Candidate[];
  /** The number of the others. */
  readonly rejected: number;
}

const compiling = (drawnOnes: readonly Candidate[]): Sample => {
  const rejected = rejectedByTypes(
    drawnOnes.map(({ id, file, mutation }) => ({ id, file, text: textOf(file), mutation })),
  );
  print(`${rejected.size} of ${drawnOnes.length} mutations do not compile, and are not run`);
  return {
    candidates: drawnOnes.filter(({ id }) => !rejected.has(id)),
    rejected: rejected.size,
  };
};

/** The sources with the chosen mutations, behind their questions. */
const sourcesOf = (candidates: readonly Candidate[]): ReadonlyMap<string, string> => {
  const byFile = Map.groupBy(candidates, ({ file }) => file);
  return new Map([...byFile].map(([file, own]) => {
    const ids = new Map(own.map(({ id, mutation }) => [mutation, id]));
    const inOrder = [...ids.keys()]
      .toSorted((left, right) => left.start - right.start || right.end - left.end);
    return [file, instrumented(textOf(file), inOrder, (mutation) => ids.get(mutation) ?? '')];
  }));
};

/** Of 95 % confidence, in standard deviations. */
const CONFIDENCE = 1.96;

/** Where the share of all mutations lies when this is that of a sample, in per cent (Wilson). */
const intervalOf = (caught: number, all: number): readonly [number, number] => {
  const share = caught / all;
  const squared = CONFIDENCE ** 2 / all;
  const middle = share + squared / 2;
  const width = Math.sqrt(squared * (share * (1 - share) + squared / 4));
  return [PERCENT * (middle - width) / (1 + squared), PERCENT * (middle + width) / (1 + squared)];
};

const shareOf = (caught: number, all: number): string => {
  if (all === 0) return '0 of 0';
  const [least, most] = intervalOf(caught, all).map((share) => share.toFixed(0));
  const share = (PERCENT * caught / all).toFixed(1);
  return `${caught} of ${all} (${share} %; with 95 % confidence ${least} to ${most} %)`;
};

/** Records the reach of each test file that the journal does not know. */
const addReach = async (
  journal: MutationJournal,
  all: readonly Candidate[],
  include: readonly string[] | undefined,
): Promise<void> => {
  const suite = await instrumentedSuite(sourcesOf(all), include);
  try {
    const unknown = suite.testFiles.filter((file) => journal.reachOf(file) === undefined);
    for (let at = 0; at < unknown.length; at += AT_ONCE) {
      const found = await suite.reached(unknown.slice(at, at + AT_ONCE));
      for (const reach of found) journal.addReach(reach);
      print(`${Math.min(at + AT_ONCE, unknown.length)} of ${unknown.length} test files recorded`);
    }
  } finally {
    await suite.close();
  }
};

/** A worker that a mutation keeps busy for ever lets neither itself nor the process exit. */
const ENDLESS_MS = 3 * MINUTE_MS;

interface Trial {
  readonly suite: InstrumentedSuite;
  readonly journal: MutationJournal;
  readonly isWanted: (candidate: Candidate) => boolean;
  /** When to stop, in ms since the epoch. */
  readonly until: number;
}

/** Tries those that are wanted; whether it came to the end. */
const tryAll = async (candidates: readonly Candidate[], trial: Trial): Promise<boolean> => {
  const { suite, journal, until } = trial;
  const reach = suite.testFiles.flatMap((file) => journal.reachOf(file) ?? []);
  for (const { testFile, fails } of reach) {
    if (fails) print(`not used, it fails by itself: ${testFile}`);
  }
  const index = new ReachIndex(reach.filter(({ fails }) => !fails));
  for (const [place, candidate] of candidates.entries()) {
    if (!trial.isWanted(candidate)) continue;
    if (Date.now() > until) return false;
    const { id, line, mutation } = candidate;
    const files = index.filesOf(id);
    const endless = setTimeout(() => {
      journal.addVerdict({ id, caughtBy: 'the clock', reachedBy: files.length });
      print(`${id} line ${line}: ${mutation.what}\n    does not end: run again, with this journal`);
      process.kill(process.pid, 'SIGKILL');
    }, ENDLESS_MS);
    const caughtBy = files.length === 0 ? null : await suite.caughtBy(id, files) ?? null;
    clearTimeout(endless);
    journal.addVerdict({ id, caughtBy, reachedBy: files.length });
    const survived = files.length === 0 ? 'NOT REACHED' : `SURVIVED ${files.length} files`;
    const verdict = caughtBy === null ? survived : `caught by ${caughtBy}`;
    print(`${place + 1}/${candidates.length} ${id} line ${line}: ${mutation.what}\n    ${verdict}`);
  }
  return true;
};

const { values } = parseArgs({
  args: process.argv.slice(2).map((flag) => flag === '--changed' ? '--changed=HEAD' : flag),
  options: {
    room: { type: 'string', multiple: true, default: ROOMS },
    changed: { type: 'string' },
    sample: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    tests: { type: 'string', multiple: true },
    journal: { type: 'string' },
    again: { type: 'boolean', default: false },
    minutes: { type: 'string', default: 'Infinity' },
    'at-least': { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});

/** Those that are to be tried, and what the journal is to know of the reach of tests. */
const candidatesOf = () => {
  const { room: rooms, changed, only } = values;
  const of = { rooms, changed, only, sample: Number(values.sample), seed: Number(values.seed) };
  const sample = compiling(chosen(of));
  if (values.journal === undefined) return { ...sample, all: sample.candidates };
  const all = chosen({
    ...of,
    rooms: ROOMS,
    changed: undefined,
    only: undefined,
    sample: Infinity,
  });
  return { ...sample, all };
};

/** Prints the survivors and the shares; the share of those that compile in per cent. */
const printFigures = (
  tried: readonly Candidate[],
  rejected: number,
  journal: MutationJournal,
): number => {
  const survivors = tried.filter(({ id }) => journal.verdictOf(id)?.caughtBy === null);
  print('\nSurvivors:');
  for (const { id, line, mutation } of survivors) {
    const isReached = journal.verdictOf(id)?.reachedBy !== 0;
    print(`  ${id} line ${line}: ${mutation.what}${isReached ? '' : ' (not reached)'}`);
  }
  print('Caught:');
  for (const [room, all] of Map.groupBy(tried, (candidate) => candidate.room)) {
    const survived = survivors.filter((candidate) => candidate.room === room).length;
    const byPeers = all.filter(({ id }) => {
      return journal.verdictOf(id)?.caughtBy?.startsWith('test/integration/') === true;
    }).length;
    const shared = byPeers === 0 ? '' : `, ${byPeers} of them by integration tests only`;
    print(`  ${room.padEnd(20)} ${shareOf(all.length - survived, all.length)}${shared}`);
  }
  const caught = tried.length - survivors.length;
  print(`  ${'in all'.padEnd(20)} ${shareOf(caught, tried.length)}`);
  if (rejected > 0) {
    print(
      `  ${'by the types too'.padEnd(20)} ${shareOf(caught + rejected, tried.length + rejected)}`,
    );
  }
  return tried.length === 0 ? PERCENT : PERCENT * caught / tried.length;
};

const main = async (): Promise<void> => {
  const until = Date.now() + Number(values.minutes) * MINUTE_MS;
  const { candidates, rejected, all } = candidatesOf();
  const journal = new MutationJournal(values.journal);
  const isWanted = ({ id }: Candidate): boolean => {
    const verdict = journal.verdictOf(id);
    return verdict === undefined || (values.again && verdict.caughtBy === null);
  };
  await addReach(journal, all, values.tests);
  const wanted = new Set(candidates.filter(isWanted));
  const suite = await instrumentedSuite(sourcesOf(candidates), values.tests);
  try {
    const trial = { suite, journal, isWanted: (each: Candidate) => wanted.has(each), until };
    if (!await tryAll(candidates, trial)) print('Stopped: the time is over');
  } finally {
    await suite.close();
  }
  const tried = candidates.filter(({ id }) => journal.verdictOf(id) !== undefined);
  const share = printFigures(tried, rejected, journal);
  process.exitCode = share < Number(values['at-least']) ? 1 : 0;
};

if (values.help) process.stdout.write(HELP);
else await main();
