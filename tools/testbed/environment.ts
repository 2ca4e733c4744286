/** What the test bed takes from its surroundings: the one place here that reads `process.env`. */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The variables that matter, injectable for tests. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** This process's environment. */
export const environment: Environment = process.env;

/** Where built binaries are kept between runs. */
export const cacheFolder = (env: Environment = environment): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'tidegate', 'testbed');

/** Where Kubernetes' own test tooling looks for etcd, kube-apiserver and kubectl, when set. */
export const assetsFolder = (env: Environment = environment): string | undefined =>
  env['KUBEBUILDER_ASSETS'] || undefined;

const BUNDLE = 'TIDEGATE_TEST_BUNDLE';
/** Node keeps compiled modules there, which halves the start of a command from its sources. */
const COMPILED = 'NODE_COMPILE_CACHE';

/** The folder of a bundle of `tidegate`, when this run made one. */
export const bundleFolder = (env: Environment = environment): string | undefined =>
  env[BUNDLE] || undefined;

/** Names the bundle for this process and those that it starts, with compiled modules beside it. */
export const setBundleFolder = (folder: string | undefined): void => {
  if (folder === undefined) {
    delete process.env[BUNDLE];
    delete process.env[COMPILED];
  } else {
    process.env[BUNDLE] = folder;
    process.env[COMPILED] = join(folder, 'compiled');
  }
};

/** Whether this is a run that may not leave suites out. */
export const isContinuousIntegration = (env: Environment = environment): boolean =>
  !['', '0', 'false', undefined].includes(env['CI']);

/** This process's environment with some variables set and the `undefined` ones removed. */
export const environmentWith = (changes: Environment = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...environment, ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]]
    ),
  );
