/** A TCP proxy in front of an API server that can be cut and restored, for one of its clients. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeconfigSource } from '../../../src/effects/api-credentials.ts';
import { listening } from '../../../tools/testbed/ports.ts';

/** The way through the proxy. */
export interface CuttableProxy {
  readonly source: KubeconfigSource;
  /** Cuts every connection and refuses new ones. */
  readonly cut: () => void;
  /** Keeps connections open but drops all data: they are half-open. New ones work. */
  readonly freeze: () => void;
  /** Freezes what stands, and swallows what new connections send. */
  readonly swallow: () => void;
  readonly mend: () => void;
  readonly stop: () => Promise<void>;
}

/** Starts a proxy in front of the API server `server` of the kubeconfig at `kubeconfig`. */
export const cuttableProxy = async (
  { kubeconfig, server }: { readonly kubeconfig: string; readonly server: string },
): Promise<CuttableProxy> => {
  const target = new URL(server);
  const pairs = new Set<readonly [Socket, Socket]>();
  const held = new Set<Socket>();
  let mode: 'open' | 'cut' | 'swallowing' = 'open';
  const proxy = createServer((near) => {
    near.on('error', () => {});
    if (mode === 'cut') near.destroy();
    if (mode !== 'open') {
      held.add(near);
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    far.on('error', () => near.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => {
      far.destroy();
      pairs.delete(pair);
    });
    near.pipe(far);
    far.pipe(near);
  });
  const port = await listening(proxy);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-proxy-'));
  const path = join(folder, 'kubeconfig');
  const text = await readFile(kubeconfig, 'utf8');
  await writeFile(path, text.replaceAll(target.host, `${target.hostname}:${port}`));
  const cut = (): void => {
    mode = 'cut';
    for (const near of [...held, ...[...pairs].map(([socket]) => socket)]) near.destroy();
    held.clear();
  };
  const freeze = (): void => {
    for (const [near, far] of pairs) {
      near.unpipe(far);
      far.unpipe(near);
      near.pause();
      far.pause();
    }
  };
  return {
    source: { _tag: 'File', path },
    cut,
    freeze,
    swallow: () => {
      mode = 'swallowing';
      freeze();
    },
    mend: () => {
      mode = 'open';
    },
    stop: async () => {
      cut();
      await new Promise((resolve) => proxy.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
};
