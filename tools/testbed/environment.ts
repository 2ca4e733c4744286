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
