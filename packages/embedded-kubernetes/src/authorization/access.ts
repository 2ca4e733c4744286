/**
 * Who may send a request: authentication, impersonation and authorization, in this order.
 *
 * Promises: where everything is allowed, a request without credentials costs two look-ups. Source:
 * `apiserver/pkg/server/config.go` (DefaultBuildHandlerChain).
 */
import type { ClusterRequest } from '../api.ts';
import type { Authenticate } from '../authentication/authenticator.ts';
import { isImpersonating, makeImpersonate } from '../authentication/impersonation.ts';
import { MASTERS, type User } from '../authentication/user.ts';
import { actionOf } from './action.ts';
import { ALWAYS_ALLOW, type Authorizer, notAllowed } from './authorizer.ts';

/** Admits a request for a user, or throws the problem that refuses it. */
export type Access = (request: ClusterRequest, url: URL) => User;

const NO_HEADERS = {};

/** Access by an authorizer. */
export const makeAccess = (authenticate: Authenticate, authorizer: Authorizer): Access => {
  const impersonate = makeImpersonate(authorizer);
  return (request, { pathname, searchParams: query }) => {
    const requester = authenticate(request);
    const headers = request.headers ?? NO_HEADERS;
    const isMore = isImpersonating(headers);
    if (!isMore && (authorizer === ALWAYS_ALLOW || requester.groups.includes(MASTERS))) {
      return requester;
    }
    const action = actionOf(request, pathname, query);
    const user = isMore ? impersonate({ requester, headers, action }) : requester;
    const { allowed, reason } = authorizer.decide(user, action);
    if (!allowed) throw notAllowed(user, action, reason);
    return user;
  };
};
