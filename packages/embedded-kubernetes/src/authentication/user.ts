/** Who sends a request, as the API server sees it (`apiserver/pkg/authentication/user`). */
import type { JsonRecord } from '../values/json.ts';

/** A user. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The group that may do everything. */
export const MASTERS = 'system:masters';
/** The group of every user who proved to be one. */
export const AUTHENTICATED = 'system:authenticated';
/** The group of callers without credentials. */
export const UNAUTHENTICATED = 'system:unauthenticated';
/** The user of a caller without credentials. */
export const ANONYMOUS = 'system:anonymous';

/** The user of calls within the process, and of everyone where nothing is forbidden. */
export const ADMINISTRATOR: User = {
  name: 'tidegate-embedded',
  uid: '',
  groups: [MASTERS, AUTHENTICATED],
  extra: {},
};

/** A caller without credentials. */
export const ANONYMOUS_USER: User = {
  name: ANONYMOUS,
  uid: '',
  groups: [UNAUTHENTICATED],
  extra: {},
};

/** A user as reviews and policies show it: empty fields are left out. */
export const userInfoOf = ({ name, uid, groups, extra }: User): JsonRecord => ({
  ...(name === '' ? {} : { username: name }),
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
});

/** The groups, with one more unless it is there. */
export const withGroup = (groups: readonly string[], group: string): readonly string[] =>
  groups.includes(group) ? groups : [...groups, group];

const PREFIX = 'system:serviceaccount:';

/** Namespace and name of a service account. */
export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** The user name of a service account. */
export const serviceAccountUser = ({ namespace, name }: ServiceAccountName): string =>
  `${PREFIX}${namespace}:${name}`;

/** The groups of every service account of a namespace. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

/** The service account with this user name; undefined when it is another user's. */
export const serviceAccountOf = (user: string): ServiceAccountName | undefined => {
  if (!user.startsWith(PREFIX)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(PREFIX.length).split(':');
  return namespace === '' || name === '' || more.length > 0 ? undefined : { namespace, name };
};
