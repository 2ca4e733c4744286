/** The check of the cluster's version at start. */
import { describe, expect, it } from 'vitest';
import { versionOf } from '../../../src/effects/server-version.ts';

const version = (major: string, minor: string) => ({
  major,
  minor,
  gitVersion: `v${major}.${minor}.2`,
});

describe("the server's version", () => {
  it('is supported from Kubernetes 1.31 on', () => {
    expect(versionOf(200, version('1', '31'))._tag).toBe('Supported');
    expect(versionOf(200, version('1', '36+'))._tag).toBe('Supported');
    expect(versionOf(200, version('2', '0'))._tag).toBe('Supported');
  });

  it('is refused with one sentence when it is older', () => {
    expect(versionOf(200, version('1', '30'))).toEqual({
      _tag: 'TooOld',
      version: 'v1.30.2',
      why: 'Cannot use Kubernetes v1.30.2: 1.31 or newer is required',
    });
  });

  it('is unknown when the answer is not a version', () => {
    expect(versionOf(200, '<html>')._tag).toBe('Unknown');
    expect(versionOf(503, undefined)._tag).toBe('Unknown');
  });
});
