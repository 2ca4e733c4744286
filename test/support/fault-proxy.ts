/**
 * A proxy in front of the API server that can hold answers back, for lists that are slow.
 *
 * Promises: everything goes through unchanged and in both directions at once; a request that is
 * held has reached nobody.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request as forward } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { adminAccess } from './cluster-client.ts';
import type { Testbed } from './testbed.ts';
import type { TestbedUser } from '../../tools/testbed/credentials.ts';

/** Requests by their target: path and query. */
export type Matches = (target: string) => boolean;

/** A running proxy. */
export interface FaultProxy {
  /** A kubeconfig that leads through it. */
  readonly kubeconfig: string;
  /** Holds every such request from now on. */
  readonly hold: (matches: Matches) => void;
  /** Targets that are held. */
  readonly held: () => readonly string[];
  /** Ends every connection; new ones are taken. */
  readonly cut: () => void;
  /** Lets them all go, and holds no more. */
  readonly release: () => void;
}

const listening = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });

/** Starts it between `user` and the API server. Must be called inside a test. */
export const startFaultProxy = async (bed: Testbed, user: TestbedUser): Promise<FaultProxy> => {
  const { server: target, authority } = await adminAccess(bed);
  const agent = new Agent({ ca: authority, keepAlive: true });
  const sockets = new Set<Socket>();
  const waiting = new Map<string, () => void>();
  let isHeld: Matches = () => false;

  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method, url, headers } = incoming;
    const outgoing = forward(`${target}${url}`, { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    const asked = incoming.url ?? '';
    if (isHeld(asked)) waiting.set(asked, () => pass(incoming, response));
    else pass(incoming, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listening(server);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(async () => {
    cut();
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const kubeconfig = join(bed.directory, `kubeconfig-through-${port}`);
  const direct = await readFile(bed.kubeconfigFor(user), 'utf8');
  await writeFile(kubeconfig, direct.replaceAll(target, `http://127.0.0.1:${port}`));
  return {
    kubeconfig,
    hold: (matches) => {
      isHeld = matches;
    },
    held: () => [...waiting.keys()],
    cut,
    release: () => {
      isHeld = () => false;
      for (const go of waiting.values()) go();
      waiting.clear();
    },
  };
};
