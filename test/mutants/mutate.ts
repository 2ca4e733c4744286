/**
 * `npm run mutate`: mutates sources, one small slip at a time, and runs the unit and model tests
 * that reach it.
 *
 * Promises: prints the share of caught mutations by room and every survivor with its place; the
 * same seed draws the same sample; exit code 1 when the share is below `--at-least`.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { instrumentedSuite } from './instrumented-suite.ts';
import { instrumented, type Mutation, mutationsIn } from './operators.ts';
import { ROOT } from './planted-bugs.ts';

const HELP = `Usage: npm run mutate -- [options]

  --room=FOLDER      such as src/actors/node-drains; several times for several
  --changed[=REF]    only files that changed since REF (default HEAD)
  --sample=N         N mutations of each room, drawn by the seed; all without it
  --seed=N           of the sample; default 1
  --tests=GLOB       only these test files; several times for several
  --at-least=SHARE   exit code 1 below this percentage
  --help             this text
`;

const ROOMS = ['src/actors', 'src/effects', 'src/streams', 'src/domain/drain'];
const PERCENT = 100;

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

/** A mutation that no test catches. */
interface Survivor extends Candidate {
  /** How many test files reach it. */
  readonly reachedBy: number;
}

interface Choice {
  readonly rooms: readonly string[];
  readonly changed: string | undefined;
  readonly sample: number;
  readonly seed: number;
}

/** The candidates of each room, the sample of them. */
const chosen = ({ rooms, changed, sample, seed }: Choice): readonly Candidate[] => {
  const isChanged = changed === undefined ? undefined : changedSince(changed);
  return rooms.flatMap((room) =>
    globSync(`${room}/**/*.ts`, { cwd: ROOT }).toSorted()
      .filter((file) => isChanged?.has(file) ?? true)
      .flatMap((file) => candidatesIn(room, file))
      .toSorted((left, right) => drawn(left.id, seed) - drawn(right.id, seed))
      .slice(0, sample)
  );
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

const shareOf = (caught: number, all: number): string =>
  `${caught} of ${all} (${(all === 0 ? PERCENT : PERCENT * caught / all).toFixed(1)} %)`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs all; returns the survivors. */
const run = async (
  candidates: readonly Candidate[],
  tests: readonly string[] | undefined,
): Promise<readonly Survivor[]> => {
  const suite = await instrumentedSuite(sourcesOf(candidates), tests);
  try {
    const { filesOf, failing } = await suite.reached();
    for (const file of failing) print(`not used, it fails by itself: ${file}`);
    const survivors: Survivor[] = [];
    for (const [index, candidate] of candidates.entries()) {
      const { id, file, line, mutation } = candidate;
      const files = filesOf.get(id) ?? [];
      const by = files.length === 0 ? undefined : await suite.caughtBy(id, files);
      if (by === undefined) survivors.push({ ...candidate, reachedBy: files.length });
      const survived = files.length === 0 ? 'NOT REACHED' : `SURVIVED ${files.length} files`;
      const verdict = by === undefined ? survived : `caught by ${by}`;
      print(`${index + 1}/${candidates.length} ${file}:${line} ${mutation.what}\n    ${verdict}`);
    }
    return survivors;
  } finally {
    await suite.close();
  }
};

const { values } = parseArgs({
  args: process.argv.slice(2).map((flag) => flag === '--changed' ? '--changed=HEAD' : flag),
  options: {
    room: { type: 'string', multiple: true, default: ROOMS },
    changed: { type: 'string' },
    sample: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true },
    'at-least': { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else {
  const candidates = chosen({
    rooms: values.room,
    changed: values.changed,
    sample: Number(values.sample),
    seed: Number(values.seed),
  });
  const survivors = await run(candidates, values.tests);
  print('\nSurvivors:');
  for (const { file, line, mutation, reachedBy } of survivors) {
    print(`  ${file}:${line} ${mutation.what}${reachedBy === 0 ? ' (not reached)' : ''}`);
  }
  print('Caught:');
  for (const [room, all] of Map.groupBy(candidates, (candidate) => candidate.room)) {
    const survived = survivors.filter((candidate) => candidate.room === room).length;
    print(`  ${room.padEnd(20)} ${shareOf(all.length - survived, all.length)}`);
  }
  const caught = candidates.length - survivors.length;
  print(`  ${'in all'.padEnd(20)} ${shareOf(caught, candidates.length)}`);
  const share = candidates.length === 0 ? PERCENT : PERCENT * caught / candidates.length;
  process.exitCode = share < Number(values['at-least']) ? 1 : 0;
}
