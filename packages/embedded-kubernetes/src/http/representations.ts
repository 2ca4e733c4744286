/**
 * Alternate representations of objects: full, as a Table, or metadata only.
 *
 * Promises: serves the first supported form of the `Accept` header; if none is supported, refuses
 * the request before it runs. Source: Kubernetes API concepts (alternate representations),
 * `endpoints/handlers/negotiation`.
 */
import { asRecord, type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import type { ClusterAnswer, ClusterResponse, ClusterWatch, ClusterWatchLine } from '../api.ts';
import type { Kind } from '../kinds/kind.ts';
import { ApiProblem } from '../validation/problem.ts';
import { tableOf, type TableOptions } from '../tables/tables.ts';

/** The requested representation. */
export type Form = 'object' | 'table' | 'metadata';

const FORMS: Readonly<Record<string, Form>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

const PLAIN = new Set(['application/json', 'application/*', '*/*']);

const formOfRange = (range: string): Form | undefined => {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  if (!PLAIN.has(type)) return undefined;
  const named = new Map(parameters.map((part) => {
    const [name = '', value = ''] = part.split('=');
    return [name, value];
  }));
  const as = named.get('as');
  if (as === undefined) return 'object';
  const isMeta = named.get('g') === 'meta.k8s.io' && named.get('v') === 'v1';
  return isMeta ? FORMS[as] : undefined;
};

const NOT_ACCEPTABLE = 'only the following media types are accepted: application/json';

/** The form that an `Accept` header requests; throws 406 when none is supported. */
export const formIn = (accept: string): Form => {
  if (accept.trim() === '') return 'object';
  for (const range of accept.split(',')) {
    const form = formOfRange(range);
    if (form !== undefined) return form;
  }
  throw new ApiProblem({ code: 406, reason: 'NotAcceptable', message: NOT_ACCEPTABLE });
};

/** What a conversion needs to know. */
export interface Representation extends TableOptions {
  readonly form: Form;
  readonly kind: Kind;
}

const META = 'meta.k8s.io/v1';

const metadataOf = (object: JsonRecord): JsonRecord => ({
  kind: 'PartialObjectMetadata',
  apiVersion: META,
  metadata: recordAt(object, 'metadata') ?? {},
});

const recordsIn = (list: JsonRecord): readonly JsonRecord[] =>
  listOrEmptyAt(list, 'items').map(asRecord).filter((item) => item !== undefined);

/** Converts a response body; a body that is neither the kind nor its list is unchanged. */
const bodyIn = (body: JsonRecord, representation: Representation): JsonRecord => {
  const { form, kind } = representation;
  const kindName = textAt(body, 'kind');
  const isList = kindName === kind.listKind;
  if (!isList && kindName !== kind.kind) return body;
  const metadata = isList ? recordAt(body, 'metadata') ?? {} : {
    resourceVersion: textAt(body, 'metadata', 'resourceVersion') ?? '',
  };
  const objects = isList ? recordsIn(body) : [body];
  if (form === 'table') return tableOf(representation, { metadata, objects, isFirst: true });
  return isList
    ? {
      kind: 'PartialObjectMetadataList',
      apiVersion: META,
      metadata,
      items: objects.map(metadataOf),
    }
    : metadataOf(body);
};

const answerIn = (answer: ClusterAnswer, representation: Representation): ClusterAnswer => {
  const body = asRecord(answer.body);
  return body === undefined ? answer : { ...answer, body: bodyIn(body, representation) };
};

const lineIn = (
  line: ClusterWatchLine,
  representation: Representation,
  isFirst: boolean,
): ClusterWatchLine => {
  const { type, object } = line;
  if (type === 'ERROR') return line;
  if (representation.form === 'metadata') return { type, object: metadataOf(object) };
  const metadata = { resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '' };
  const objects = type === 'BOOKMARK' ? [] : [object];
  return { type, object: tableOf(representation, { metadata, objects, isFirst }) };
};

const watchIn = (watch: ClusterWatch, representation: Representation): ClusterWatch => ({
  ...watch,
  open: (reader) => {
    // Only the first Table of a watch includes the column definitions.
    let isFirst = true;
    return watch.open({
      ...reader,
      lines: (lines) =>
        reader.lines(lines.map((line) => {
          const converted = lineIn(line, representation, isFirst);
          isFirst = false;
          return converted;
        })),
    });
  },
});

/** A response in the requested form. */
export const represented = (
  response: ClusterResponse,
  representation: Representation,
): ClusterResponse => {
  if (representation.form === 'object') return response;
  return response._tag === 'Watch'
    ? watchIn(response, representation)
    : answerIn(response, representation);
};
