/** Where paths are executed: an API server, its users, and privileged access to arrange objects. */
import { Agent, request } from 'undici';
import { asRecord, type JsonRecord, parseJson, textAt } from '../../../src/domain/json.ts';

/** How a test process reaches a server. */
export interface SiteAddress {
  readonly name: 'embedded' | 'kube-apiserver';
  readonly server: string;
  /** Of its certificate; empty for plain HTTP. */
  readonly authority: string;
  readonly operatorToken: string;
  /** A kubeconfig without permissions; empty where everything is permitted. */
  readonly strangerToken: string;
}

/** A response of any status. */
export interface HandAnswer {
  readonly status: number;
  readonly body: JsonRecord;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Writes by other clients of the cluster: people, controllers, kubelets. */
export interface Hand {
  readonly call: (method: Method, path: string, body?: unknown) => Promise<HandAnswer>;
  /** Performs a write and returns the object; rejects when it fails. */
  readonly must: (method: Method, path: string, body?: unknown) => Promise<JsonRecord>;
  /** Applies an object by force, as this field manager; rejects when it fails. */
  readonly apply: (path: string, object: unknown, fieldManager: string) => Promise<JsonRecord>;
  /** Deletes the object if it exists. */
  readonly remove: (path: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const REFUSED = 300;
const MISSING = 404;
const GONE_AT_ONCE = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };

/** The hand at a site. */
export const handAt = ({ server, authority, operatorToken }: SiteAddress): Hand => {
  const tls = authority === '' ? {} : { connect: { ca: authority } };
  const dispatcher = new Agent({ ...tls, headersTimeout: 0, bodyTimeout: 0 });
  const ask = async (
    method: Method,
    path: string,
    { body, type }: { readonly body: unknown; readonly type: string },
  ): Promise<HandAnswer> => {
    const answer = await request(`${server}${path}`, {
      method,
      dispatcher,
      headers: {
        ...(operatorToken === '' ? {} : { authorization: `Bearer ${operatorToken}` }),
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: asRecord(parseJson(text)) ?? { message: text } };
  };
  const call: Hand['call'] = (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return ask(method, path, { body, type });
  };
  const must: Hand['must'] = async (method, path, body) => {
    const { status, body: answer } = await call(method, path, body);
    if (status < REFUSED) return answer;
    throw new Error(`Cannot ${method} ${path}: ${status} ${textAt(answer, 'message') ?? ''}`);
  };
  return {
    call,
    must,
    apply: async (path, body, fieldManager) => {
      const at = `${path}?fieldManager=${fieldManager}&force=true`;
      const type = 'application/apply-patch+yaml';
      const { status, body: answer } = await ask('PATCH', at, { body, type });
      if (status < REFUSED) return answer;
      throw new Error(`Cannot apply ${at}: ${status} ${textAt(answer, 'message') ?? ''}`);
    },
    remove: async (path) => {
      const { status } = await call('PATCH', path, { metadata: { finalizers: null } });
      if (status === MISSING) return;
      await call('DELETE', path, GONE_AT_ONCE);
    },
    close: () => dispatcher.destroy(),
  };
};
