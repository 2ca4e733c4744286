/**
 * What the user of a kubeconfig may do, as the API server answers it
 * (`SelfSubjectAccessReview`, authorization.k8s.io/v1).
 */
import { Effect } from 'effect';
import { booleanAt, textAt } from '../domain/json.ts';
import { NEEDED_RIGHTS, type NeededRight } from '../domain/operator-rights.ts';
import type { RoleName } from '../domain/operator-roles.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';

/** One verb on one resource. */
export interface AskedRight {
  readonly right: NeededRight;
  readonly verb: string;
  /** Undefined: in all namespaces. */
  readonly namespace: string | undefined;
}

/** Every verb of some roles, once for each object and namespace that it is on. */
export const askedRights = (
  roles: readonly RoleName[],
  leaseNamespace: string,
): readonly AskedRight[] => {
  const asked = roles.flatMap((role) => NEEDED_RIGHTS[role]).flatMap((right) =>
    right.verbs.map((verb): AskedRight => ({
      right,
      verb,
      namespace: right.isOfLease ? leaseNamespace : undefined,
    }))
  );
  return [
    ...new Map(asked.map((one) => {
      const { group, resource, subresource, name } = one.right;
      const where = one.namespace ?? '';
      return [[group, resource, subresource, name, where, one.verb].join(' '), one] as const;
    })).values(),
  ];
};

/** The answer to one question. */
export type AccessAnswer =
  | { readonly _tag: 'Allowed' }
  | { readonly _tag: 'Denied' }
  | { readonly _tag: 'Unanswered'; readonly why: string };

const TIMEOUT_MS = 15_000;
const CREATED = 201;

/** Asks for one right. */
export const reviewAccess = (
  { right: { group, resource, subresource, name }, verb, namespace }: AskedRight,
): Effect.Effect<AccessAnswer, KubeFault, KubeApi> =>
  KubeApi.use((api) =>
    api.call({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      timeoutMs: TIMEOUT_MS,
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: {
          resourceAttributes: {
            group,
            resource,
            verb,
            ...(subresource === '' ? {} : { subresource }),
            ...(name === '' ? {} : { name }),
            ...(namespace === undefined ? {} : { namespace }),
          },
        },
      },
    })
  ).pipe(
    Effect.map(({ status, body }): AccessAnswer => {
      if (status !== CREATED) {
        return { _tag: 'Unanswered', why: textAt(body, 'message') ?? `HTTP status ${status}` };
      }
      return { _tag: booleanAt(body, 'status', 'allowed') === true ? 'Allowed' : 'Denied' };
    }),
  );
