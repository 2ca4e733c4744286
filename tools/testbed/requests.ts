/**
 * Requests of the administrator to the API server of a bed.
 *
 * Promises: an error status is an answer, not a failure. One takes a millisecond of processor time;
 * kubectl takes 75 for each.
 */
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { listOrEmptyAt, parseJson, textAt } from '../../src/domain/json.ts';

/** An answer of any status; `body` is its text. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** One request. */
export interface AdminQuestion {
  readonly method?: 'GET' | 'PATCH';
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
}

/** Sends one request; rejects when there is no answer. */
export type AskApiServer = (question: AdminQuestion) => Promise<AdminAnswer>;

/** An API server that starts on a busy machine may stand still. */
const TIMEOUT_MS = 60_000;

const accessIn = (kubeconfig: string) => {
  const config = parseJson(kubeconfig);
  const [cluster] = listOrEmptyAt(config, 'clusters');
  const [user] = listOrEmptyAt(config, 'users');
  return {
    server: textAt(cluster, 'cluster', 'server') ?? '',
    ca: Buffer.from(textAt(cluster, 'cluster', 'certificate-authority-data') ?? '', 'base64'),
    token: textAt(user, 'user', 'token') ?? '',
  };
};

/** Asks with a kubeconfig, which is read for each request: it is written after the first start. */
export const asAdministrator = (kubeconfig: string): AskApiServer => async (question) => {
  const { server, ca, token } = accessIn(await readFile(kubeconfig, 'utf8'));
  const { method = 'GET', path, accept = 'application/json', contentType, body } = question;
  const headers = {
    accept,
    authorization: `Bearer ${token}`,
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  return await new Promise((resolve, reject) => {
    const options = { method, headers, ca, agent: false, timeout: TIMEOUT_MS };
    const asked = request(new URL(path, server), options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
        }));
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    asked.on('error', reject);
    asked.end(body);
  });
};
