/**
 * Reads the files of a kubeconfig as kubectl does, where client-node differs.
 *
 * Promises: of several files in `KUBECONFIG`, those that do not exist or are empty are left out,
 * and the first current context and the first entry of a name count; the file of a `tokenFile` is
 * read again while the token is in use.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { KubeConfig, type User } from '@kubernetes/client-node';
import { parseDocument } from 'yaml';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { type KubeconfigSource, KubeconfigUnusable } from './api-credentials.ts';

/** All but the account of a pod. */
export type FileSource = Exclude<KubeconfigSource, { readonly _tag: 'InCluster' }>;

/** The `tokenFile` of each user that has one, by its name. */
const tokenFilesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    listOrEmptyAt(parseDocument(text, { logLevel: 'silent' }).toJS(), 'users').flatMap((user) => {
      const [name, file] = [textAt(user, 'name'), textAt(user, 'user', 'tokenFile')];
      return name === undefined || file === undefined ? [] : [[name, file]];
    }),
  );

/**
 * As client-node has the token file of a pod. As in client-go, it comes before a token, which stays
 * in use while the file is not there.
 */
const withTokenFile = ({ token, ...user }: User, tokenFile: string): User =>
  token !== undefined && !existsSync(tokenFile) ? { ...user, token } : {
    ...user,
    authProvider: { name: 'tokenFile', config: { tokenFile } },
  };

/** A pipe has its text once, and a second read would wait for a writer. */
const PIPED = new Map<string, string>();

const textOf = (path: string): string => {
  const known = PIPED.get(path);
  if (known !== undefined) return known;
  const isPiped = !statSync(path).isFile();
  const text = readFileSync(path, 'utf8');
  if (isPiped) PIPED.set(path, text);
  return text;
};

const readFile = (path: string): KubeConfig => {
  const config = new KubeConfig();
  const text = textOf(path);
  if (text.trim() === '') return config;
  const folder = dirname(path);
  config.loadFromString(text);
  config.makePathsAbsolute(folder);
  const tokenFiles = tokenFilesIn(text);
  config.users = config.users.map((user) => {
    const file = tokenFiles.get(user.name);
    return file === undefined ? user : withTokenFile(user, resolve(folder, file));
  });
  return config;
};

/** What is in `config` stays. */
const addMissing = (config: KubeConfig, next: KubeConfig): void => {
  for (const one of next.clusters) if (config.getCluster(one.name) === null) config.addCluster(one);
  for (const one of next.users) if (config.getUser(one.name) === null) config.addUser(one);
  for (const one of next.contexts) {
    if (config.getContextObject(one.name) === null) config.addContext(one);
  }
  if ((config.getCurrentContext() ?? '') === '') {
    config.setCurrentContext(next.getCurrentContext());
  }
};

const readFiles = (paths: readonly string[]): KubeConfig => {
  const [first] = paths;
  if (first === undefined) throw new KubeconfigUnusable({ why: 'KUBECONFIG names no file' });
  const existing = paths.filter((path) => existsSync(path));
  const config = new KubeConfig();
  // Of none that exists the first is read, whose error names it.
  for (const path of existing.length === 0 ? [first] : existing) addMissing(config, readFile(path));
  return config;
};

const readDefault = (variable: string): KubeConfig => {
  if (variable !== '') return readFiles(variable.split(delimiter).filter((path) => path !== ''));
  const path = join(homedir(), '.kube', 'config');
  if (existsSync(path)) return readFile(path);
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
};

/**
 * Reads the files of `source`, by default those of the variable `KUBECONFIG`; throws what the file
 * system and the parser throw.
 */
export const readKubeconfigFiles = (source: FileSource, variable: string): KubeConfig => {
  const config = source._tag === 'File' ? readFile(source.path) : readDefault(variable);
  if (source.context !== undefined) config.setCurrentContext(source.context);
  return config;
};
