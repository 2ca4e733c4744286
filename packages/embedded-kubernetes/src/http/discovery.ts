/**
 * Discovery endpoints: health, version, API groups and resources, in the legacy and the aggregated
 * form.
 *
 * Promises: built from the current kind registry, so a new CRD is visible at once. Source:
 * Kubernetes API concepts (discovery), `apidiscovery.k8s.io/v2`.
 */
import type { JsonRecord } from '../values/json.ts';
import type { ClusterAnswer } from '../api.ts';
import type { Kinds } from '../api-server-state.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';

/** The Kubernetes version that the embedded cluster reports. */
const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+tidegate',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};

const ALL_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
const PART_VERBS = ['get', 'patch', 'update'];

/** A subresource. */
interface Part {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

const OF_PODS: readonly Part[] = [
  { name: 'binding', group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
  { name: 'eviction', group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
];

const OF_SERVICE_ACCOUNTS: readonly Part[] = [
  {
    name: 'token',
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenRequest',
    verbs: ['create'],
  },
];

const partsOf = (kind: Kind): readonly Part[] => {
  const { group, version } = kind;
  const own = { group, version, kind: kind.kind };
  return [
    ...(kind.resource === 'pods' ? OF_PODS : []),
    ...(kind.resource === 'serviceaccounts' ? OF_SERVICE_ACCOUNTS : []),
    ...(kind.resource === 'namespaces' ? [{ ...own, name: 'finalize', verbs: ['update'] }] : []),
    ...(kind.scale === undefined ? [] : [
      { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: PART_VERBS },
    ]),
    ...(kind.status === undefined ? [] : [{ ...own, name: 'status', verbs: PART_VERBS }]),
  ];
};

const verbsOf = (kind: Kind): readonly string[] => kind.verbs ?? ALL_VERBS;

const unlessEmpty = (name: string, list: readonly string[]): JsonRecord =>
  list.length === 0 ? {} : { [name]: list };

const resourcesOf = (kind: Kind): readonly JsonRecord[] => [
  {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: verbsOf(kind),
    ...unlessEmpty('shortNames', kind.shortNames),
    ...unlessEmpty('categories', kind.categories),
  },
  ...partsOf(kind).map((part) => ({
    name: `${kind.plural}/${part.name}`,
    singularName: '',
    namespaced: kind.namespaced,
    ...(part.group === kind.group ? {} : { group: part.group, version: part.version }),
    kind: part.kind,
    verbs: part.verbs,
  })),
];

const aggregatedOf = (kind: Kind): JsonRecord => ({
  resource: kind.plural,
  responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
  scope: kind.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: kind.singular,
  verbs: verbsOf(kind),
  ...unlessEmpty('shortNames', kind.shortNames),
  ...unlessEmpty('categories', kind.categories),
  subresources: partsOf(kind).map(({ name, group, version, kind: of, verbs }) => ({
    subresource: name,
    responseKind: { group, version, kind: of },
    verbs,
  })),
});

/** Kinds by group, then by version, each in the order in which they were registered. */
const grouped = (kinds: Kinds): ReadonlyMap<string, ReadonlyMap<string, readonly Kind[]>> => {
  const groups = new Map<string, Map<string, Kind[]>>();
  for (const kind of kinds.all()) {
    const versions = groups.get(kind.group) ?? new Map<string, Kind[]>();
    groups.set(kind.group, versions);
    const known = versions.get(kind.version) ?? [];
    versions.set(kind.version, known);
    known.push(kind);
  }
  return groups;
};

const groupOf = (group: string, versions: Iterable<string>): JsonRecord => {
  const entries = [...versions].map((version) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
};

const namedGroups = (kinds: Kinds) => [...grouped(kinds)].filter(([group]) => group !== '');

const aggregated = (groups: Iterable<readonly [string, ReadonlyMap<string, readonly Kind[]>]>) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: [...groups].map(([group, versions]) => ({
    metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
    versions: [...versions].map(([version, list]) => ({
      version,
      resources: list.map(aggregatedOf),
      freshness: 'Current',
    })),
  })),
});

const JSON_TYPE = 'application/json';
const AGGREGATED_TYPE = `${JSON_TYPE};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`;

const okAnswer = (body: unknown, contentType = JSON_TYPE): ClusterAnswer => ({
  _tag: 'Answer',
  status: 200,
  headers: { 'content-type': contentType },
  body,
});

const listOf = (kinds: Kinds, group: string, version: string): ClusterAnswer | undefined => {
  const found = grouped(kinds).get(group)?.get(version);
  if (found === undefined) return undefined;
  return okAnswer({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: found.flatMap(resourcesOf),
  });
};

const groupAnswer = (kinds: Kinds, group: string): ClusterAnswer | undefined => {
  const versions = grouped(kinds).get(group);
  if (versions === undefined || group === '') return undefined;
  return okAnswer({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions.keys()) });
};

const wantsAggregated = (accept: string): boolean =>
  accept.split(',').some((range) =>
    range.includes('as=APIGroupDiscoveryList') && /;\s*v=v2\b/.test(range)
  );

const core = (kinds: Kinds, accept: string): ClusterAnswer =>
  wantsAggregated(accept)
    ? okAnswer(aggregated([['', grouped(kinds).get('') ?? new Map()]]), AGGREGATED_TYPE)
    : okAnswer({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });

const groups = (kinds: Kinds, accept: string): ClusterAnswer =>
  wantsAggregated(accept) ? okAnswer(aggregated(namedGroups(kinds)), AGGREGATED_TYPE) : okAnswer({
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: namedGroups(kinds).map(([group, versions]) => groupOf(group, versions.keys())),
  });

const WELL = new Set(['/livez', '/readyz', '/healthz']);

/** The response to a discovery path; undefined for any other path. */
export const discover = (
  kinds: Kinds,
  pathname: string,
  accept: string,
): ClusterAnswer | undefined => {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
  if (WELL.has(path)) return okAnswer('ok', 'text/plain; charset=utf-8');
  if (path === '/version') return okAnswer(VERSION);
  const [root, first, second, ...rest] = path.split('/').slice(1);
  if (rest.length > 0) return undefined;
  if (root === 'api') {
    if (first === undefined) return core(kinds, accept);
    return second === undefined ? listOf(kinds, '', first) : undefined;
  }
  if (root !== 'apis') return undefined;
  if (first === undefined) return groups(kinds, accept);
  return second === undefined ? groupAnswer(kinds, first) : listOf(kinds, first, second);
};
