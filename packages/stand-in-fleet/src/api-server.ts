/** The few calls that the fleet makes to an API server, under its own user agent. */
import { Pool } from 'undici';
import type { ClusterAccess } from './kubeconfig.ts';

/** The user agent in the audit log. */
const USER_AGENT = 'tidegate-fleet';

/** A response; `body` is parsed JSON. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The API server. Rejects only when there is no response, whatever its status. */
export interface ApiServer {
  readonly call: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<ApiAnswer>;
  readonly close: () => Promise<void>;
}

const CONNECTIONS = 16;
const ANSWER_MS_MAX = 15_000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Connects to the current cluster of a kubeconfig, on the first call. */
export const apiServer = (access: ClusterAccess): ApiServer => {
  const { server, ca, cert, key, token, insecure } = access;
  const pool = new Pool(new URL(server).origin, {
    connections: CONNECTIONS,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
    connect: {
      rejectUnauthorized: !insecure,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  });
  const prefix = new URL(server).pathname.replace(/\/$/, '');
  return {
    call: async (method, path, body) => {
      const answer = await pool.request({
        method,
        path: prefix + path,
        headers: {
          accept: 'application/json',
          'user-agent': USER_AGENT,
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, body: parsed(await answer.body.text()) };
    },
    close: () => pool.destroy(),
  };
};
