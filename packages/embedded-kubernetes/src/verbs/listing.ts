/**
 * `GET` of one object and of lists: selectors, pages and revisions.
 *
 * Source: `apiserver/pkg/storage/etcd3/store.go` (GetList), `storage/continue.go`, Kubernetes API
 * concepts (resource versions).
 */
import {
  type JsonRecord,
  numberAt,
  parseJson,
  textAt,
  textRecordOrEmptyAt,
} from '../values/json.ts';
import { type ApiServerState, servedBy } from '../api-server-state.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import { invalidObject } from '../validation/field-problem.ts';
import { ApiProblem, badRequest, expired, tooLargeRevision } from '../validation/problem.ts';
import { firstIndex, type NamedObject } from '../storage/collection.ts';
import { type FieldTest, fieldTest } from './field-query.ts';
import { type LabelTest, labelTest } from './label-query.ts';

/** Options of a list or a watch. */
export interface Selection {
  readonly kind: Kind;
  /** Undefined is every namespace. */
  readonly namespace: string | undefined;
  /** Undefined is every name; set for a watch of a single object. */
  readonly name?: string;
  readonly query: URLSearchParams;
}

/** Whether an object matches; undefined matches all. */
export type ObjectTest = (object: JsonRecord) => boolean;

/** The predicate of a query's selectors. */
export const objectTest = ({ kind, query, name }: Selection): ObjectTest | undefined => {
  const labels: LabelTest | undefined = labelTest(query.get('labelSelector') ?? '');
  const fields: FieldTest | undefined = fieldTest(query.get('fieldSelector') ?? '', kind);
  if (labels === undefined && fields === undefined && name === undefined) return undefined;
  return (object) =>
    (name === undefined || textAt(object, 'metadata', 'name') === name) &&
    (labels === undefined || labels(textRecordOrEmptyAt(object, 'metadata', 'labels'))) &&
    (fields === undefined || fields(object));
};

const REVISION = /^(0|[1-9][0-9]*)$/;

/** The resourceVersion of a query; undefined when absent. Throws when it is not a number. */
export const revisionIn = (query: URLSearchParams): number | undefined => {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (REVISION.test(text)) return Number(text);
  throw badRequest(
    `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ` +
      'invalid syntax',
  );
};

interface Token {
  readonly revision: number;
  /** The first key of the page in the real server's form: `namespace/name\0`. */
  readonly start: string;
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

const tokenText = ({ revision, start }: Token): string =>
  btoa(JSON.stringify({ v: TOKEN_VERSION, rv: revision, start })).replaceAll('+', '-')
    .replaceAll('/', '_').replace(/=+$/, '');

const tokenOf = (text: string): Token => {
  const value = decoded(text);
  const [revision, start] = [numberAt(value, 'rv'), textAt(value, 'start')];
  if (textAt(value, 'v') !== TOKEN_VERSION || revision === undefined || start === undefined) {
    throw badRequest('continue key is not valid: it is no token of this server');
  }
  return { revision, start };
};

const decoded = (text: string): unknown => {
  try {
    return parseJson(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
};

const keyOf = ({ at: { namespace, name } }: NamedObject): string =>
  namespace === '' ? name : `${namespace}/${name}`;

const TOO_OLD = 'The provided continue parameter is too old to display a consistent list result. ' +
  'You can start a new list without the continue parameter, or use the continue token in this ' +
  'response to retrieve the remainder of the results. Continuing with the provided token ' +
  'results in an inconsistent list - objects that were created, modified, or deleted between ' +
  'the time the first chunk was returned and now may show up in the list.';

const tooOldToken = (token: Token, now: number): ApiProblem =>
  new ApiProblem({
    code: 410,
    reason: 'Expired',
    message: TOO_OLD,
    metadata: { continue: tokenText({ revision: now, start: token.start }) },
  });

interface Page {
  readonly items: readonly NamedObject[];
  readonly revision: number;
  readonly continueWith?: string;
  readonly remaining?: number;
}

const limitOf = (query: URLSearchParams): number => {
  const text = query.get('limit') ?? '';
  const limit = Number(text);
  if (Number.isNaN(limit)) {
    throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  }
  return Number.isInteger(limit) && limit > 0 ? limit : Number.POSITIVE_INFINITY;
};

/** The first index whose key follows the last one of the previous page. */
const startIndex = (walked: readonly NamedObject[], start: string): number => {
  const ended = start.replaceAll('\0', '');
  return firstIndex(walked, (named) => keyOf(named) > ended);
};

const paged = (
  walked: readonly NamedObject[],
  { limit, revision, test }: {
    readonly limit: number;
    readonly revision: number;
    readonly test: ObjectTest | undefined;
  },
): Page => {
  const items: NamedObject[] = [];
  let seen = 0;
  for (const named of walked) {
    if (items.length >= limit) break;
    seen += 1;
    if (test === undefined || test(named.object)) items.push(named);
  }
  const last = walked[seen - 1];
  const rest = walked.length - seen;
  const more = test === undefined
    ? rest > 0
    : walked.slice(seen).some(({ object }) => test(object));
  if (!more || last === undefined) return { items, revision };
  return {
    items,
    revision,
    continueWith: tokenText({ revision, start: `${keyOf(last)}\0` }),
    ...(test === undefined ? { remaining: rest } : {}),
  };
};

const assertQuery = (query: URLSearchParams): void => {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === '') return;
  const problem = (detail: string) =>
    invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
      {
        reason: 'FieldValueForbidden',
        field: 'resourceVersionMatch',
        message: `Forbidden: ${detail}`,
      },
    ]);
  if ((query.get('resourceVersion') ?? '') === '') {
    throw problem('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if ((query.get('continue') ?? '') !== '') {
    throw problem('resourceVersionMatch is forbidden when continue is provided');
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    throw problem(`"${match}" is neither "Exact" nor "NotOlderThan"`);
  }
  if (match === 'Exact' && query.get('resourceVersion') === '0') {
    throw problem('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
};

/** The revision of a list: the newest, or the one that the query names. */
const readAt = (server: ApiServerState, { kind, namespace, query }: Selection): Page => {
  const { store } = server;
  const collection = store.collection(kind.resource);
  const token = query.get('continue') ?? '';
  const now = store.revision();
  const asked = revisionIn(query);
  if (token !== '') {
    if (asked !== undefined && asked !== 0) {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const { revision, start } = tokenOf(token);
    const walked = collection.orderedAt(revision, namespace);
    if (walked === undefined) throw tooOldToken({ revision, start }, now);
    return { items: walked.slice(startIndex(walked, start)), revision };
  }
  if (asked !== undefined && asked > now) throw tooLargeRevision(asked, now);
  const exact = query.get('resourceVersionMatch') === 'Exact';
  if (!exact || asked === undefined) {
    const items = namespace === undefined
      ? collection.orderedAt(now) ?? []
      : [...collection.ordered(namespace)];
    return { items, revision: now };
  }
  const walked = collection.orderedAt(asked, namespace);
  if (walked === undefined) {
    throw expired(`The resourceVersion for the provided list is too old.`);
  }
  return { items: walked, revision: asked };
};

/** A list item; built-in ones omit their kind. */
const itemOf = (kind: Kind, stored: JsonRecord): JsonRecord => {
  const object = servedBy(kind, stored);
  if (kind.custom) return object;
  const { apiVersion: _, kind: __, ...rest } = object;
  return rest;
};

/** The requested list. */
export const list = (server: ApiServerState, selection: Selection): JsonRecord => {
  const { kind, query } = selection;
  assertQuery(query);
  const test = objectTest(selection);
  const { items, revision } = readAt(server, selection);
  const page = paged(items, { limit: limitOf(query), revision, test });
  return {
    kind: kind.listKind,
    apiVersion: apiVersionOf(kind),
    metadata: {
      resourceVersion: `${revision}`,
      ...(page.continueWith === undefined ? {} : { continue: page.continueWith }),
      ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    },
    items: page.items.map(({ object }) => itemOf(kind, object)),
  };
};

/** Throws when a GET names a future revision. */
export const assertReadable = ({ store }: ApiServerState, query: URLSearchParams): void => {
  const asked = revisionIn(query);
  if (asked !== undefined && asked > store.revision()) {
    throw tooLargeRevision(asked, store.revision());
  }
};
