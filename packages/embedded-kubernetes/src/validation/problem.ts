/**
 * API errors with the real server's messages (`apimachinery/pkg/api/errors`).
 *
 * Promises: a problem is a complete `Status`: code, reason, message, details with causes. Verbs
 * throw it, and the request handler turns it into a response.
 */
import type { JsonRecord } from '../values/json.ts';

/** Resource or kind with its group, as in `details`. */
export interface Subject {
  readonly group: string;
  /** `pods` or `Pod`: the real server uses either, depending on the error. */
  readonly kind: string;
}

/** One cause of a refusal. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface ApiProblemFields {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: JsonRecord;
  readonly retryAfterSeconds?: number;
  readonly metadata?: JsonRecord;
}

/** A refused request. */
export class ApiProblem extends Error {
  readonly code: number;
  readonly retryAfterSeconds: number | undefined;
  /** The `Status` that the client receives. */
  readonly status: JsonRecord;

  constructor(
    { code, reason, message, details, retryAfterSeconds, metadata = {} }: ApiProblemFields,
  ) {
    super(message);
    this.name = 'ApiProblem';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** `deployments.apps`, `pods`. */
export const qualified = ({ group, kind }: Subject): string =>
  group === '' ? kind : `${kind}.${group}`;

const detailsOf = ({ group, kind }: Subject, name: string): JsonRecord => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  ...(kind === '' ? {} : { kind }),
});

/** 404 for one object. */
export const notFound = (subject: Subject, name: string): ApiProblem =>
  new ApiProblem({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(subject)} "${name}" not found`,
    details: detailsOf(subject, name),
  });

/** 404 for an unknown path. */
export const noSuchPath = (): ApiProblem =>
  new ApiProblem({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });

/** 409: the name exists. */
export const alreadyExists = (subject: Subject, name: string, leaving = false): ApiProblem =>
  new ApiProblem({
    code: 409,
    reason: 'AlreadyExists',
    message: `${leaving ? 'object is being deleted: ' : ''}${qualified(subject)} "${name}" ` +
      'already exists',
    details: detailsOf(subject, name),
  });

/** 409: another write came first, or a precondition does not hold. */
export const conflict = (subject: Subject, name: string, why: string): ApiProblem =>
  new ApiProblem({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`,
    details: detailsOf(subject, name),
  });

/** The message for a stale resourceVersion. */
export const OUTDATED =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 403, with the real server's causes. */
export const forbidden = (
  subject: Subject,
  name: string,
  { why, causes = [] }: { readonly why: string; readonly causes?: readonly Cause[] },
): ApiProblem =>
  new ApiProblem({
    code: 403,
    reason: 'Forbidden',
    message: name === ''
      ? `${qualified(subject)} is forbidden: ${why}`
      : `${qualified(subject)} "${name}" is forbidden: ${why}`,
    details: { ...detailsOf(subject, name), ...(causes.length === 0 ? {} : { causes }) },
  });

/** 400: the request is malformed. */
export const badRequest = (message: string): ApiProblem =>
  new ApiProblem({ code: 400, reason: 'BadRequest', message });

/** 410: the requested revision is compacted. */
export const expired = (message: string): ApiProblem =>
  new ApiProblem({ code: 410, reason: 'Expired', message });

/** 405 for an action that the kind does not support. */
export const methodNotAllowed = (subject: Subject, action: string): ApiProblem =>
  new ApiProblem({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${action} is not supported on resources of kind "${qualified(subject)}"`,
    details: detailsOf(subject, ''),
  });

/** 405: the verb is not supported on this path. */
export const verbNotServed = (): ApiProblem =>
  new ApiProblem({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });

/** 415. */
export const unsupportedMediaType = (message: string): ApiProblem =>
  new ApiProblem({ code: 415, reason: 'UnsupportedMediaType', message });

/** 429 with its causes. */
export const tooManyRequests = (
  message: string,
  { causes = [], retryAfterSeconds }: {
    readonly causes?: readonly Cause[];
    readonly retryAfterSeconds?: number;
  },
): ApiProblem =>
  new ApiProblem({
    code: 429,
    reason: 'TooManyRequests',
    message,
    details: {
      ...(causes.length === 0 ? {} : { causes }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

/** 504: the requested revision is newer than the store's. */
export const tooLargeRevision = (wanted: number, current: number): ApiProblem =>
  new ApiProblem({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{
        reason: 'ResourceVersionTooLarge',
        message: 'Too large resource version',
      }],
      retryAfterSeconds: 1,
    },
    retryAfterSeconds: 1,
  });

/** 500 with its cause. */
export const internalError = (why: string): ApiProblem =>
  new ApiProblem({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${why}`,
    details: { causes: [{ message: why }] },
  });
