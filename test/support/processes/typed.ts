/**
 * A command with a terminal of its own: `script` of util-linux makes it, and types out what the
 * command writes to it.
 */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { tidegateCommand } from './program.ts';

const { file, args } = tidegateCommand();

/** The command line of `tidegate`, for a shell. */
export const TIDEGATE = [file, ...args].join(' ');

/** Switches to the alternate screen, and back (xterm, mode 1049). */
export const ALTERNATE_SCREEN = { on: '\u001b[?1049h', off: '\u001b[?1049l' };

/** What a command of a shell writes to a terminal of 90 columns; `folder` is its TMPDIR. */
export const typedBy = async (command: string, folder: string): Promise<string> => {
  const child = spawn('script', ['-qec', `stty cols 90 rows 30; ${command}`, '/dev/null'], {
    env: { ...process.env, TMPDIR: folder, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return Buffer.concat(chunks).toString('utf8');
};

/** Sequences that move the cursor, scroll or erase (ECMA-48); colours are none of them. */
// deno-lint-ignore no-control-regex
const MOVES = /\u001b(?:\[[0-9;?]*[A-HJKSTdf]|[78cDM])/g;

/** What harms the scrollback in what was typed; empty when all of it is as before. */
export const scrollbackHarm = (typed: string): readonly string[] => {
  const [before = '', ...screens] = typed.split(ALTERNATE_SCREEN.on);
  const closed = screens.map((screen) => screen.split(ALTERNATE_SCREEN.off));
  const elsewhere = [before, ...closed.map(([, ...after]) => after.join(''))].join('');
  return [
    ...closed.flatMap((parts) => parts.length === 2 ? [] : ['an alternate screen is not left']),
    ...(typed.includes('\u001b[3J') ? ['the scrollback is erased'] : []),
    ...(elsewhere.match(MOVES) ?? []).map((code) => `${JSON.stringify(code)} outside of it`),
    ...(typed.lastIndexOf('\u001b[?25l') > typed.lastIndexOf('\u001b[?25h')
      ? ['the cursor stays hidden']
      : []),
  ];
};
