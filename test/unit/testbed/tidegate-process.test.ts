/** The program as a separate process, for end-to-end tests. */
import { describe, expect, it } from 'vitest';
import {
  type Runtime,
  startTidegate,
  type TidegateProcess,
} from '../../support/processes/tidegate-process.ts';

const RUNTIMES: readonly Runtime[] = ['node', 'deno'];

describe.each(RUNTIMES)('startTidegate under %s', (runtime) => {
  it('keeps the output of the program and its exit code', async () => {
    const child = startTidegate({ name: 'version', args: ['--version'], runtime });
    expect(await child.exited).toBe(0);
    expect(child.logs()).toEqual([{ msg: expect.stringMatching(/^tidegate v?\d/) }]);
  });

  it('does not wait for output of an ended program', async () => {
    const child = startTidegate({ name: 'version', args: ['--version'], runtime });
    await expect(child.untilLog(() => false, { what: 'more' })).rejects.toThrow('it has ended');
  });
});

describe('startTidegate', () => {
  let kept: TidegateProcess | undefined;

  it('runs while its test does', () => {
    const args = ['fleet', '--listen=127.0.0.1:0', '--script-listen=0'];
    kept = startTidegate({ name: 'fleet', args });
    expect(kept.isRunning()).toBe(true);
  });

  it('ends with its test', () => expect(kept?.isRunning()).toBe(false));
});
