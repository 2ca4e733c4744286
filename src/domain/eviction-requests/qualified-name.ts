/**
 * Names of requesters and interceptors: fully qualified domain names (ER-08, ER-09).
 *
 * Promises: the same names as the schema of the custom resource accepts.
 */
import { sha256Hex } from '../sha256.ts';

/** Characters of a name. */
export const QUALIFIED_NAME_MAX = 253;

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';

/** Three lower-case labels or more, without a dot at the end (ER-08). */
export const QUALIFIED_NAME = new RegExp(`^(${LABEL}\\.){2,}${LABEL}$`, 'u');

/** Domains of Kubernetes itself: only its own controllers have names in them (ER-09). */
export const RESERVED_DOMAINS = ['k8s.io', 'kubernetes.io'] as const;

/** The last interceptor of every request: the eviction of the pod by this operator. */
export const IMPERATIVE_EVICTION = 'imperative-eviction.k8s.io';

/** The interceptor of the role `interceptors`: a replacement first, for pods of Deployments. */
export const SURGE = 'surge.tidegate.dev';

/** The interceptor of the role `interceptors` for pods of DaemonSets under maintenances. */
export const DAEMON_SET = 'daemonset.tidegate.dev';

/** Whether the name is fully qualified. */
export const isQualifiedName = (name: string): boolean =>
  name.length <= QUALIFIED_NAME_MAX && QUALIFIED_NAME.test(name);

/** Whether the name belongs to Kubernetes, so that nobody else may use it. */
export const isReservedName = (name: string): boolean =>
  RESERVED_DOMAINS.some((domain) => name.endsWith(`.${domain}`));

const MAINTENANCE_DOMAIN = 'nodemaintenance.tidegate.dev';
/** Hexadecimal digits kept of the hash in a shortened name. */
const HASH_DIGITS = 16;

const joined = (label: string, domain: string): string => `${label}.${domain}`;

/** Whether a maintenance requests evictions under the name, one that exists or not. */
export const isMaintenanceRequester = (name: string): boolean =>
  name.endsWith(`.${MAINTENANCE_DOMAIN}`);

/**
 * The name under which a maintenance requests evictions: its own name and our domain. One that
 * is too long ends with a hash of all of it, so that two of them stay apart.
 */
export const maintenanceRequester = (maintenance: string): string => {
  const whole = joined(maintenance, MAINTENANCE_DOMAIN);
  if (isQualifiedName(whole)) return whole;
  const hash = sha256Hex(maintenance).slice(0, HASH_DIGITS);
  const room = 63 - HASH_DIGITS - 1;
  const kept = maintenance.replaceAll('.', '-').slice(0, room).replace(/-+$/, '');
  return joined(kept === '' ? hash : `${kept}-${hash}`, MAINTENANCE_DOMAIN);
};
