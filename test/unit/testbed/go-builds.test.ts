/** The preparations of the test bed: its cache, its programs, its messages. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { binaries, unavailability } from '../../../tools/testbed/binaries.ts';
import { cacheFolder, isContinuousIntegration } from '../../../tools/testbed/environment.ts';
import {
  cacheKey,
  type GoModule,
  goProblem,
  readGoModule,
} from '../../../tools/testbed/go-builds.ts';

const MODULE: GoModule = {
  ...await readGoModule(),
  key: '0123456789abcdef',
  go: '1.26.0',
};

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidegate-go-builds-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A folder with a `go` that reports this version. */
const fakeGo = async (version: string): Promise<string> => {
  const script = `#!/bin/sh\necho "go version go${version} linux/amd64"\n`;
  await writeFile(join(folder, 'go'), script, { mode: 0o755 });
  return folder;
};

const withPath = (path: string) => ({ PATH: path, KUBEBUILDER_ASSETS: undefined });

describe('test bed cache', () => {
  it('has a key of 16 hex digits that changes with either lock file', () => {
    const key = cacheKey('go.mod', 'go.sum');
    expect(key).toMatch(/^[0-9a-f]{16}$/);
    expect(cacheKey('go.mod', 'go.sum')).toBe(key);
    expect(cacheKey('go.mod changed', 'go.sum')).not.toBe(key);
    expect(cacheKey('go.mod', 'go.sum changed')).not.toBe(key);
  });

  it('is in XDG_CACHE_HOME, or in ~/.cache without it', () => {
    expect(cacheFolder({ XDG_CACHE_HOME: '/somewhere' })).toBe('/somewhere/tidegate/testbed');
    expect(cacheFolder({})).toMatch(/\/\.cache\/tidegate\/testbed$/);
  });

  it('reads the versions of Go and Kubernetes from its go.mod', async () => {
    const module = await readGoModule();
    expect(module.go).toMatch(/^1\.\d+(\.\d+)?$/);
    expect(module.kubernetes).toBe('1.36.3');
  });
});

describe('test bed on a machine without a usable Go', () => {
  it('reports in one sentence what to install or set', async () => {
    expect(await goProblem(MODULE, withPath(folder))).toBe(
      'The test bed needs Go 1.26.0 or newer on PATH to build Kubernetes 1.36.3 (there is none): ' +
        'install it from https://go.dev/dl, or set KUBEBUILDER_ASSETS to a folder that holds ' +
        'etcd, kube-apiserver and kubectl',
    );
  });

  it.each(['1.25.9', '1.9.3', '1.25'])('names the Go %s that is too old', async (version) => {
    const path = await fakeGo(version);
    expect(await goProblem(MODULE, withPath(`${path}:/bin:/usr/bin`))).toContain(
      `(this is ${version})`,
    );
  });

  it.each(['1.26.0', '1.26.8', '1.27', '2.0.0'])('takes Go %s', async (version) => {
    const path = await fakeGo(version);
    expect(await goProblem(MODULE, withPath(`${path}:/bin:/usr/bin`))).toBeUndefined();
  });

  it('is unavailable when nothing was built before', async () => {
    const problem = await unavailability({ ...withPath(folder), XDG_CACHE_HOME: folder });
    expect(problem).toContain('install it from https://go.dev/dl');
  });
});

describe('test bed with KUBEBUILDER_ASSETS', () => {
  const everything = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager'];

  const assets = async (names: readonly string[]): Promise<string> => {
    const path = join(folder, 'assets');
    await mkdir(path);
    for (const name of names) await writeFile(join(path, name), '');
    return path;
  };

  it('uses existing programs', async () => {
    const path = await assets([...everything, 'kube-scheduler', 'kwok']);
    const found = await binaries(() => {}, { KUBEBUILDER_ASSETS: path });
    expect(found).toMatchObject({
      etcd: `${path}/etcd`,
      kubeApiserver: `${path}/kube-apiserver`,
      kubectl: `${path}/kubectl`,
      kubeControllerManager: `${path}/kube-controller-manager`,
      kwok: `${path}/kwok`,
      helm: undefined,
    });
    expect(await unavailability({ KUBEBUILDER_ASSETS: path })).toBeUndefined();
  });

  it('works without controllers when they neither exist nor can be built', async () => {
    const path = await assets(['etcd', 'kube-apiserver', 'kubectl']);
    const found = await binaries(() => {}, {
      KUBEBUILDER_ASSETS: path,
      PATH: folder,
      XDG_CACHE_HOME: folder,
    });
    expect(found.kubeControllerManager).toBeUndefined();
  });

  it('names the program that is missing', async () => {
    const path = await assets(['etcd', 'kubectl']);
    const env = { KUBEBUILDER_ASSETS: path, PATH: folder, XDG_CACHE_HOME: folder };
    expect(await unavailability(env)).toContain('has no kube-apiserver');
    await expect(binaries(() => {}, env)).rejects.toThrow(
      `KUBEBUILDER_ASSETS is "${path}", which has no kube-apiserver: put etcd, kube-apiserver, ` +
        'kubectl there, or unset it to build them with Go',
    );
  });
});

describe('continuous integration', () => {
  it.each([['true', true], ['1', true], ['', false], ['false', false], ['0', false]])(
    'with CI=%s is %s',
    (value, expected) => expect(isContinuousIntegration({ CI: value })).toBe(expected),
  );
  it('is off by default', () => expect(isContinuousIntegration({})).toBe(false));
});
