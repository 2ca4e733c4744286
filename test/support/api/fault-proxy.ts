/**
 * A proxy in front of the API server that can hold requests or answer them itself.
 *
 * Promises: other requests pass unchanged and concurrently; a held or answered request never
 * reaches the server.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as forward } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { listening } from '../../../tools/testbed/ports.ts';
import { type RoleAccount, roleKubeconfig } from '../rights/role-account.ts';
import { adminAccess } from './cluster-client.ts';
import type { Testbed } from './testbed.ts';

/** Requests by their target: path and query. */
export type Matches = (target: string) => boolean;

/** The proxy's own response. */
export interface CannedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Which requests are answered here, how, and how many of them. */
export interface Impostor {
  readonly method: string;
  readonly matches: Matches;
  readonly answer: CannedAnswer;
  /** Without it, always. */
  readonly times?: number;
}

/** A running proxy. */
export interface FaultProxy {
  /** A kubeconfig that leads through it. */
  readonly kubeconfig: string;
  /** Holds every matching request from now on. */
  readonly hold: (matches: Matches) => void;
  /** Targets of held requests. */
  readonly held: () => readonly string[];
  /** Answers such requests from now on; of several that match, the oldest answers. */
  readonly answer: (identityProblem: Impostor) => void;
  /** Targets that were answered here, oldest first. */
  readonly answered: () => readonly string[];
  /** Ends every connection; new ones are taken. */
  readonly cut: () => void;
  /** Releases all held requests and holds no more. */
  readonly release: () => void;
}

const OPERATOR: RoleAccount = { user: 'tidegate', roles: ['fleet'] };

/** Starts it between an account and the API server. Must be called inside a test. */
export const startFaultProxy = async (
  bed: Testbed,
  account: RoleAccount = OPERATOR,
): Promise<FaultProxy> => {
  const { server: target, authority } = await adminAccess(bed);
  const agent = new Agent({ ca: authority, keepAlive: true });
  const sockets = new Set<Socket>();
  const waiting = new Map<string, () => void>();
  let isHeld: Matches = () => false;

  const impostors: { readonly identityProblem: Impostor; left: number }[] = [];
  const answered: string[] = [];
  /** Answers the request here if a rule matches; otherwise false. */
  const isAnswered = ({ method, url = '' }: IncomingMessage, response: ServerResponse): boolean => {
    const found = impostors.find(({ identityProblem, left }) =>
      left > 0 && identityProblem.method === method && identityProblem.matches(url)
    );
    if (found === undefined) return false;
    found.left -= 1;
    answered.push(url);
    const { status, body, headers } = found.identityProblem.answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
    return true;
  };
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
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    const asked = incoming.url ?? '';
    if (isAnswered(incoming, response)) incoming.resume();
    else if (isHeld(asked)) waiting.set(asked, () => pass(incoming, response));
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
  const direct = await readFile(await roleKubeconfig(bed, account), 'utf8');
  await writeFile(kubeconfig, direct.replaceAll(target, `http://127.0.0.1:${port}`));
  return {
    kubeconfig,
    hold: (matches) => {
      isHeld = matches;
    },
    held: () => [...waiting.keys()],
    answer: (identityProblem) => {
      impostors.push({ identityProblem, left: identityProblem.times ?? Number.POSITIVE_INFINITY });
    },
    answered: () => answered,
    cut,
    release: () => {
      isHeld = () => false;
      for (const go of waiting.values()) go();
      waiting.clear();
    },
  };
};
