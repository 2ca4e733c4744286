/**
 * What a request wants to do, as authorizers see it: an action on a resource, or on another path.
 *
 * Source: `apiserver/pkg/endpoints/request/requestinfo.go`.
 */
import type { ClusterRequest } from '../api.ts';
import { decodedSegments } from '../http/route.ts';

/** An action on a resource. Absent parts are ''. */
export interface ResourceAction {
  readonly _tag: 'Resource';
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** An action on a path that names no resource. */
export interface PathAction {
  readonly _tag: 'Path';
  /** An HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type Action = ResourceAction | PathAction;

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Parts of a namespace; any other word after its name is a resource in it. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

const ONE_NAME = /(?:^|,)metadata\.name==?([^,=!]+)(?:,|$)/;

/** A request for one object by its name in a selector is authorized for that name. */
const selectedName = (query: URLSearchParams): string =>
  ONE_NAME.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';

const isWatch = (query: URLSearchParams): boolean =>
  ['true', '1', ''].includes(query.get('watch') ?? 'false');

const verbOf = (method: string, name: string, query: URLSearchParams): string => {
  const verb = VERBS[method] ?? '';
  if (name !== '') return verb;
  if (verb === 'get') return isWatch(query) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
};

/** The action of a request. */
export const actionOf = (
  { method }: Pick<ClusterRequest, 'method'>,
  pathname: string,
  query: URLSearchParams,
): Action => {
  const [root, ...segments] = decodedSegments(pathname);
  const path: PathAction = { _tag: 'Path', verb: method.toLowerCase(), path: pathname };
  const isCore = root === 'api';
  if ((!isCore && root !== 'apis') || segments.length < (isCore ? 2 : 3)) return path;
  const group = isCore ? '' : segments[0] ?? '';
  const rest = segments.slice(isCore ? 1 : 2);
  const [first, second = '', third] = rest;
  const inNamespace = first === 'namespaces' && third !== undefined && !OF_NAMESPACES.has(third);
  const [resource = '', name = '', subresource = ''] = inNamespace ? rest.slice(2) : rest;
  const verb = verbOf(method, name, query);
  return {
    _tag: 'Resource',
    verb,
    group,
    resource,
    subresource,
    namespace: first === 'namespaces' ? second : '',
    name: name === '' && (verb === 'list' || verb === 'watch') ? selectedName(query) : name,
  };
};
