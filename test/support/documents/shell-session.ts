/**
 * A shell in which a person tries the documentation: what one block sets, the next one sees.
 *
 * Promises: every process that it started ends with it; a block that does not end in time ends the
 * shell, and is reported with all that it printed.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** How a block ended, and all that it printed. */
export interface BlockResult {
  readonly code: number;
  readonly output: string;
}

/** A shell that runs one block after another. */
export interface ShellSession {
  readonly run: (commands: string) => Promise<BlockResult>;
  readonly stop: () => Promise<void>;
}

const BLOCK_TIMEOUT_MS = 600_000;
const TIMED_OUT = 124;

/** Starts a shell in a folder, with variables added to those of this process. */
export const shellSession = async (
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<ShellSession> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-documents-'));
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    detached: true,
    env: { ...process.env, TMPDIR: folder, HOME: folder, ...variables },
  });
  const closed = new Promise<void>((resolve) => shell.once('close', () => resolve()));
  let printed = '';
  let notify = (): void => {};
  const end = (): void => {
    if (shell.pid === undefined) return;
    try {
      process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // All of its processes have ended.
    }
  };
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    notify();
  });
  shell.stdin.on('error', () => {});
  // A block fails with its last failure, also when its last command succeeds.
  shell.stdin.write("exec 2>&1\nset -E\ntrap 'failure=$?' ERR\n");
  let blocks = 0;
  return {
    run: async (commands) => {
      blocks += 1;
      const file = join(folder, `block-${blocks}.sh`);
      await writeFile(file, commands);
      const last = new RegExp(`^end-of-block-${blocks} (\\d+)$`, 'm');
      printed = '';
      const result = new Promise<BlockResult>((resolve) => {
        const timer = setTimeout(end, BLOCK_TIMEOUT_MS);
        notify = () => {
          const found = last.exec(printed);
          if (found === null) return;
          clearTimeout(timer);
          resolve({ code: Number(found[1]), output: printed.slice(0, found.index) });
        };
        void closed.then(() => resolve({ code: TIMED_OUT, output: printed }));
      });
      const printEnd = `printf '\\nend-of-block-${blocks} %s\\n' "$failure"`;
      shell.stdin.write(`failure=0\n. ${file} < /dev/null\n${printEnd}\n`);
      return await result;
    },
    stop: async () => {
      end();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
