/**
 * Refusals in the words of the real API server (`apimachinery/pkg/api/errors`).
 *
 * Promises: a problem is a whole `Status`: code, reason, message, details with their causes. Verbs
 * throw it, and the one place that answers requests turns it into an answer.
 */
import type { JsonRecord } from '../values/json.ts';

/** Resource or kind with its group, as it stands in `details`. */
export interface Subject {
  readonly group: string;
  /** `pods` or `Pod`: the real server is of two minds, error by error. */
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

/** A request was refused. */
export class ApiProblem extends Error {
  readonly code: number;
  readonly retryAfterSeconds: number | undefined;
  /** The `Status` that the client reads. */
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

/** No such path at all. */
export const noSuchPath = (): ApiProblem =>
  new ApiProblem({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });

/** 409: the name is taken. */
export const alreadyExists = (subject: Subject, name: string, leaving = false): ApiProblem =>
  new ApiProblem({
    code: 409,
    reason: 'AlreadyExists',
    message: `${leaving ? 'object is being deleted: ' : ''}${qualified(subject)} "${name}" ` +
      'already exists',
    details: detailsOf(subject, name),
  });

/** Another write came first, or a precondition does not hold. */
export const conflict = (subject: Subject, name: string, why: string): ApiProblem =>
  new ApiProblem({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`,
    details: detailsOf(subject, name),
  });

/** The message when a resourceVersion is not the newest. */
export const OUTDATED =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 403, with the causes that the real one gives. */
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

/** 400: the request makes no sense. */
export const badRequest = (message: string): ApiProblem =>
  new ApiProblem({ code: 400, reason: 'BadRequest', message });

/** What was asked for happened too long ago. */
export const expired = (message: string): ApiProblem =>
  new ApiProblem({ code: 410, reason: 'Expired', message });

/** 405 for an action that a kind does not have. */
export const methodNotAllowed = (subject: Subject, action: string): ApiProblem =>
  new ApiProblem({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${action} is not supported on resources of kind "${qualified(subject)}"`,
    details: detailsOf(subject, ''),
  });

/** The verb is not served on this path at all. */
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

/** Try again; `causes` say why. */
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

/** The server is younger than the revision that was asked for. */
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
