/** Starts etcd and accesses it through its JSON gateway. */
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
