/** Reads the current context of a kubeconfig: server, CA and credentials. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** How to reach an API server. PEM texts. */
export interface ClusterAccess {
  readonly server: string;
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly token: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

const textOf = (fields: Fields, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The entry of a named list such as `clusters`, unwrapped. */
const named = (config: Fields, list: string, name: string | undefined): Fields => {
  const entries = config[list];
  const entry = Array.isArray(entries)
    ? entries.map(fieldsOf).find((candidate) => candidate['name'] === name)
    : undefined;
  return fieldsOf(entry?.[list.slice(0, -1)]);
};

/** PEM from an inline field or from the file that another field names. */
const pem = (fields: Fields, name: string, folder: string): string | undefined => {
  const inline = textOf(fields, `${name}-data`);
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
  const path = textOf(fields, name);
  return path === undefined ? undefined : readFileSync(resolve(folder, path), 'utf8');
};

/** Reads the current context of the kubeconfig at `path`; throws when it has none. */
export const clusterAccess = (path: string): ClusterAccess => {
  const folder = dirname(path);
  const config = fieldsOf(parse(readFileSync(path, 'utf8')));
  const context = named(config, 'contexts', textOf(config, 'current-context'));
  const cluster = named(config, 'clusters', textOf(context, 'cluster'));
  const user = named(config, 'users', textOf(context, 'user'));
  const server = textOf(cluster, 'server');
  if (server === undefined) {
    throw new Error(`Cannot use kubeconfig "${path}": its current context names no server`);
  }
  if (user['exec'] !== undefined || user['auth-provider'] !== undefined) {
    throw new Error(
      `Cannot use kubeconfig "${path}": it needs a plugin, and the fleet runs none`,
    );
  }
  const tokenFile = textOf(user, 'tokenFile');
  return {
    server,
    ca: pem(cluster, 'certificate-authority', folder),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    cert: pem(user, 'client-certificate', folder),
    key: pem(user, 'client-key', folder),
    token: textOf(user, 'token') ??
      (tokenFile === undefined
        ? undefined
        : readFileSync(resolve(folder, tokenFile), 'utf8').trim()),
  };
};
