/** What tests ask of etcd itself, through its JSON gateway. */
import type { Layout } from './control-plane.ts';

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

/** Forgets every revision but the newest. */
export const compactEtcd = async (layout: Layout): Promise<void> => {
  const revision = revisionIn(await ask(layout, 'kv/range', { key: ANY_KEY, limit: '1' }));
  await ask(layout, 'kv/compaction', { revision, physical: true });
};
