/** The error for a package that is not installed. */
import { describe, expect, test } from 'vitest';
import { loadOnDemand, PackageMissing } from '../../../src/domain/package-missing.ts';

const NOWHERE = '@tidegate/not-there';

describe('a package loaded on demand', () => {
  test('gives its exports', async () => {
    const path = await loadOnDemand('join', 'path@1', () => import('node:path'));
    expect(path.join('a', 'b')).toBe('a/b');
  });

  test('is named when it is missing, with the install command', async () => {
    const loading = loadOnDemand('run "x"', `${NOWHERE}@1.2.3`, () => import(NOWHERE));
    await expect(loading).rejects.toThrow(PackageMissing);
    await expect(loading).rejects.toThrow(
      'Cannot run "x": package "@tidegate/not-there" is not installed; ' +
        'install it with "npm install @tidegate/not-there@1.2.3"',
    );
  });

  test('is named without a version when it has none', () => {
    expect(new PackageMissing('draw', 'elkjs').message).toBe(
      'Cannot draw: package "elkjs" is not installed; install it with "npm install elkjs"',
    );
  });

  test('passes other failures through', async () => {
    const broken = new Error('broken');
    await expect(loadOnDemand('run', 'x@1', () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
