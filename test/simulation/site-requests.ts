/** Requests to the embedded API server by clients other than the operator. */
import type {
  ClusterRequest,
  ClusterResponse,
} from '../../packages/embedded-kubernetes/src/api.ts';

/** The status and the body of an answer. */
export interface SiteAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a request; a patch is a merge patch. */
export type Ask = (method: string, path: string, body?: unknown) => SiteAnswer;

/** Applies an object (server-side apply) as a field manager, by force. */
export type Apply = (path: string, fieldManager: string, body: unknown) => SiteAnswer;

type Handle = (request: ClusterRequest) => ClusterResponse;

const answerOf = (response: ClusterResponse): SiteAnswer =>
  response._tag === 'Answer'
    ? { status: response.status, body: response.body }
    : { status: 500, body: undefined };

/** Requests of ordinary clients. */
export const asker = (handle: Handle): Ask => (method, path, body) => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return answerOf(handle({
    method,
    path,
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body }),
  }));
};

/** Requests of clients that apply. */
export const applier = (handle: Handle): Apply => (path, fieldManager, body) =>
  answerOf(handle({
    method: 'PATCH',
    path: `${path}?fieldManager=${encodeURIComponent(fieldManager)}&force=true`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body,
  }));
