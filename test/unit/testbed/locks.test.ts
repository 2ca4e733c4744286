/** The lock between builders. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { locked } from '../../../tools/testbed/locks.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidegate-locks-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('locked', () => {
  it('lets one in at a time', async () => {
    const path = join(folder, 'lock');
    let inside = 0;
    let most = 0;
    const visit = () =>
      locked(path, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await readFile(path);
        inside -= 1;
      });
    await Promise.all([visit(), visit()]);
    expect(most).toBe(1);
  });

  it('is free again after a failure, which it passes on', async () => {
    const path = join(folder, 'lock');
    const failing = locked(path, () => Promise.reject(new Error('no disk')));
    await expect(failing).rejects.toThrow('no disk');
    expect(await locked(path, () => Promise.resolve('in'))).toBe('in');
  });

  it('is taken over from a dead process', async () => {
    const path = join(folder, 'lock');
    const { stdout } = await runCommand('sh', ['-c', 'echo $$']);
    await writeFile(path, stdout.trim());
    expect(await locked(path, () => Promise.resolve('in'))).toBe('in');
  });
});
