/**
 * Builds programs of the test bed's Go modules, once, into a cache directory.
 *
 * Promises: cached programs are complete (built beside the cache and renamed into place), and a
 * machine without a usable Go gets one message that says what to install or set.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { realTime } from '../../src/effects/real-time.ts';
import { runCommand } from './commands.ts';
import { cacheFolder, type Environment, environment } from './environment.ts';
import { locked } from './locks.ts';
import { supervise } from './processes.ts';

/** Receives progress messages, a line at a time. */
export type Print = (line: string) => void;

/** Progress on stderr, so that stdout stays free for results. */
export const printOnStderr: Print = (line) => {
  process.stderr.write(`testbed: ${line}\n`);
};

/** The machine lacks a dependency of the test bed; the message names the remedy. */
export class TestbedUnavailable extends Error {
  override readonly name = 'TestbedUnavailable';
}

/** The folder of the Go module with the control plane. */
export const moduleFolder = dirname(fileURLToPath(import.meta.url));

/** Where a module is, and contents of its lock. */
export interface GoModule {
  readonly folder: string;
  /** The first 16 hex digits of SHA-256 over go.mod and go.sum. */
  readonly key: string;
  /** The minimum Go version, such as `1.26.0`. */
  readonly go: string;
  /** What is built from it, such as `Kubernetes 1.36.3`. */
  readonly product: string;
  /** What helps on a machine without Go, if anything does. */
  readonly instead: string;
}

/** The module with the control plane. */
export interface ControlPlaneModule extends GoModule {
  /** The Kubernetes release that is built, such as `1.36.3`. */
  readonly kubernetes: string;
}

/** The cache key of a module with these two files. */
export const cacheKey = (goMod: string, goSum: string): string =>
  createHash('sha256').update(goMod).update(goSum).digest('hex').slice(0, 16);

const found = (text: string, pattern: RegExp): string => {
  const [, first] = pattern.exec(text) ?? [];
  if (first === undefined) throw new Error(`Cannot read go.mod of the test bed: no ${pattern}`);
  return first;
};

/** The module in a folder, and the version of the required module that `release` finds. */
export const readModule = async (
  folder: string,
  { name, release }: { readonly name: string; readonly release: RegExp },
): Promise<GoModule & { readonly version: string }> => {
  const goMod = await readFile(join(folder, 'go.mod'), 'utf8');
  const goSum = await readFile(join(folder, 'go.sum'), 'utf8');
  const version = found(goMod, release);
  return {
    folder,
    key: cacheKey(goMod, goSum),
    go: found(goMod, /^go (\S+)$/m),
    product: `${name} ${version}`,
    instead: '',
    version,
  };
};

const ASSETS_REMEDY =
  ', or set KUBEBUILDER_ASSETS to a folder that holds etcd, kube-apiserver and kubectl';

/** Reads go.mod and go.sum of the control plane. */
export const readGoModule = async (): Promise<ControlPlaneModule> => {
  const { version, ...module } = await readModule(moduleFolder, {
    name: 'Kubernetes',
    release: /^\s*k8s\.io\/kubernetes v(\S+)/m,
  });
  return { ...module, kubernetes: version, instead: ASSETS_REMEDY };
};

const versionNumbers = (version: string): readonly number[] =>
  version.split('.').map((part) => Number.parseInt(part, 10) || 0);

const isOlder = (version: string, than: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = versionNumbers(version);
  const [wantMajor = 0, wantMinor = 0, wantPatch = 0] = versionNumbers(than);
  if (major !== wantMajor) return major < wantMajor;
  return minor === wantMinor ? patch < wantPatch : minor < wantMinor;
};

/** Why this machine's Go will not do, in one sentence, or `undefined` when it will. */
export const goProblem = async (
  module: GoModule,
  env: Environment = environment,
): Promise<string | undefined> => {
  const { code, stdout } = await runCommand('go', ['version'], { cwd: module.folder, env });
  const [, version] = /go version go(\S+)/.exec(stdout) ?? [];
  if (code === 0 && version !== undefined && !isOlder(version, module.go)) return undefined;
  const has = version === undefined ? 'there is none' : `this is ${version}`;
  return `The test bed needs Go ${module.go} or newer on PATH to build ${module.product} (${has}): ` +
    `install it from https://go.dev/dl${module.instead}`;
};

const PROGRESS_EVERY_MS = 20_000;

/** Reports periodically that `what` is still running; returns the function that stops it. */
const keepPrinting = (what: string, print: Print): () => void => {
  const started = realTime.monotonic();
  let cancel: () => void;
  const again = (): void => {
    cancel = realTime.schedule(PROGRESS_EVERY_MS, () => {
      print(`${what}, ${Math.round((realTime.monotonic() - started) / 1000)} s so far`);
      again();
    });
  };
  again();
  return () => cancel();
};

/** The network and cache settings of a build. */
export interface BuildEnvironment {
  readonly print: Print;
  readonly env: Environment;
}

/** A build: of which module and packages, its name while it runs, and the compiler's flags. */
export interface Build {
  readonly module: GoModule;
  readonly what: string;
  readonly packages: string;
  readonly linker: string;
  /** Build tags, separated by commas. */
  readonly tags?: string;
  /** Programs to call something else than Go does, which names them after their package. */
  readonly renamed?: Readonly<Record<string, string>>;
}

const goBuild = async (
  build: Build,
  into: string,
  { print, env }: BuildEnvironment,
): Promise<void> => {
  print(build.what);
  const done = keepPrinting(build.what, print);
  const complaints: string[] = [];
  const compiler = supervise({
    name: 'go build',
    file: 'go',
    args: [
      ...['build', '-o', `${into}/`, '-ldflags', build.linker],
      ...(build.tags === undefined ? [] : ['-tags', build.tags]),
      build.packages,
    ],
    cwd: build.module.folder,
    env,
    onLine: (line) => {
      complaints.push(line);
    },
  });
  const code = await compiler.exited;
  done();
  if (code !== 0) throw new Error(`Cannot build ${build.packages}: ${complaints.join('\n')}`);
  for (const [name, better] of Object.entries(build.renamed ?? {})) {
    await rename(join(into, name), join(into, better));
  }
};

/**
 * Returns `target` when it exists, and otherwise builds it beside itself and renames it into place.
 */
export const builtOnce = async (
  target: string,
  build: Build,
  buildEnvironment: BuildEnvironment,
): Promise<string> => {
  if (existsSync(target)) return target;
  const problem = await goProblem(build.module, buildEnvironment.env);
  if (problem !== undefined) throw new TestbedUnavailable(problem);
  await mkdir(dirname(target), { recursive: true });
  return await locked(`${target}.lock`, async () => {
    if (existsSync(target)) return target;
    const unfinished = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
    try {
      await goBuild(build, unfinished, buildEnvironment);
      await rename(unfinished, target);
    } catch (problem) {
      await rm(unfinished, { recursive: true, force: true });
      if (!existsSync(target)) throw problem;
    }
    return target;
  });
};

const sourcesKey = async (folder: string): Promise<string> => {
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).filter((one) => one.endsWith('.go')).sort()) {
    hash.update(name).update('\0').update(await readFile(join(folder, name))).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
};

/**
 * The path of the program `<folder>/<name>` of a module, rebuilt when its sources or the module's
 * lock change. Rejects with `TestbedUnavailable` on a machine without Go.
 */
export const programOf = async (
  module: GoModule,
  { folder, name, print }: {
    readonly folder: string;
    readonly name: string;
    readonly print: Print;
  },
): Promise<string> => {
  const path = folder === '' ? name : `${folder}/${name}`;
  const sources = await sourcesKey(join(module.folder, path));
  const target = join(cacheFolder(), module.key, folder, `${name}-${sources}`);
  await builtOnce(target, {
    module,
    what: `building "${path}"`,
    packages: `./${path}`,
    linker: '-s -w',
  }, { print, env: environment });
  return join(target, name);
};

/**
 * The path of the program `oracle/<name>`: a small Go program that prints the result of Go or
 * Kubernetes for some input.
 */
export const oracle = async (name: string, print: Print = printOnStderr): Promise<string> =>
  await programOf(await readGoModule(), { folder: 'oracle', name, print });
