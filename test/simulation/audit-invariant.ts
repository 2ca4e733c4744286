/**
 * The requests of processes in the form of the API server's audit log, so that scenarios and tests
 * on a real control plane share their analysis.
 *
 * Promises: every processed request is recorded once, under the name of its process; watches and
 * intercepted requests are not.
 */
import type { Time } from '../../src/domain/time.ts';
import type { KubeCall } from '../../src/effects/kube-api.ts';
import type { AuditEntry } from '../../tools/testbed/audit.ts';
import type { Invariant } from './invariant.ts';

const GROUPED = /^\/apis\/([^/]+)\/[^/]+\/(.*)$/;
const CORE = /^\/api\/v1\/(.*)$/;

const VERBS = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

const verbOf = (method: string, name: string): string => {
  if (method === 'POST' || method === 'PUT' || method === 'PATCH' || method === 'DELETE') {
    return VERBS[method];
  }
  return name === '' ? 'list' : 'get';
};

/** Group, namespace, resource, name and subresource of a path. */
export const targetOf = (path: string) => {
  const grouped = GROUPED.exec(path);
  const rest = (grouped?.[2] ?? CORE.exec(path)?.[1] ?? '').split('/');
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] ?? '' : '';
  const [resource = '', name = '', subresource = ''] = namespace === '' ? rest : rest.slice(2);
  return { apiGroup: grouped?.[1] ?? '', namespace, resource, name, subresource };
};

/** The audit log, and the invariant that writes it. */
export interface AuditInvariant {
  readonly entries: readonly AuditEntry[];
  readonly invariant: Pick<Invariant, 'done'>;
}

/** An empty log. */
export const auditInvariant = (time: Time): AuditInvariant => {
  const entries: AuditEntry[] = [];
  const entryOf = (process: string, call: KubeCall, code: number): AuditEntry => {
    const target = targetOf(call.path);
    return {
      ...target,
      user: process,
      userAgent: '',
      verb: verbOf(call.method ?? 'GET', target.name),
      uri: call.path,
      uid: '',
      code,
      isUnauthorized: false,
      receivedMs: time.now(),
      answeredMs: time.now(),
      requestObject: call.body,
    };
  };
  return {
    entries,
    invariant: {
      done: ({ process, call }, { status }) => entries.push(entryOf(process, call, status)),
    },
  };
};
