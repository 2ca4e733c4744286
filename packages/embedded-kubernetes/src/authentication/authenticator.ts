/**
 * Finds out who sends a request: by bearer token, by client certificate, or by nothing.
 *
 * Promises: a call within the process is the administrator's unless it has a token; where
 * everything is allowed, so is a caller with no credentials or with unknown ones.
 */
import type { ClusterRequest } from '../api.ts';
import { ApiProblem } from '../validation/problem.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { ADMINISTRATOR, ANONYMOUS_USER, AUTHENTICATED, type User, withGroup } from './user.ts';

/** A user with a token that never expires. */
export interface TokenUser {
  readonly token: string;
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** Finds the user of a request; throws 401 for credentials that do not count. */
export type Authenticate = (request: ClusterRequest) => User;

const BEARER = /^bearer +(\S+)$/i;

const unauthorized = (): ApiProblem =>
  new ApiProblem({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });

const userOf = ({ name, uid = '', groups = [] }: TokenUser): User => ({
  name,
  uid,
  groups: withGroup(groups, AUTHENTICATED),
  extra: {},
});

/** Finds the user of a bearer token; undefined when it does not count. */
export type UserOfToken = (token: string) => User | undefined;

/** The users with tokens of their own, and the service accounts. */
export const usersByToken = (
  users: readonly TokenUser[],
  tokens: ServiceAccountTokens,
): UserOfToken => {
  const known = new Map(users.map((user) => [user.token, userOf(user)]));
  return (token) => known.get(token) ?? tokens.userOf(token);
};

/** Authentication; where it is open, a caller without credentials is the administrator. */
export const makeAuthenticate =
  (userOfToken: UserOfToken, isOpen: boolean): Authenticate => ({ headers, peer }) => {
    const certified = peer?.certificate;
    if (certified === 'untrusted') throw unauthorized();
    if (certified !== undefined) {
      const { commonName: name, organizations: groups } = certified;
      return userOf({ token: '', name, groups });
    }
    const token = BEARER.exec(headers?.['authorization'] ?? '')?.[1];
    if (token === undefined) return isOpen || peer === undefined ? ADMINISTRATOR : ANONYMOUS_USER;
    const user = userOfToken(token);
    if (user !== undefined) return user;
    if (isOpen) return ADMINISTRATOR;
    throw unauthorized();
  };
