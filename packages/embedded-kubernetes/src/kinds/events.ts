/**
 * Events as `v1` and `events.k8s.io/v1`, which share the same stored objects.
 *
 * Source: `pkg/apis/events/v1/conversion.go`, `pkg/registry/core/event/strategy.go`.
 */
import { type JsonRecord, recordAt, textAt } from '../values/json.ts';
import { eventProblems } from '../validation/core-problems.ts';
import { type Kind, kindNames } from './kind.ts';

/** Fields of the newer version and their names in the older one. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

const renamed = (
  object: JsonRecord,
  names: ReadonlyMap<string, string>,
  apiVersion: string,
): JsonRecord => ({
  ...Object.fromEntries(
    Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value]),
  ),
  apiVersion,
});

const TO_STORED = new Map(RENAMED);
const FROM_STORED = new Map(RENAMED.map(([newer, older]) => [older, newer] as const));

const about = (event: JsonRecord, field: string): string =>
  textAt(event, 'involvedObject', field) ?? '';

const coreFields = (event: JsonRecord): Readonly<Record<string, string>> => {
  const component = textAt(event, 'source', 'component') ?? '';
  const reporting = textAt(event, 'reportingComponent') ?? '';
  return {
    'involvedObject.kind': about(event, 'kind'),
    'involvedObject.namespace': about(event, 'namespace'),
    'involvedObject.name': about(event, 'name'),
    'involvedObject.uid': about(event, 'uid'),
    'involvedObject.apiVersion': about(event, 'apiVersion'),
    'involvedObject.resourceVersion': about(event, 'resourceVersion'),
    'involvedObject.fieldPath': about(event, 'fieldPath'),
    'reason': textAt(event, 'reason') ?? '',
    'reportingComponent': reporting,
    'source': component === '' ? reporting : component,
    'type': textAt(event, 'type') ?? '',
  };
};

const NEWER_FIELDS: Readonly<Record<string, string>> = {
  'involvedObject.kind': 'regarding.kind',
  'involvedObject.namespace': 'regarding.namespace',
  'involvedObject.name': 'regarding.name',
  'involvedObject.uid': 'regarding.uid',
  'involvedObject.apiVersion': 'regarding.apiVersion',
  'involvedObject.resourceVersion': 'regarding.resourceVersion',
  'involvedObject.fieldPath': 'regarding.fieldPath',
  'reportingComponent': 'reportingController',
};

const shared = {
  resource: 'events',
  custom: false,
  status: undefined,
  collected: false,
  nameRule: 'path segment',
  unconditionalUpdate: true,
  createOnUpdate: true,
} as const;

/**
 * Times that a client did not send are served as null, as Go's zero times are: `kubectl get events
 * --sort-by=.lastTimestamp` fails on an object without the field.
 */
const UNSET_TIMES = { eventTime: null, firstTimestamp: null, lastTimestamp: null };
const UNSET_NEWER_TIMES = {
  eventTime: null,
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

/** `v1` Event. */
export const coreEventKind: Kind = {
  ...kindNames('', 'Event', { namespaced: true, shortNames: ['ev'] }),
  ...shared,
  defaulted: (event) => ({
    ...UNSET_TIMES,
    ...event,
    involvedObject: recordAt(event, 'involvedObject') ?? {},
    source: recordAt(event, 'source') ?? {},
    reportingComponent: textAt(event, 'reportingComponent') ?? '',
    reportingInstance: textAt(event, 'reportingInstance') ?? '',
  }),
  problems: eventProblems,
  fields: coreFields,
};

/** `events.k8s.io/v1` Event. Selectors read the stored form. */
export const eventKind: Kind = {
  ...kindNames('events.k8s.io', 'Event', { namespaced: true, shortNames: ['ev'] }),
  ...shared,
  conversion: {
    toStored: (object) => renamed(object, TO_STORED, 'v1'),
    fromStored: (object) => renamed(object, FROM_STORED, 'events.k8s.io/v1'),
  },
  defaulted: (event) => ({
    ...UNSET_NEWER_TIMES,
    ...event,
    regarding: recordAt(event, 'regarding') ?? {},
    deprecatedSource: recordAt(event, 'deprecatedSource') ?? {},
    reportingController: textAt(event, 'reportingController') ?? '',
    reportingInstance: textAt(event, 'reportingInstance') ?? '',
  }),
  fields: (event) =>
    Object.fromEntries(
      Object.entries(coreFields(event)).map((
        [field, value],
      ) => [NEWER_FIELDS[field] ?? field, value]),
    ),
};
