/**
 * Impersonation: a request acts for the user whom its `Impersonate-…` headers name.
 *
 * Promises: first the constrained modes are tried (the verbs `impersonate:MODE` and
 * `impersonate-on:MODE:VERB`), then the plain verb `impersonate`, and a refusal is that of the
 * first; the mode that allowed a caller last is tried before the others. Source:
 * `apiserver/pkg/endpoints/filters/impersonation`.
 */
import type { Action, ResourceAction } from '../authorization/action.ts';
import { type Authorizer, notAllowed, quoted } from '../authorization/authorizer.ts';
import { type ApiProblem, badRequest } from '../validation/problem.ts';
import {
  ANONYMOUS,
  AUTHENTICATED,
  MASTERS,
  serviceAccountGroups,
  serviceAccountOf,
  UNAUTHENTICATED,
  type User,
  withGroup,
} from './user.ts';

type Headers = Readonly<Record<string, string>>;

/** Repeated values of these headers arrive as lines of one. */
export const REPEATED_HEADER = /^impersonate-(group|extra-.+)$/;

const EXTRA = 'impersonate-extra-';
const AUTHENTICATION = 'authentication.k8s.io';

const listed = (header: string | undefined): readonly string[] =>
  header === undefined ? [] : header.split('\n');

const unescaped = (key: string): string => {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
};

const extraOf = (headers: Headers): User['extra'] =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith(EXTRA))
      .map(([name, value]) => [unescaped(name.slice(EXTRA.length)), listed(value)]),
  );

const goList = (list: readonly string[]): string =>
  list.length === 0 ? '[]string(nil)' : `[]string{${list.map(quoted).join(', ')}}`;

/** The user as Go prints it. */
const printed = ({ uid, groups, extra }: User): string => {
  const entries = Object.entries(extra).map(([key, list]) => `${quoted(key)}:${goList(list)}`);
  const map = 'map[string][]string';
  return `&user.DefaultInfo{Name:"", UID:${quoted(uid)}, Groups:${goList(groups)}, ` +
    `Extra:${entries.length === 0 ? `${map}(nil)` : `${map}{${entries.join(', ')}}`}}`;
};

/** The user whom the headers name; undefined when they name none. */
const wantedUser = (headers: Headers): User | undefined => {
  const wanted: User = {
    name: headers['impersonate-user'] ?? '',
    uid: headers['impersonate-uid'] ?? '',
    groups: listed(headers['impersonate-group']),
    extra: extraOf(headers),
  };
  if (wanted.name !== '') return wanted;
  if (wanted.uid === '' && wanted.groups.length === 0 && Object.keys(wanted.extra).length === 0) {
    return undefined;
  }
  throw badRequest(`requested ${printed(wanted)} without impersonating a user name`);
};

/** Whether any header is about impersonation. */
export const isImpersonating = (headers: Headers): boolean => {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
};

/** One way in which impersonation can be allowed. */
interface Mode {
  readonly name: 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';
  readonly verb: string;
  /** The API group of users and groups. */
  readonly group: string;
}

const constrained = (name: Exclude<Mode['name'], 'legacy'>): Mode => ({
  name,
  verb: `impersonate:${name}`,
  group: AUTHENTICATION,
});

const LEGACY: Mode = { name: 'legacy', verb: 'impersonate', group: '' };

const NODE = 'system:node:';

const modesFor = ({ name, uid, groups, extra }: User): readonly Mode[] => {
  const isNameOnly = uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
  const isNode = name.startsWith(NODE) && name.length > NODE.length;
  const isAccount = serviceAccountOf(name) !== undefined;
  if (!isNode && !isAccount) return [constrained('user-info'), LEGACY];
  if (!isNameOnly) return [LEGACY];
  return [constrained(isNode ? 'arbitrary-node' : 'serviceaccount'), LEGACY];
};

const checkOf = (
  verb: string,
  group: string,
  more: Pick<ResourceAction, 'resource' | 'name'> & Partial<ResourceAction>,
): ResourceAction => ({
  _tag: 'Resource',
  verb,
  group,
  subresource: '',
  namespace: '',
  ...more,
});

const nameCheck = ({ name }: User, { name: mode, verb, group }: Mode): ResourceAction => {
  const account = serviceAccountOf(name);
  if (account !== undefined) {
    return checkOf(verb, group, { resource: 'serviceaccounts', ...account });
  }
  return mode === 'arbitrary-node'
    ? checkOf(verb, group, { resource: 'nodes', name: name.slice(NODE.length) })
    : checkOf(verb, group, { resource: 'users', name });
};

/** What the requester must be allowed to do in a mode. */
const checksOf = (wanted: User, mode: Mode, action: Action): readonly Action[] => {
  const { verb, group } = mode;
  const on = { ...action, verb: `impersonate-on:${mode.name}:${action.verb}` };
  return [
    ...(mode === LEGACY ? [] : [on]),
    nameCheck(wanted, mode),
    ...(wanted.uid === ''
      ? []
      : [checkOf(verb, AUTHENTICATION, { resource: 'uids', name: wanted.uid })]),
    ...wanted.groups.map((name) => checkOf(verb, group, { resource: 'groups', name })),
    ...Object.entries(wanted.extra).flatMap(([subresource, values]) =>
      values.map((name) =>
        checkOf(verb, AUTHENTICATION, { resource: 'userextras', subresource, name })
      )
    ),
  ];
};

const complete = (wanted: User, { name: mode }: Mode): User => {
  const account = serviceAccountOf(wanted.name);
  const fixed = mode === 'arbitrary-node'
    ? ['system:nodes']
    : account !== undefined && wanted.groups.length === 0
    ? serviceAccountGroups(account.namespace)
    : wanted.groups;
  if (wanted.name === ANONYMOUS) return { ...wanted, groups: withGroup(fixed, UNAUTHENTICATED) };
  const isUnauthenticated = fixed.includes(UNAUTHENTICATED);
  return { ...wanted, groups: isUnauthenticated ? fixed : withGroup(fixed, AUTHENTICATED) };
};

/** A request that acts for another user. */
export interface Impersonation {
  readonly requester: User;
  readonly headers: Headers;
  readonly action: Action;
}

/** Finds the user for whom a request acts. */
export type Impersonate = (impersonation: Impersonation) => User;

const refusalIn = (
  authorizer: Authorizer,
  { requester, action }: Impersonation,
  { wanted, mode }: { readonly wanted: User; readonly mode: Mode },
): ApiProblem | undefined => {
  for (const check of checksOf(wanted, mode, action)) {
    const isMaster = mode !== LEGACY && check._tag === 'Resource' &&
      check.resource === 'groups' && check.name === MASTERS;
    const verdict = authorizer.decide(requester, check);
    if (isMaster) {
      return notAllowed(requester, check, 'impersonating the system:masters group is not allowed');
    }
    if (!verdict.allowed) return notAllowed(requester, check, verdict.reason);
  }
  return undefined;
};

/** Impersonation, as far as an authorizer allows it. */
export const makeImpersonate = (authorizer: Authorizer): Impersonate => {
  const latest = new Map<string, Mode['name']>();
  return (impersonation) => {
    const { requester, headers } = impersonation;
    const wanted = wantedUser(headers);
    if (wanted === undefined) return requester;
    const preferred = latest.get(requester.name);
    const modes = modesFor(wanted).toSorted((one, other) =>
      Number(other.name === preferred) - Number(one.name === preferred)
    );
    let first: ApiProblem | undefined;
    for (const mode of modes) {
      const refusal = refusalIn(authorizer, impersonation, { wanted, mode });
      if (refusal === undefined) {
        latest.set(requester.name, mode.name);
        return complete(wanted, mode);
      }
      first ??= refusal;
    }
    throw first ?? badRequest('all impersonation modes failed');
  };
};
