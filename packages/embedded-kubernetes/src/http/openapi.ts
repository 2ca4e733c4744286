/**
 * OpenAPI v3, as far as kubectl reads it: the kinds, the schemas of their CRDs, and server-side
 * field validation and dry run.
 *
 * Promises: a built-in kind is an untyped object (`kubectl explain` shows only its name); a custom
 * kind has the schema of its CRD.
 */
import type { JsonRecord } from '../values/json.ts';
import type { ClusterAnswer } from '../api.ts';
import type { Kinds } from '../api-server-state.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';

/** The Go package of a group's types: `io.k8s.api.policy.v1.PodDisruptionBudget`. */
const schemaName = ({ group, version, kind, custom }: Kind): string => {
  if (custom) return `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
  if (group === 'apiextensions.k8s.io') {
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  }
  const room = group === '' ? 'core' : group.split('.')[0];
  return `io.k8s.api.${room}.${version}.${kind}`;
};

const gvk = ({ group, version, kind }: Kind): JsonRecord => ({ group, version, kind });

const schemaOf = (kind: Kind): JsonRecord => ({
  type: 'object',
  ...kind.schema,
  'x-kubernetes-group-version-kind': [gvk(kind)],
});

const query = (name: string): JsonRecord => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
});

const WRITES = ['dryRun', 'fieldManager', 'fieldValidation'].map(query);

const operation = (kind: Kind, action: string, parameters: readonly JsonRecord[]): JsonRecord => ({
  'x-kubernetes-action': action,
  'x-kubernetes-group-version-kind': gvk(kind),
  parameters,
  responses: {
    200: {
      description: 'OK',
      content: { 'application/json': { schema: referenceTo(kind) } },
    },
  },
});

const referenceTo = (kind: Kind): JsonRecord => ({
  $ref: `#/components/schemas/${schemaName(kind)}`,
});

const pathsOf = (root: string, kind: Kind): readonly (readonly [string, JsonRecord])[] => {
  const room = kind.namespaced ? `${root}/namespaces/{namespace}` : root;
  return [
    [`${room}/${kind.plural}`, {
      get: operation(kind, 'list', []),
      post: operation(kind, 'post', WRITES),
    }],
    [`${room}/${kind.plural}/{name}`, {
      get: operation(kind, 'get', []),
      put: operation(kind, 'put', WRITES),
      patch: operation(kind, 'patch', WRITES),
      delete: operation(kind, 'delete', [query('dryRun')]),
    }],
  ];
};

const rootOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;

const documentOf = (root: string, kinds: readonly Kind[]): JsonRecord => ({
  openapi: '3.0.0',
  info: { title: 'Tidegate embedded cluster', version: 'unversioned' },
  paths: Object.fromEntries(kinds.flatMap((kind) => pathsOf(`/${root}`, kind))),
  components: {
    schemas: Object.fromEntries(kinds.map((kind) => [schemaName(kind), schemaOf(kind)])),
  },
});

/** A hash of the document, which clients use as a cache key. */
const hashOf = (document: JsonRecord): string => {
  let hash = 0;
  for (const character of JSON.stringify(document)) {
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0;
  }
  return (hash >>> 0).toString(16).toUpperCase();
};

const byRoot = (kinds: Kinds): ReadonlyMap<string, readonly Kind[]> => {
  const found = new Map<string, Kind[]>();
  for (const kind of kinds.all()) {
    const root = rootOf(kind);
    const known = found.get(root) ?? [];
    found.set(root, known);
    known.push(kind);
  }
  return found;
};

const okAnswer = (body: unknown): ClusterAnswer => ({
  _tag: 'Answer',
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
});

const ROOT = '/openapi/v3';

/** The response to an OpenAPI path; undefined for other paths and unknown groups. */
export const openApi = (kinds: Kinds, pathname: string): ClusterAnswer | undefined => {
  if (pathname === ROOT) {
    const paths = [...byRoot(kinds)].map(([root, list]) => [
      root,
      { serverRelativeURL: `${ROOT}/${root}?hash=${hashOf(documentOf(root, list))}` },
    ]);
    return okAnswer({ paths: Object.fromEntries(paths) });
  }
  if (!pathname.startsWith(`${ROOT}/`)) return undefined;
  const root = pathname.slice(ROOT.length + 1);
  const list = byRoot(kinds).get(root);
  return list === undefined ? undefined : okAnswer(documentOf(root, list));
};
