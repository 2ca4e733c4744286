/** `tidegate explain` as a person runs it. */
import { expect } from 'vitest';
import type { Testbed } from '../api/testbed.ts';
import { startTidegate } from './tidegate-process.ts';

/** What it prints about an object that is there. Must be called inside a test. */
export const explained = async (bed: Testbed, ...asked: readonly string[]): Promise<string> => {
  const explain = startTidegate({
    name: 'explain',
    args: ['explain', ...asked, `--kubeconfig=${bed.kubeconfig}`],
  });
  expect(await explain.exited).toBe(0);
  return explain.logs().map(({ msg }) => msg).join('\n');
};
