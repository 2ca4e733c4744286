/**
 * The programs of the test bed: from `KUBEBUILDER_ASSETS`, or built once from the pinned Go module
 * into a cache directory that is keyed by its lock.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assetsFolder, cacheFolder, type Environment, environment } from './environment.ts';
import {
  type Build,
  type BuildEnvironment,
  builtOnce,
  type ControlPlaneModule,
  goProblem,
  type Print,
  printOnStderr,
  readGoModule,
  TestbedUnavailable,
} from './go-builds.ts';

export { oracle, TestbedUnavailable } from './go-builds.ts';

/** The path of each program. Optional ones may be missing when assets were given without Go. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubectl: string;
  readonly kubeControllerManager: string | undefined;
  readonly kubeScheduler: string | undefined;
  readonly kwok: string | undefined;
  readonly helm: string | undefined;
}

/** Without this stamp the programs report a version that kubectl and helm cannot parse. */
const linkerFlags = (version: string): string => {
  const [major, minor] = version.split('.');
  const stamp = (name: string, value: string): string =>
    `-X k8s.io/component-base/version.${name}=${value}`;
  return [
    '-s -w',
    stamp('gitVersion', `v${version}`),
    stamp('gitMajor', major ?? ''),
    stamp('gitMinor', minor ?? ''),
  ].join(' ');
};

const allTools = (module: ControlPlaneModule): Build => ({
  module,
  what: `building etcd, Kubernetes ${module.kubernetes}, kwok and helm (once, some minutes)`,
  packages: 'tool',
  linker: linkerFlags(module.kubernetes),
  renamed: { server: 'etcd' },
});

const existing = (folder: string, name: string): string | undefined => {
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
};

const ASSETS = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const EXTRAS = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;

const required = (folder: string, name: string): string => {
  const path = existing(folder, name);
  if (path === undefined) {
    throw new TestbedUnavailable(
      `KUBEBUILDER_ASSETS is "${folder}", which has no ${name}: put ${
        ASSETS.join(', ')
      } there, or unset it to build them with Go`,
    );
  }
  return path;
};

const cached = (module: ControlPlaneModule, env: Environment): string =>
  join(cacheFolder(env), module.key, 'bin');

const built = async (
  module: ControlPlaneModule,
  buildEnvironment: BuildEnvironment,
): Promise<string> =>
  await builtOnce(cached(module, buildEnvironment.env), allTools(module), buildEnvironment);

/** The folder to take what the assets lack from, or `undefined` when there is no Go to build it. */
const builtForAssets = async (
  assets: string,
  module: ControlPlaneModule,
  buildEnvironment: BuildEnvironment,
): Promise<string | undefined> => {
  if (EXTRAS.every((name) => existing(assets, name) !== undefined)) return undefined;
  const folder = cached(module, buildEnvironment.env);
  const canBuild = existsSync(folder) ||
    await goProblem(module, buildEnvironment.env) === undefined;
  return canBuild ? await built(module, buildEnvironment) : undefined;
};

/** Finds or builds every program. Rejects with `TestbedUnavailable`, which names the remedy. */
export const binaries = async (
  print: Print = printOnStderr,
  env: Environment = environment,
): Promise<Binaries> => {
  const module = await readGoModule();
  const assets = assetsFolder(env);
  const folder = assets === undefined
    ? await built(module, { print, env })
    : await builtForAssets(assets, module, { print, env });
  const extra = (name: string): string | undefined =>
    (assets === undefined ? undefined : existing(assets, name)) ??
      (folder === undefined ? undefined : existing(folder, name));
  const base = assets ?? folder ?? '';
  return {
    etcd: required(base, 'etcd'),
    kubeApiserver: required(base, 'kube-apiserver'),
    kubectl: required(base, 'kubectl'),
    kubeControllerManager: extra('kube-controller-manager'),
    kubeScheduler: extra('kube-scheduler'),
    kwok: extra('kwok'),
    helm: extra('helm'),
  };
};

/** Why there can be no test bed here, in one sentence, or `undefined` when there can. */
export const unavailability = async (
  env: Environment = environment,
): Promise<string | undefined> => {
  const module = await readGoModule();
  const assets = assetsFolder(env);
  if (assets !== undefined) {
    const missing = ASSETS.find((name) => existing(assets, name) === undefined);
    return missing === undefined
      ? undefined
      : `KUBEBUILDER_ASSETS is "${assets}", which has no ${missing}`;
  }
  if (existsSync(cached(module, env))) return undefined;
  return await goProblem(module, env);
};
