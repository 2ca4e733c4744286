/** The roles of an operator, as selected with `--roles`. */

/** The available roles, each with its purpose. */
export const ROLE_SUMMARIES = {
  fleet: 'session with the fleet, demand, upcoming nodes and drains',
  pods: 'a CapacityRequest for every pod',
  evictions: 'EvictionRequests: interceptors in turn, then the eviction of the pod',
  interceptors: 'surge.tidegate.dev: Deployments replace a pod before it leaves; ' +
    'daemonset.tidegate.dev: pods of DaemonSets leave when a maintenance has reached them',
  maintenance: 'NodeMaintenances: cordons nodes, drains them by plan, and releases them',
  availability:
    'Nodes that fail: replaces the stateless pods of offline nodes, drains disabled ones',
} as const;

/** The name of a role. */
export type RoleName = keyof typeof ROLE_SUMMARIES;

const isRole = (name: string): name is RoleName => Object.hasOwn(ROLE_SUMMARIES, name);

/** All role names. */
export const ROLE_NAMES: readonly RoleName[] = Object.keys(ROLE_SUMMARIES).filter(isRole);

/** The result of parsing a list of role names. */
export type RolesReading =
  | { readonly _tag: 'Roles'; readonly roles: readonly RoleName[] }
  | { readonly _tag: 'NoRoles'; readonly why: string; readonly remedy: string };

const choose = `choose from ${ROLE_NAMES.join(', ')}`;

/** Parses a list such as `fleet,pods`. Duplicates count once. */
export const rolesIn = (text: string): RolesReading => {
  const roles: RoleName[] = [];
  for (const name of text.split(',').map((part) => part.trim())) {
    if (!isRole(name)) return { _tag: 'NoRoles', why: `unknown role "${name}"`, remedy: choose };
    if (!roles.includes(name)) roles.push(name);
  }
  return { _tag: 'Roles', roles };
};
