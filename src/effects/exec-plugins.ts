/**
 * The time limit of exec plugins, which client-node runs without one.
 *
 * Promises: a plugin that exceeds the limit is killed and its run fails, also when a child of the
 * plugin keeps its output open.
 */
import { type ChildProcessWithoutNullStreams, spawn, type SpawnOptions } from 'node:child_process';
import type { KubeConfig } from '@kubernetes/client-node';

/** Cloud plugins take seconds; one that asks a person never ends. */
export const PLUGIN_MS_MAX = 30_000;

/** `spawn` with a limit. */
const spawnWithin = (limitMs: number) =>
(
  command: string,
  args: readonly string[] | undefined,
  options: SpawnOptions,
): ChildProcessWithoutNullStreams => {
  const plugin = spawn(command, args ?? [], {
    ...options,
    stdio: 'pipe',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  plugin.once('exit', (_code, signal) => {
    if (signal === null) return;
    plugin.stdout.destroy();
    plugin.stderr.destroy();
  });
  return plugin;
};

/** Limits the plugins of `config`: client-node has no option for it, only its `execFn`. */
export const limitPlugins = (config: KubeConfig, limitMs = PLUGIN_MS_MAX): KubeConfig => {
  const authenticators: unknown = Reflect.get(config, 'authenticators');
  for (const authenticator of Array.isArray(authenticators) ? authenticators : []) {
    if (typeof authenticator !== 'object' || authenticator === null) continue;
    if ('execFn' in authenticator) Reflect.set(authenticator, 'execFn', spawnWithin(limitMs));
  }
  return config;
};
