/** Table columns of nodes, Events and the small kinds. */
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../values/json.ts';
import {
  AGE,
  type Column,
  countOf,
  integer,
  labelText,
  NAME,
  orNone,
  since,
  text,
  UNKNOWN,
  wide,
} from './column.ts';

const ROLE = 'node-role.kubernetes.io/';
const OLD_ROLE = 'kubernetes.io/role';

const nodeStatus = (node: JsonRecord): string => {
  const ready = listOrEmptyAt(node, 'status', 'conditions').find((condition) =>
    textAt(condition, 'type') === 'Ready'
  );
  const readiness = textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  const known = ready === undefined ? 'Unknown' : readiness;
  const cordoned = valueAt(node, 'spec', 'unschedulable') === true;
  return cordoned ? `${known},SchedulingDisabled` : known;
};

const roles = (node: JsonRecord): string => {
  const labels = Object.entries(textRecordOrEmptyAt(node, 'metadata', 'labels'));
  const found = labels.flatMap(([key, value]) => {
    if (key.startsWith(ROLE)) return [key.slice(ROLE.length)];
    return key === OLD_ROLE && value !== '' ? [value] : [];
  });
  return orNone([...new Set(found)].sort().join(','));
};

const address = (type: string) => (node: JsonRecord): string => {
  const found = listOrEmptyAt(node, 'status', 'addresses').find((one) =>
    textAt(one, 'type') === type
  );
  return orNone(textAt(found, 'address'));
};

const nodeInfo = (field: string) => (node: JsonRecord): string => {
  const value = textAt(node, 'status', 'nodeInfo', field) ?? '';
  return value === '' ? UNKNOWN : value;
};

/** Columns of nodes. */
export const NODE_COLUMNS: readonly Column[] = [
  NAME,
  text('Status', nodeStatus),
  text('Roles', roles),
  AGE,
  text('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion') ?? ''),
  wide('Internal-IP', address('InternalIP')),
  wide('External-IP', address('ExternalIP')),
  wide('OS-Image', nodeInfo('osImage')),
  wide('Kernel-Version', nodeInfo('kernelVersion')),
  wide('Container-Runtime', nodeInfo('containerRuntimeVersion')),
];

/** The object that an Event regards, in either group's field names. */
const aboutOf = (event: JsonRecord): JsonRecord =>
  recordAt(event, 'involvedObject') ?? recordAt(event, 'regarding') ?? {};

const firstText = (event: JsonRecord, ...fields: readonly string[]): string =>
  fields.map((field) => textAt(event, field) ?? '').find((value) => value !== '') ?? '';

const lastSeen = (event: JsonRecord, nowMs: number): string => {
  const series = textAt(event, 'series', 'lastObservedTime') ?? '';
  const times = ['lastTimestamp', 'deprecatedLastTimestamp', 'eventTime', 'firstTimestamp'];
  const time = series === '' ? firstText(event, ...times) : series;
  return since(time === '' ? textAt(event, 'metadata', 'creationTimestamp') : time, nowMs);
};

const firstSeen = (event: JsonRecord, nowMs: number): string => {
  const time = firstText(event, 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime');
  return since(time === '' ? undefined : time, nowMs);
};

const objectText = (event: JsonRecord): string => {
  const { kind, name } = aboutOf(event);
  return `${kind ?? ''}`.toLowerCase() + (name === undefined ? '' : `/${name}`);
};

const sourceText = (event: JsonRecord): string => {
  const component = textAt(event, 'source', 'component') ??
    firstText(event, 'reportingComponent', 'reportingController');
  const host = textAt(event, 'source', 'host') ?? firstText(event, 'reportingInstance');
  return [component, host].filter((part) => part !== '').join(', ');
};

/** Columns of events. */
export const EVENT_COLUMNS: readonly Column[] = [
  text('Last Seen', lastSeen),
  text('Type', (event) => textAt(event, 'type') ?? ''),
  text('Reason', (event) => textAt(event, 'reason') ?? ''),
  text('Object', objectText),
  wide('Subobject', (event) => textAt(aboutOf(event), 'fieldPath') ?? ''),
  wide('Source', sourceText),
  text('Message', (event) => firstText(event, 'message', 'note').trim()),
  wide('First Seen', firstSeen),
  {
    ...wide(
      'Count',
      (event) => numberAt(event, 'series', 'count') ?? numberAt(event, 'count') ?? 1,
    ),
    type: 'integer',
  },
  wide('Name', (event) => textAt(event, 'metadata', 'name') ?? ''),
];

const at = (name: string, ...path: readonly string[]): Column =>
  text(name, (object) => textAt(object, ...path) ?? '');

const ports = (service: JsonRecord): string => {
  const ports = listOrEmptyAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    const number = `${numberAt(port, 'port') ?? ''}${nodePort === 0 ? '' : `:${nodePort}`}`;
    return `${number}/${textAt(port, 'protocol') ?? 'TCP'}`;
  });
  return orNone(ports.join(','));
};

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const modes = text(
  'Access Modes',
  (object) =>
    listOrEmptyAt(object, 'spec', 'accessModes').map((mode) => MODES[`${mode}`] ?? '').join(','),
);

const claimText = (volume: JsonRecord): string => {
  const claim = recordAt(volume, 'spec', 'claimRef');
  return claim === undefined ? '' : `${claim['namespace'] ?? ''}/${claim['name'] ?? ''}`;
};

const classOf = at('StorageClass', 'spec', 'storageClassName');
const volumeMode = wide('VolumeMode', (object) => textAt(object, 'spec', 'volumeMode') ?? UNKNOWN);
const attributes = text(
  'VolumeAttributesClass',
  (object) => textAt(object, 'spec', 'volumeAttributesClassName') ?? '<unset>',
);

/** Columns of the small kinds, by resource. */
export const SMALL_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  namespaces: [NAME, at('Status', 'status', 'phase'), AGE],
  configmaps: [NAME, { ...text('Data', (object) => countOf(object, 'data', 'binaryData')) }, AGE],
  secrets: [NAME, at('Type', 'type'), integer('Data', (object) => countOf(object, 'data')), AGE],
  serviceaccounts: [
    NAME,
    integer('Secrets', (object) => listOrEmptyAt(object, 'secrets').length),
    AGE,
  ],
  services: [
    NAME,
    at('Type', 'spec', 'type'),
    text('Cluster-IP', (service) => orNone(textAt(service, 'spec', 'clusterIP'))),
    text(
      'External-IP',
      (service) => orNone(listOrEmptyAt(service, 'spec', 'externalIPs').join(',')),
    ),
    text('Port(s)', ports),
    AGE,
    wide('Selector', (service) => labelText(recordAt(service, 'spec', 'selector'))),
  ],
  persistentvolumes: [
    NAME,
    text('Capacity', (volume) => textAt(volume, 'spec', 'capacity', 'storage') ?? ''),
    modes,
    at('Reclaim Policy', 'spec', 'persistentVolumeReclaimPolicy'),
    at('Status', 'status', 'phase'),
    text('Claim', claimText),
    classOf,
    attributes,
    at('Reason', 'status', 'reason'),
    AGE,
    volumeMode,
  ],
  persistentvolumeclaims: [
    NAME,
    at('Status', 'status', 'phase'),
    at('Volume', 'spec', 'volumeName'),
    at('Capacity', 'status', 'capacity', 'storage'),
    modes,
    classOf,
    attributes,
    AGE,
    volumeMode,
  ],
  'leases.coordination.k8s.io': [NAME, at('Holder', 'spec', 'holderIdentity'), AGE],
  'priorityclasses.scheduling.k8s.io': [
    NAME,
    integer('Value', (object) => numberAt(object, 'value') ?? 0),
    {
      ...text('Global-Default', (object) => valueAt(object, 'globalDefault') === true),
      type: 'boolean',
    },
    AGE,
    at('PreemptionPolicy', 'preemptionPolicy'),
  ],
  'volumeattachments.storage.k8s.io': [
    NAME,
    at('Attacher', 'spec', 'attacher'),
    at('PV', 'spec', 'source', 'persistentVolumeName'),
    at('Node', 'spec', 'nodeName'),
    {
      ...text('Attached', (object) => valueAt(object, 'status', 'attached') === true),
      type: 'boolean',
    },
    AGE,
  ],
  'customresourcedefinitions.apiextensions.k8s.io': [
    NAME,
    at('Created At', 'metadata', 'creationTimestamp'),
  ],
};
