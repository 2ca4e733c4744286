/**
 * Reads the identity from a kubeconfig, with client-node: loaded on demand, as no pod needs it.
 *
 * Promises: uses only client-node's reading of files, exec plugins and tokens; an invalid
 * kubeconfig fails with one sentence, which quotes neither its content nor the output of a plugin.
 */
import type { RequestOptions } from 'node:https';
import { basename } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import { quoted } from '../domain/text.ts';
import { type ApiCredentials, assertPair, KubeconfigUnusable } from './api-credentials.ts';
import { contentFreeProblem } from './content-free-errors.ts';
import { limitPlugins } from './exec-plugins.ts';
import { type FileSource, readKubeconfigFiles } from './kubeconfig-files.ts';

/** The fallback of client-node when it finds no configuration. */
const NOTHING_FOUND = 'loaded-context';

const problemOf = (config: KubeConfig, source: FileSource): string | undefined => {
  if (source._tag === 'Default' && config.getCurrentContext() === NOTHING_FOUND) {
    return 'found neither a kubeconfig nor a service account';
  }
  if ((config.getCurrentContext() ?? '') === '') {
    return 'it has no current context; name one with --context';
  }
  if (config.getContextObject(config.getCurrentContext()) === null) {
    return `context ${quoted(config.getCurrentContext())} is not in the kubeconfig`;
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) return `context ${quoted(config.getCurrentContext())} names no cluster`;
  return urlProblem('server', cluster.server) ?? proxyProblem(cluster.proxyUrl);
};

/** Not quoted: a URL may contain a password. */
const urlProblem = (field: string, url: string): string | undefined => {
  if (!URL.canParse(url)) return `the ${field} is not a URL`;
  const isHttp = ['http:', 'https:'].includes(new URL(url).protocol);
  return isHttp ? undefined : `the ${field} does not begin with https:// or http://`;
};

const proxyProblem = (url: string | undefined): string | undefined => {
  if (url === undefined) return undefined;
  if (url.startsWith('socks')) return 'a SOCKS proxy-url is not supported';
  return urlProblem('proxy-url', url);
};

/** Fields that client-node misses; its other messages may quote the kubeconfig. */
const MISSING_FIELD = /^(?:clusters|users|contexts)\[\d+\]\.[a-z.]+ is missing$/;

const loadProblem = (cause: unknown): string =>
  cause instanceof Error && MISSING_FIELD.test(cause.message)
    ? cause.message
    : contentFreeProblem(cause);

/** Plain HTTP has no certificate to verify, and client-node requires this flag. */
const withoutVerificationOnHttp = (config: KubeConfig): KubeConfig => {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster
  );
  return config;
};

/** Reads the kubeconfig of `source`; `variable` is that of the environment, `KUBECONFIG`. */
export const readKubeconfig = (
  source: FileSource,
  variable = '',
): Effect.Effect<KubeConfig, KubeconfigUnusable> =>
  Effect.suspend(() => {
    try {
      const config = readKubeconfigFiles(source, variable);
      const problem = problemOf(config, source);
      return problem === undefined
        ? Effect.succeed(limitPlugins(withoutVerificationOnHttp(config)))
        : Effect.fail(new KubeconfigUnusable({ why: problem }));
    } catch (cause) {
      return Effect.fail(
        cause instanceof KubeconfigUnusable
          ? cause
          : new KubeconfigUnusable({ why: loadProblem(cause) }),
      );
    }
  });

const headersOf = (options: RequestOptions): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
};

/** The plugin that prints the credentials; undefined without one. */
const execCommand = (config: KubeConfig): string | undefined => {
  const user = config.getCurrentUser();
  const exec: unknown = user?.exec ?? user?.authProvider?.config?.exec;
  return textAt(exec, 'command');
};

/** Client-node fails with what a plugin wrote to stderr, and quotes what it printed. */
const credentialsProblem = (config: KubeConfig, cause: unknown): KubeconfigUnusable => {
  if (cause instanceof KubeconfigUnusable) return cause;
  const command = execCommand(config);
  const problem = contentFreeProblem(cause);
  return new KubeconfigUnusable({
    why: command === undefined
      ? problem
      : `the exec plugin "${basename(command)}" failed: ${problem}; run it to see its output`,
  });
};

const currentCredentials = async (config: KubeConfig): Promise<ApiCredentials> => {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new KubeconfigUnusable({ why: 'the current context names no cluster' });
  }
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  assertPair(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    server: new URL(cluster.server),
    proxy: cluster.proxyUrl,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    },
    headers: headersOf(options),
  };
};

/**
 * The current credentials of the context: files are read again, and an exec plugin runs again when
 * its token has expired. Rejects with a `KubeconfigUnusable`.
 */
export const readCredentials = async (config: KubeConfig): Promise<ApiCredentials> => {
  try {
    return await currentCredentials(config);
  } catch (cause) {
    throw credentialsProblem(config, cause);
  }
};
