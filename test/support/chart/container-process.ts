/**
 * The container of a pod as a process of this machine: exactly its command, arguments, variables
 * and files.
 *
 * Promises: only places differ. A mounted path is a folder of this machine, a port a free one of
 * the loopback address, and the account of the pod is a kubeconfig with its token.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../../../src/domain/json.ts';
import { freePort } from '../../../tools/testbed/ports.ts';
import type { ClusterClient } from '../api/cluster-client.ts';

/** Where the container of a pod would be. */
export interface ContainerSite {
  readonly cluster: ClusterClient;
  readonly namespace: string;
  readonly podName: string;
  /** Of the account of the pod. */
  readonly kubeconfig: string;
}

/** What to start. */
export interface ContainerProcess {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The port here, by the port of the container. */
  readonly ports: ReadonlyMap<number, number>;
}

const decoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
  );

/** The files of a volume, by their path in it. */
const filesOf = async (
  volume: JsonRecord,
  { cluster, namespace }: ContainerSite,
): Promise<Readonly<Record<string, string>>> => {
  const [secret, map] = [recordAt(volume, 'secret'), recordAt(volume, 'configMap')];
  const source = secret ?? map;
  if (source === undefined) return {};
  const name = textAt(secret, 'secretName') ?? textAt(map, 'name');
  const kind = secret === undefined ? 'configmaps' : 'secrets';
  const path = ['/api/v1/namespaces', namespace, kind, name].join('/');
  const { status, body } = await cluster.call('GET', path);
  if (status !== 200) throw new Error(`Cannot mount ${kind}/${name}: ${textAt(body, 'message')}`);
  const raw = textRecordOrEmptyAt(body, 'data');
  const data = secret === undefined ? raw : decoded(raw);
  const items = listOrEmptyAt(source, 'items');
  if (items.length === 0) return data;
  return Object.fromEntries(items.map((item) => {
    const key = textAt(item, 'key') ?? '';
    const text = data[key];
    if (text === undefined) throw new Error(`Cannot mount ${kind}/${name}: it has no key ${key}`);
    return [textAt(item, 'path') ?? key, text];
  }));
};

/** Folders of this machine, by the path of their mount. */
const mounted = async (
  spec: JsonRecord,
  container: unknown,
  site: ContainerSite,
): Promise<ReadonlyMap<string, string>> => {
  const root = await mkdtemp(join(tmpdir(), 'tidegate-container-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folders = new Map<string, string>();
  for (const mount of listOrEmptyAt(container, 'volumeMounts')) {
    const path = textAt(mount, 'mountPath') ?? '';
    const volume = listOrEmptyAt(spec, 'volumes').map(asRecord)
      .find((one) => textAt(one, 'name') === textAt(mount, 'name'));
    if (volume === undefined) throw new Error(`Cannot mount ${path}: there is no such volume`);
    const folder = join(root, path);
    await mkdir(folder, { recursive: true });
    for (const [file, text] of Object.entries(await filesOf(volume, site))) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    folders.set(path, folder);
  }
  return folders;
};

const FIELDS: Readonly<Record<string, 'podName' | 'namespace'>> = {
  'metadata.name': 'podName',
  'metadata.namespace': 'namespace',
};

const textOf = (variable: unknown, site: ContainerSite): string => {
  const path = textAt(variable, 'valueFrom', 'fieldRef', 'fieldPath');
  if (path === undefined) return textAt(variable, 'value') ?? '';
  const field = FIELDS[path];
  if (field === undefined) throw new Error(`Cannot read the field ${path}`);
  return site[field];
};

const LISTENS = /^:(\d+)$/;

/** The first container of a pod. Must be called inside a test, with which its files end. */
export const containerProcess = async (
  spec: JsonRecord,
  site: ContainerSite,
): Promise<ContainerProcess> => {
  const [container] = listOrEmptyAt(spec, 'containers');
  const folders = await mounted(spec, container, site);
  const ports = new Map<number, number>();
  for (const port of listOrEmptyAt(container, 'ports')) {
    ports.set(numberAt(port, 'containerPort') ?? 0, await freePort());
  }
  const here = (text: string): string => {
    const [, port] = LISTENS.exec(text) ?? [];
    if (port !== undefined) return `127.0.0.1:${ports.get(Number(port)) ?? 0}`;
    const [path, folder] = [...folders].find(([mount]) => text.startsWith(`${mount}/`)) ?? [];
    return path === undefined || folder === undefined ? text : folder + text.slice(path.length);
  };
  const words = (key: string): readonly string[] =>
    [valueAt(container, key)].flat().flatMap((word) => word === undefined ? [] : `${word}`);
  const env = Object.fromEntries(
    listOrEmptyAt(container, 'env').map((one) => [textAt(one, 'name'), here(textOf(one, site))]),
  );
  return {
    command: words('command'),
    args: words('args').map(here),
    env: { ...env, TIDEGATE_KUBECONFIG: site.kubeconfig },
    ports,
  };
};
