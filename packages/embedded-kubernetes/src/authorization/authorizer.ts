/** Decides who may do what. */
import type { User } from '../authentication/user.ts';
import { ApiProblem, forbidden } from '../validation/problem.ts';
import type { Action } from './action.ts';

/** An answer. `reason` is '' when there is nothing to say. */
export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
}

/** One rule of a role. Absent lists are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly paths: readonly string[];
}

/** An authorization mode. */
export interface Authorizer {
  readonly decide: (user: User, action: Action) => Verdict;
  /** Everything a user may do in a namespace, as far as it is known. */
  readonly rulesFor: (user: User, namespace: string) => readonly PolicyRule[];
}

/** Rules that allow everything. */
export const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], groups: ['*'], resources: ['*'], names: [], paths: [] },
  { verbs: ['*'], groups: [], resources: [], names: [], paths: ['*'] },
];

const ALLOWED: Verdict = {
  allowed: true,
  reason: 'the embedded cluster allows everything',
};

/** Everyone may do everything. */
export const ALWAYS_ALLOW: Authorizer = { decide: () => ALLOWED, rulesFor: () => EVERYTHING };

/** Text in Go's `%q`. */
export const quoted = (text: string): string => JSON.stringify(text);

const scopeOf = (namespace: string): string =>
  namespace === '' ? 'at the cluster scope' : `in the namespace ${quoted(namespace)}`;

/** 403 for an action that was not allowed, in the real server's words. */
export const notAllowed = ({ name }: User, action: Action, reason: string): ApiProblem => {
  const why = reason === '' ? '' : `: ${reason}`;
  if (action._tag === 'Path') {
    return new ApiProblem({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User ${quoted(name)} cannot ${action.verb} path ` +
        `${quoted(action.path)}${why}`,
      details: {},
    });
  }
  const { verb, group, resource, subresource, namespace } = action;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return forbidden({ group, kind: resource }, action.name, {
    why: `User ${quoted(name)} cannot ${verb} resource ${quoted(whole)} in API group ` +
      `${quoted(group)} ${scopeOf(namespace)}${why}`,
  });
};
