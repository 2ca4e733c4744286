/** Starts etcd and accesses it through its JSON gateway. */
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { inBatches } from './batches.ts';
import type { Binaries } from './binaries.ts';
import { etcdProgram, type Layout } from './control-plane.ts';
import { type Programs, untilStarted } from './programs.ts';

/** Starts etcd and waits until it answers: an API server waits for it for twenty seconds only. */
export const startEtcd = async (
  programs: Programs,
  layout: Layout,
  binaries: Binaries,
): Promise<void> => {
  const program = etcdProgram(layout, binaries);
  const child = programs.start(program);
  await untilStarted({ program, child }, 'to be ready', async () => {
    const answer = await fetch(`http://127.0.0.1:${layout.etcdPort}/health`);
    await answer.body?.cancel();
    return answer.ok;
  });
};

/** A JSON answer of etcd; keys are in Base64. */
const ask = async (layout: Layout, path: string, body: unknown): Promise<unknown> => {
  const answer = await fetch(`http://127.0.0.1:${layout.etcdPort}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot ask etcd for ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
};

const revisionIn = (answer: unknown): string => {
  const [, revision] = /"revision":"(\d+)"/.exec(JSON.stringify(answer)) ?? [];
  if (revision === undefined) throw new Error('etcd did not say its revision');
  return revision;
};

const ANY_KEY = 'AA==';

/** Compacts every revision but the newest. */
export const compactEtcd = async (layout: Layout): Promise<void> => {
  const revision = revisionIn(await ask(layout, 'kv/range', { key: ANY_KEY, limit: '1' }));
  await ask(layout, 'kv/compaction', { revision, physical: true });
};

/** A stored object: its key, and the revision of its last change. */
export interface Stored {
  readonly key: string;
  readonly revision: string;
}

const encoded = (key: string): string => Buffer.from(key).toString('base64');
const decoded = (key: string): string => Buffer.from(key, 'base64').toString();

/** Everything is stored below it. */
const ROOT = '/registry/';
const BEHIND_ROOT = '/registry0';

/** All objects, by key in the order of etcd. */
export const storedObjects = async (layout: Layout): Promise<readonly Stored[]> => {
  const all = { key: encoded(ROOT), range_end: encoded(BEHIND_ROOT), keys_only: true };
  return listOrEmptyAt(await ask(layout, 'kv/range', all), 'kvs').map((one) => ({
    key: decoded(textAt(one, 'key') ?? ''),
    revision: textAt(one, 'mod_revision') ?? '',
  }));
};

const DELETED_AT_ONCE = 16;

/**
 * Deletes objects by key; watches of the API server see each as deleted. Each deletion has a
 * revision of its own: a watch that goes on from one revision never gets the rest of it, and its
 * client keeps objects that are gone.
 */
export const deleteStored = async (layout: Layout, keys: readonly string[]): Promise<void> => {
  const remove = (key: string) => ask(layout, 'kv/deleterange', { key: encoded(key) });
  await inBatches(keys, DELETED_AT_ONCE, remove);
};
