/**
 * The media types of request bodies: JSON for every kind, protobuf for built-in kinds.
 *
 * Promises: what follows reads JSON only. Source: `endpoints/handlers/negotiation` of the API
 * server; custom resources have no protobuf form, except for the options of a deletion.
 */
import type { ClusterRequest } from '../api.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import { unsupportedMediaType } from '../validation/problem.ts';
import { type ExpectedKind, PROTOBUF, protobufBody } from './protobuf-bodies.ts';
import type { Route } from './route.ts';
import { wellFormed } from './well-formed.ts';

const JSON_TYPE = 'application/json';

/** The media type of a request body, without parameters. */
export const contentTypeOf = ({ headers }: Pick<ClusterRequest, 'headers'>): string =>
  (headers?.['content-type'] ?? JSON_TYPE).split(';')[0]?.trim() ?? '';

/** Throws 415 unless the body is JSON; a patch has media types of its own. */
export const assertJson = (request: ClusterRequest, { custom }: Kind): void => {
  if (contentTypeOf(request) === JSON_TYPE || request.method === 'PATCH') return;
  throw unsupportedMediaType(
    'the body of the request was in an unknown format - accepted media types include: ' +
      (custom ? JSON_TYPE : `${JSON_TYPE}, ${PROTOBUF}`),
  );
};

const SUBRESOURCE_KINDS: Readonly<Record<string, ExpectedKind>> = {
  binding: { apiVersion: 'v1', kind: 'Binding' },
  eviction: { apiVersion: 'policy/v1', kind: 'Eviction' },
  scale: { apiVersion: 'autoscaling/v1', kind: 'Scale' },
  token: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
};

const expectedKind = ({ kind, subresource = '' }: Route): ExpectedKind =>
  SUBRESOURCE_KINDS[subresource] ?? { apiVersion: apiVersionOf(kind), kind: kind.kind };

/** The request with a body in JSON, if this kind can have it in protobuf. */
export const withJsonBody = (request: ClusterRequest, route: Route): ClusterRequest => {
  const { body, method } = request;
  if (!(body instanceof Uint8Array)) return { ...request, body: wellFormed(body) };
  const isDeletion = method === 'DELETE';
  if (method === 'PATCH' || (route.kind.custom && !isDeletion)) {
    return { ...request, body: undefined };
  }
  const expected = isDeletion ? { apiVersion: 'v1', kind: 'DeleteOptions' } : expectedKind(route);
  return {
    ...request,
    headers: { ...request.headers, 'content-type': JSON_TYPE },
    body: protobufBody(body, expected),
  };
};
