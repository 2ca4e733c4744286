/**
 * Fields that a kind does not have: they are dropped, or refused with `fieldValidation=Strict`.
 *
 * Promises: a custom kind has the fields of its schema; of built-in kinds the fields at the top and
 * in the metadata are known, deeper ones are kept as they come: there is no schema of them here.
 */
import { asList, asRecord, type JsonRecord, recordAt } from '../../domain/json.ts';
import type { Kind } from './kind.ts';
import { badRequest } from './problem.ts';

const EVERY_KIND = ['apiVersion', 'kind', 'metadata'];
const USUAL = ['spec', 'status'];

const METADATA = new Set([
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generateName',
  'generation',
  'labels',
  'managedFields',
  'name',
  'namespace',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** Fields of the kinds that have others than a spec and a status, by kind. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ['binaryData', 'data', 'immutable'],
  Secret: ['data', 'immutable', 'stringData', 'type'],
  ServiceAccount: ['automountServiceAccountToken', 'imagePullSecrets', 'secrets'],
  PriorityClass: ['description', 'globalDefault', 'preemptionPolicy', 'value'],
  Event: [
    'action',
    'count',
    'deprecatedCount',
    'deprecatedFirstTimestamp',
    'deprecatedLastTimestamp',
    'deprecatedSource',
    'eventTime',
    'firstTimestamp',
    'involvedObject',
    'lastTimestamp',
    'message',
    'note',
    'reason',
    'regarding',
    'related',
    'reportingComponent',
    'reportingController',
    'reportingInstance',
    'series',
    'source',
    'type',
  ],
};

const knownOf = ({ kind }: Kind): ReadonlySet<string> =>
  new Set([...EVERY_KIND, ...(OTHERS[kind] ?? USUAL)]);

const only = (record: JsonRecord, known: ReadonlySet<string>): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([field]) => known.has(field)));

const builtInPruned = (object: JsonRecord, kind: Kind): JsonRecord => {
  const kept = only(object, knownOf(kind));
  const metadata = recordAt(kept, 'metadata');
  return metadata === undefined ? kept : { ...kept, metadata: only(metadata, METADATA) };
};

/** Paths of the fields that `kept` lost. */
const lost = (value: unknown, kept: unknown, path = ''): readonly string[] => {
  const list = asList(value);
  if (list !== undefined) {
    return list.flatMap((item, index) => lost(item, asList(kept)?.[index], `${path}[${index}]`));
  }
  return Object.entries(asRecord(value) ?? {}).flatMap(([field, inner]) => {
    const at = path === '' ? field : `${path}.${field}`;
    const left = asRecord(kept);
    return left !== undefined && Object.hasOwn(left, field) ? lost(inner, left[field], at) : [at];
  });
};

/** An object without the fields that its kind does not have; refuses it when it is strict. */
export const withKnownFields = (
  object: JsonRecord,
  kind: Kind,
  isStrict: boolean,
): JsonRecord => {
  const kept = kind.pruned?.(object) ?? builtInPruned(object, kind);
  const unknown = isStrict ? lost(object, kept) : [];
  if (unknown.length === 0) return kept;
  const said = unknown.map((field) => `unknown field "${field}"`).join(', ');
  throw badRequest(`strict decoding error: ${said}`);
};
