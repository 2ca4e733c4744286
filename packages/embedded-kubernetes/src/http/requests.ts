/**
 * Dispatches a request for one kind to its verb.
 *
 * Promises: a problem that a verb throws becomes the real API server's response.
 */
import { applyScale } from '../apply/applying-scale.ts';
import { apply } from '../apply/applying.ts';
import { managerName } from '../apply/writer-name.ts';
import { asRecord, type JsonRecord, textAt } from '../values/json.ts';
import type { User } from '../authentication/user.ts';
import type { ClusterAnswer, ClusterRequest, ClusterResponse } from '../api.ts';
import { type ApiServerState, servedBy, storedOrRefuse, type Target } from '../api-server-state.ts';
import {
  apiVersionOf,
  type Kind,
  kindSubjectOf,
  type ReviewContext,
  subjectOf,
} from '../kinds/kind.ts';
import { isMetadata, withoutNullTexts } from '../kinds/metadata.ts';
import { admitToNamespace } from '../kinds/namespaces.ts';
import { invalidObject, notSupported } from '../validation/field-problem.ts';
import { badRequest, methodNotAllowed, noSuchPath, verbNotServed } from '../validation/problem.ts';
import { type FieldPolicy, withKnownFields } from '../schema/known-fields.ts';
import { bind } from '../verbs/binding.ts';
import { create, type WriteOptions } from '../verbs/creating.ts';
import { deletedStatus, deleteOptions, remove } from '../verbs/deleting.ts';
import { evict } from '../verbs/evicting.ts';
import { assertReadable, list, type Selection } from '../verbs/listing.ts';
import { isApply, type Patch, patch } from '../verbs/patching.ts';
import { patchScale, scaleOf, writeScale } from '../verbs/scaling.ts';
import { update, type UpdateOptions } from '../verbs/updating.ts';
import { watch, type WatchRegister } from '../verbs/watching.ts';
import { assertJson, contentTypeOf } from './request-bodies.ts';
import type { Route } from './route.ts';

/** A request whose path names a kind. */
export interface RoutedRequest {
  readonly server: ApiServerState;
  readonly register: WatchRegister;
  readonly request: ClusterRequest;
  readonly route: Route;
  readonly query: URLSearchParams;
  /** The user for whom it acts. */
  readonly caller: User;
  /** Values of the `Warning` headers of the response. */
  readonly warnings: string[];
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** An answer with a JSON body. */
export const answerOf = (status: number, body: unknown): ClusterAnswer => ({
  _tag: 'Answer',
  status,
  headers: JSON_HEADERS,
  body,
});

const isDryRun = ({ query }: RoutedRequest): boolean => {
  const asked = query.getAll('dryRun');
  if (asked.some((one) => one !== 'All')) {
    throw invalidObject({ group: 'meta.k8s.io', kind: 'CreateOptions' }, '', [
      notSupported('dryRun', asked, ['All']),
    ]);
  }
  return asked.length > 0;
};

const isApplied = ({ request }: RoutedRequest): boolean =>
  request.method === 'PATCH' && isApply(contentTypeOf(request));

const writeOptions = (routed: RoutedRequest): WriteOptions => ({
  dryRun: isDryRun(routed),
  manager: managerName(routed.request, routed.query, isApplied(routed)),
});

const targetOf = ({ kind, namespace = '', name = '' }: Route): Target => ({
  kind,
  at: { namespace, name },
});

const bodyOf = ({ request, route }: RoutedRequest): JsonRecord => {
  assertJson(request, route.kind);
  const body = asRecord(request.body);
  if (body === undefined) {
    throw badRequest('the object provided is unrecognized (must be of type object)');
  }
  if (!isMetadata(body['metadata'])) {
    throw badRequest(
      'the object provided is unrecognized: its metadata has fields of a wrong type',
    );
  }
  return body;
};

const fieldPolicy = ({ query, warnings }: RoutedRequest): FieldPolicy => {
  const asked = query.get('fieldValidation') ?? '';
  const warns = asked === '' || asked === 'Warn';
  return { isStrict: asked === 'Strict', warn: (text) => warns && warnings.push(text) };
};

/**
 * The body as an object of `kind`. A built-in kind may omit its type; a custom resource may not,
 * because its decoder needs the kind.
 */
const objectOf = (routed: RoutedRequest, expected: Kind): JsonRecord => {
  const body = bodyOf(routed);
  const [apiVersion, kind] = [textAt(body, 'apiVersion') ?? '', textAt(body, 'kind') ?? ''];
  if (expected.custom && kind === '') {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ` +
        `Object 'Kind' is missing in '${JSON.stringify(body)}'`,
    );
  }
  const wanted = apiVersionOf(expected);
  if (apiVersion !== '' && apiVersion !== wanted) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version ` +
        `(${wanted})`,
    );
  }
  if (kind !== '' && kind !== expected.kind) {
    throw badRequest(
      `${kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: ` +
        `the path is that of a ${expected.kind}`,
    );
  }
  const { apiVersion: _, kind: __, ...rest } = body;
  const object = withoutNullTexts({ kind: expected.kind, apiVersion: wanted, ...rest });
  return withKnownFields(object, expected, fieldPolicy(routed));
};

const selectionOf = ({ route, query }: RoutedRequest): Selection => ({
  kind: route.kind,
  namespace: route.kind.namespaced ? route.namespace : undefined,
  query,
  ...(route.name === undefined ? {} : { name: route.name }),
});

const isWatch = (query: URLSearchParams): boolean =>
  ['true', '1', ''].includes(query.get('watch') ?? 'false');

const reviewContext = ({ server, caller }: RoutedRequest): ReviewContext => ({
  caller,
  authorizer: server.authorizer,
  userOfToken: server.userOfToken,
  nowMs: server.time.now(),
});

const onCollection = (routed: RoutedRequest): ClusterResponse => {
  const { server, register, request, route, query } = routed;
  if (route.kind.respond !== undefined && request.method !== 'POST') throw verbNotServed();
  switch (request.method) {
    case 'GET':
      return isWatch(query)
        ? watch(server, selectionOf(routed), register)
        : answerOf(200, list(server, selectionOf(routed)));
    case 'POST': {
      if (route.kind.namespaced && route.namespace === undefined) {
        throw methodNotAllowed(subjectOf(route.kind), 'create');
      }
      const object = objectOf(routed, route.kind);
      if (route.kind.respond !== undefined) {
        const problems = route.kind.problems?.(object) ?? [];
        if (problems.length > 0) throw invalidObject(kindSubjectOf(route.kind), '', problems);
        return answerOf(201, route.kind.respond(object, reviewContext(routed)));
      }
      return answerOf(201, create(server, targetOf(route), { object, ...writeOptions(routed) }));
    }
    case 'DELETE':
      return deleteCollection(routed);
    default:
      throw verbNotServed();
  }
};

/** Admission does not learn names that the request does not have. */
const nameless = (server: ApiServerState): ApiServerState => {
  const { admit } = server;
  if (admit === undefined) return server;
  return {
    ...server,
    admit: (attempt) => admit({ ...attempt, at: { ...attempt.at, name: '' } }),
  };
};

const deleteCollection = (routed: RoutedRequest): ClusterAnswer => {
  const { server, request, route, query } = routed;
  const { kind } = route;
  if (kind.verbs !== undefined && !kind.verbs.includes('deletecollection')) throw verbNotServed();
  const body = list(server, selectionOf(routed));
  const items = Array.isArray(body['items']) ? body['items'] : [];
  const silent = nameless(server);
  for (const item of items) {
    const name = textAt(item, 'metadata', 'name') ?? '';
    const at = { namespace: textAt(item, 'metadata', 'namespace') ?? '', name };
    remove(silent, { kind, at }, deleteOptions(request.body, query, name));
  }
  return answerOf(200, body);
};

const removed = (routed: RoutedRequest): ClusterAnswer => {
  const { server, request, route, query } = routed;
  const { kind, name = '' } = route;
  const options = deleteOptions(request.body, query, name);
  const { object, gone } = remove(server, targetOf(route), options);
  const accepted = !gone && options.orphanDependents === false;
  const body = gone && kind.returnsDeleted !== true ? deletedStatus(kind, object) : object;
  return answerOf(accepted ? 202 : 200, body);
};

const patchOf = (
  routed: RoutedRequest,
  part: UpdateOptions['part'],
): Patch & { readonly isForced: boolean } => ({
  contentType: contentTypeOf(routed.request),
  body: routed.request.body,
  ...writeOptions(routed),
  isForced: routed.query.get('force') === 'true',
  fields: fieldPolicy(routed),
  ...(part === undefined ? {} : { part }),
});

const onObject = (routed: RoutedRequest, part?: UpdateOptions['part']): ClusterResponse => {
  const { server, request, route, query } = routed;
  const target = targetOf(route);
  switch (request.method) {
    case 'GET':
      assertReadable(server, query);
      return answerOf(200, servedBy(route.kind, storedOrRefuse(server, target)));
    case 'PUT': {
      const object = objectOf(routed, route.kind);
      const result = update(server, target, {
        object,
        ...writeOptions(routed),
        ...(part === undefined ? {} : { part }),
      });
      return answerOf(result.created ? 201 : 200, result.object);
    }
    case 'PATCH': {
      const given = patchOf(routed, part);
      if (!isApplied(routed)) return answerOf(200, patch(server, target, given));
      const result = apply(server, target, given);
      return answerOf(result.created ? 201 : 200, result.object);
    }
    case 'DELETE':
      if (part !== undefined) throw verbNotServed();
      return removed(routed);
    default:
      throw verbNotServed();
  }
};

const onScale = (routed: RoutedRequest): ClusterAnswer => {
  const { server, request, route } = routed;
  const target = targetOf(route);
  switch (request.method) {
    case 'GET':
      return answerOf(200, scaleOf(server, target));
    case 'PUT':
      return answerOf(
        200,
        writeScale(server, target, { scale: bodyOf(routed), ...writeOptions(routed) }),
      );
    case 'PATCH': {
      const given = patchOf(routed, undefined);
      const write = isApplied(routed) ? applyScale : patchScale;
      return answerOf(200, write(server, target, given));
    }
    default:
      throw verbNotServed();
  }
};

const posted = (routed: RoutedRequest): void => {
  if (routed.request.method !== 'POST') throw verbNotServed();
};

const onPodPart = (routed: RoutedRequest, part: 'binding' | 'eviction'): ClusterAnswer => {
  posted(routed);
  const { server, route, query } = routed;
  const body = bodyOf(routed);
  // Checked as for every creation, before the pod is looked up.
  const { kind, name = '', namespace = '' } = route;
  admitToNamespace(server, kind, { object: { metadata: { name } }, namespace });
  return answerOf(
    201,
    part === 'eviction'
      ? evict(server, targetOf(route), { body, query })
      : bind(server, targetOf(route), { binding: body, dryRun: isDryRun(routed) }),
  );
};

const onToken = (routed: RoutedRequest): ClusterAnswer => {
  posted(routed);
  const { server, route } = routed;
  const { kind, at } = targetOf(route);
  const request = bodyOf(routed);
  const object = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', ...request };
  const [operation, subresource] = ['CREATE', 'token'] as const;
  server.admit?.({ operation, kind, at, subresource, object, dryRun: isDryRun(routed) });
  return answerOf(201, server.tokens.issue(at, request));
};

/** Responds to a request; throws the problem that refuses it. */
export const answerRouted = (routed: RoutedRequest): ClusterResponse => {
  const { route } = routed;
  const { kind, name, subresource } = route;
  if (name === undefined) return onCollection(routed);
  if (subresource === undefined) return onObject(routed);
  if (subresource === 'status' && kind.status !== undefined) return onObject(routed, 'status');
  if (subresource === 'scale' && kind.scale !== undefined) return onScale(routed);
  if (kind.resource === 'namespaces' && subresource === 'finalize') {
    return onObject(routed, 'finalize');
  }
  if (kind.resource === 'pods' && (subresource === 'eviction' || subresource === 'binding')) {
    return onPodPart(routed, subresource);
  }
  if (kind.resource === 'serviceaccounts' && subresource === 'token') return onToken(routed);
  throw noSuchPath();
};
