/**
 * What can refuse the writes of a request: policies, and the rule that nobody grants more than they
 * may do.
 *
 * Promises: undefined where nothing can, so that a plain write costs nothing.
 */
import type { ApiServerState } from '../api-server-state.ts';
import type { User } from '../authentication/user.ts';
import { MASTERS } from '../authentication/user.ts';
import { ALWAYS_ALLOW } from '../authorization/authorizer.ts';
import { assertNoEscalation } from '../authorization/escalation.ts';
import { RBAC_GROUP } from '../authorization/role-grants.ts';
import type { Route } from '../http/route.ts';
import type { Admit } from './attempt.ts';
import { makePolicies } from './policies.ts';

/** One request that may write. */
export interface Admitted {
  readonly caller: User;
  readonly route: Route;
  /** Receives the texts of `Warning` headers. */
  readonly warn: (text: string) => void;
}

/** The admission of a request; undefined when it admits everything. */
export type Admission = (request: Admitted) => Admit | undefined;

/** The admission of a server. */
export const makeAdmission = (
  { store, kinds, authorizer }: ApiServerState,
): Admission => {
  const policies = makePolicies({ store, kinds, authorizer });
  const isOpen = authorizer === ALWAYS_ALLOW;
  return ({ caller, route, warn }) => {
    const mayEscalate = isOpen || route.kind.group !== RBAC_GROUP ||
      caller.groups.includes(MASTERS);
    if (policies.isEmpty() && mayEscalate) return undefined;
    const admit = policies.isEmpty() ? undefined : policies.admission(caller, warn);
    return (attempt) => {
      const { kind, at, object, oldObject: before } = attempt;
      if (!mayEscalate && object !== undefined) {
        const permissions = { store, authorizer, user: caller };
        assertNoEscalation(permissions, { kind, at, object, before });
      }
      admit?.(attempt);
    };
  };
};
