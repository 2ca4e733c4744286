/**
 * The kind Namespace and its admission.
 *
 * Source: `apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go`,
 * `pkg/registry/core/namespace/strategy.go`.
 */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import type { ApiServerState } from '../api-server-state.ts';
import { forbidden, notFound } from '../validation/problem.ts';
import { type Kind, kindNames, subjectOf } from './kind.ts';
import { nameOf, withMetadata } from './metadata.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const NAMESPACES = { group: '', kind: 'namespaces' };

const named = (object: JsonRecord): JsonRecord =>
  withMetadata(object, {
    labels: { ...recordAt(object, 'metadata', 'labels'), [NAME_LABEL]: nameOf(object) },
  });

/** Namespaces that must not be deleted. */
const PERMANENT = new Set(['default', 'kube-system', 'kube-public']);

const keepPermanent = (object: JsonRecord): void => {
  const name = nameOf(object);
  if (PERMANENT.has(name)) {
    throw forbidden(NAMESPACES, name, { why: 'this namespace may not be deleted' });
  }
};

/** The kind Namespace. Its own finalizer is in its spec. */
export const namespaceKind: Kind = {
  ...kindNames('', 'Namespace', { namespaced: false, shortNames: ['ns'] }),
  resource: 'namespaces',
  custom: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  status: 'spec',
  nameRule: 'label',
  defaulted: named,
  onCreate: (object) => ({
    ...object,
    spec: {
      ...recordAt(object, 'spec'),
      finalizers: [
        ...new Set([...listOrEmptyAt(object, 'spec', 'finalizers'), 'kubernetes']),
      ],
    },
    status: { phase: 'Active' },
  }),
  onUpdate: ({ wanted, current }) => ({
    ...wanted,
    spec: { ...recordAt(wanted, 'spec'), finalizers: listOrEmptyAt(current, 'spec', 'finalizers') },
    status: current['status'],
  }),
  fields: (object) => ({
    'name': nameOf(object),
    'status.phase': textAt(object, 'status', 'phase') ?? '',
  }),
  held: (object) => listOrEmptyAt(object, 'spec', 'finalizers').length > 0,
  onDeleting: (object) => ({
    ...object,
    status: { ...recordAt(object, 'status'), phase: 'Terminating' },
  }),
  returnsDeleted: true,
  admitDelete: keepPermanent,
  unconditionalUpdate: true,
};

/** Refuses objects in a missing or terminating namespace. */
export const admitToNamespace = (
  { store }: ApiServerState,
  kind: Kind,
  { object, namespace }: { readonly object: JsonRecord; readonly namespace: string },
): void => {
  const found = store.collection('namespaces').get({ namespace: '', name: namespace });
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (textAt(found, 'metadata', 'deletionTimestamp') === undefined) return;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(subjectOf(kind), nameOf(object), {
    why: `unable to create new content in namespace ${namespace} because it is being terminated`,
    causes: [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
  });
};
