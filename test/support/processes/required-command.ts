/** Commands that must succeed, and folders that go with the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { inRepository } from './program.ts';

/** An empty folder, removed when the test has finished. */
export const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-package-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Runs a command to its end and gives what it printed; the test fails when the command does. */
export const must = async (...command: Parameters<typeof runCommand>): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(...command);
  expect(code, `${command[0]}: ${stderr}`).toBe(0);
  return stdout;
};

/** The folder with the pinned runtimes. */
export const NODE = dirname(inRepository('node_modules/.bin/node'));
