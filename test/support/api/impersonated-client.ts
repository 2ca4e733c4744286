/** Requests of the administrator in another user's name, to a real API server. */
import { readFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { Agent, request } from 'undici';
import { asRecord, type JsonRecord, parseJson } from '../../../src/domain/json.ts';
import { adminAccess } from './cluster-client.ts';
import type { Testbed } from './testbed.ts';

/** A response of any status. */
export interface ImpersonatedAnswer {
  readonly status: number;
  readonly body: JsonRecord;
}

/** Sends a request in the name of a user. */
export type AskAs = (
  user: string,
  call: {
    readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
    readonly path: string;
    readonly body?: unknown;
    /** Default: a merge patch. */
    readonly contentType?: string;
  },
) => Promise<ImpersonatedAnswer>;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  POST: 'application/json',
  PATCH: 'application/merge-patch+json',
};

/** Connects. Must be called inside a test, with which it ends. */
export const impersonatedClient = async (bed: Testbed): Promise<AskAs> => {
  const { server, authority: ca, token } = await adminAccess(bed);
  const dispatcher = new Agent({ connect: { ca } });
  onTestFinished(() => dispatcher.close());
  return async (user, { method, path, body, contentType = CONTENT_TYPES[method] }) => {
    const answer = await request(new URL(path, server), {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${token}`,
        'impersonate-user': user,
        ...(body === undefined || contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: asRecord(parseJson(await answer.body.text())) ?? {} };
  };
};

const POLICIES = new URL('../../../charts/tidegate/files/policies/', import.meta.url);

/** The policies of EvictionRequests, as the chart applies them. */
export const evictionRequestPolicies = async (): Promise<string> => {
  const files = ['evictionrequests-spec.yaml', 'evictionrequests-status.yaml'];
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, POLICIES), 'utf8')));
  return texts.join('---\n');
};
