/** The headings under which help lists the flags of long commands. */

/** Flags by heading. A flag of no group is listed first, under "Flags". */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Drains: [
    'tier-wait',
    'pause-drains',
    'reclaimable-node-selector',
    'max-draining',
    'evictions-per-budget',
    'local-volumes',
    'via',
  ],
  'Eviction requests': [
    'eviction-request-api',
    'interceptor-deadline',
    'interceptor-warning',
    'eviction-request-ttl',
    'clock-skew',
    'default-interceptors',
    'without-surge',
  ],
  'Nodes that fail': [
    'offline-after',
    'offline-storm-limit',
    'degraded-conditions',
    'degraded-after',
    'degraded-clear-after',
  ],
  'Pods that leave': [
    'pod-selector',
    'force',
    'ignore-daemonsets',
    'delete-emptydir-data',
    'grace-period',
    'skip-wait-for-delete-timeout',
    'disable-eviction',
  ],
  'Machines that join': ['bootstrap-template-file'],
  'Demand of pods': [
    'with-pods',
    'priority-class-defaults-file',
    'pod-selector',
    'namespace-selector',
  ],
  'Users and rights': ['authorization', 'token-auth-file', 'client-ca-file'],
  Addresses: ['metrics-addr', 'health-addr', 'listen', 'script-listen'],
  'Live page, recording and traces': [
    'inspect-addr',
    'inspect-hosts',
    'inspect-token-file',
    'when-watched',
    'record',
    'otlp-endpoint',
  ],
  TLS: ['tls-cert', 'tls-key', 'tls-ca', 'tls-renewal-delay', 'insecure-plaintext'],
  'Limits and logs': ['qps', 'burst', 'ack-concurrency', 'rollup-interval', 'log-level'],
  'Leader election': [
    'lease-duration',
    'lease-renew-deadline',
    'lease-retry-period',
    'lease-name',
    'lease-namespace',
    'identity',
  ],
  'Times of the fleet': [
    'cycle-interval',
    'hello-time',
    'rollup-time',
    'bootstrap-timeout',
    'bootstrap-pause',
    'creation-time',
    'joining-time',
    'draining-time',
    'deletion-time',
  ],
  Cluster: ['kubeconfig', 'context'],
};

const GENERAL = 'Flags';
/** Fewer flags need no headings. */
const GROUPED_FROM = 8;

/** The heading of each flag: of several, the one that most flags of the command have. */
const headings = (flags: readonly { readonly name: string }[]): ReadonlyMap<string, string> => {
  const given = new Set(flags.map(({ name }) => name));
  const present = Object.entries(GROUPS)
    .map(([group, names]) => ({ group, names: names.filter((name) => given.has(name)) }))
    .toSorted((left, right) => left.names.length - right.names.length);
  return new Map(
    present.flatMap(({ group, names }) => names.map((name) => [name, group] as const)),
  );
};

/** Flags under their headings, in the order of the headings above. */
export const groupedFlags = <Flag extends { readonly name: string }>(
  flags: readonly Flag[],
): readonly (readonly [heading: string, flags: readonly Flag[]])[] => {
  if (flags.length < GROUPED_FROM) return flags.length === 0 ? [] : [[GENERAL, flags]];
  const known = headings(flags);
  const headingOf = ({ name }: Flag): string => known.get(name) ?? GENERAL;
  return [GENERAL, ...Object.keys(GROUPS)].flatMap((heading) => {
    const own = flags.filter((flag) => headingOf(flag) === heading);
    return own.length === 0 ? [] : [[heading, own] as const];
  });
};
