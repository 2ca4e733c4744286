/**
 * The identity of this process to the API server: a kubeconfig, or the service account of its pod.
 *
 * Promises: the files of a pod are read again for each call, because the kubelet renews the token;
 * what they contain is never quoted.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Effect } from 'effect';
import {
  type ApiCredentials,
  type KubeconfigSource,
  KubeconfigUnusable,
} from './api-credentials.ts';
import { contentFreeProblem } from './content-free-errors.ts';

/** Where credentials come from. */
export interface ApiIdentity {
  /** The current ones; rejects with a `KubeconfigUnusable`. */
  readonly credentials: () => Promise<ApiCredentials>;
}

/** What Kubernetes gives to a container: the folder of its account, and variables. */
export interface PodEnvironment {
  readonly accountFolder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const POD_ENVIRONMENT: PodEnvironment = {
  accountFolder: '/var/run/secrets/kubernetes.io/serviceaccount',
  variables: process.env,
};

const unusable = (why: string): KubeconfigUnusable => new KubeconfigUnusable({ why });

/** `https://[fd00::1]:443`, from the variables of the pod. */
const serverOf = ({ variables }: PodEnvironment): URL => {
  const host = variables['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = variables['KUBERNETES_SERVICE_PORT'] ?? '';
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (host === '' || port === '' || !URL.canParse(url)) {
    throw unusable('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no server');
  }
  return new URL(url);
};

/** The service account of a pod. */
export const podIdentity = (pod: PodEnvironment): ApiIdentity => {
  const read = async (name: string): Promise<Buffer> => {
    try {
      return await readFile(join(pod.accountFolder, name));
    } catch (cause) {
      throw unusable(contentFreeProblem(cause));
    }
  };
  return {
    credentials: async () => {
      const [token, ca] = await Promise.all([read('token'), read('ca.crt')]);
      const bearer = token.toString().trim();
      if (bearer === '') throw unusable('the token of the service account is empty');
      return {
        server: serverOf(pod),
        proxy: undefined,
        tls: { ca },
        headers: { authorization: `Bearer ${bearer}` },
      };
    },
  };
};

/** As kubectl looks: `KUBECONFIG`, then `~/.kube/config`, then the account of the pod. */
const isPod = (
  source: KubeconfigSource,
  { accountFolder, variables }: PodEnvironment,
): boolean => {
  if (source._tag !== 'Default' || source.context !== undefined) return false;
  const isConfigured = (variables['KUBECONFIG'] ?? '') !== '' ||
    existsSync(join(homedir(), '.kube', 'config'));
  return !isConfigured && existsSync(join(accountFolder, 'token'));
};

/** Opens the identity of `source`. */
export const openIdentity = (
  source: KubeconfigSource,
  pod: PodEnvironment = POD_ENVIRONMENT,
): Effect.Effect<ApiIdentity, KubeconfigUnusable> => {
  if (source._tag === 'InCluster' || isPod(source, pod)) {
    return Effect.succeed(podIdentity(pod));
  }
  return Effect.promise(() => import('./kubeconfig.ts')).pipe(
    Effect.flatMap(({ readKubeconfig, readCredentials }) =>
      Effect.map(readKubeconfig(source, pod.variables['KUBECONFIG']), (config): ApiIdentity => ({
        credentials: () => readCredentials(config),
      }))
    ),
  );
};
