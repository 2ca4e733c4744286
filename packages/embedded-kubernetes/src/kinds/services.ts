/** The kind Service: cluster IPs are allocated but nothing routes to them. */
import {
  asRecord,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../values/json.ts';
import { type FieldProblem, invalid, required } from '../validation/field-problem.ts';
import { type Kind, kindNames, type Moment } from './kind.ts';

const HEADLESS = 'None';
const ADDRESSES = 65_000;
const OCTET = 256;

const defaulted = (service: JsonRecord): JsonRecord => {
  const spec = recordAt(service, 'spec') ?? {};
  const ports = listOrEmptyAt(spec, 'ports').map((port) => {
    const record = asRecord(port) ?? {};
    return { protocol: 'TCP', targetPort: record['port'], ...record };
  });
  return {
    ...service,
    spec: {
      sessionAffinity: 'None',
      type: 'ClusterIP',
      internalTrafficPolicy: 'Cluster',
      ...spec,
      ...(ports.length === 0 ? {} : { ports }),
    },
  };
};

/** Addresses are sequential, so that a run is reproducible. */
const nextAddress = ({ store }: Moment): string => {
  const used = new Set<string>();
  for (const one of store.collection('services').objects()) {
    used.add(textAt(one, 'spec', 'clusterIP') ?? '');
  }
  for (let index = 1; index < ADDRESSES; index += 1) {
    const address = `10.96.${Math.floor(index / OCTET)}.${index % OCTET}`;
    if (!used.has(address)) return address;
  }
  return HEADLESS;
};

const onCreate = (service: JsonRecord, moment: Moment): JsonRecord => {
  const spec = recordAt(service, 'spec') ?? {};
  const external = textAt(spec, 'type') === 'ExternalName';
  const clusterIP = textAt(spec, 'clusterIP') ?? (external ? undefined : nextAddress(moment));
  return {
    ...service,
    spec: clusterIP === undefined ? spec : {
      ...spec,
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
    status: { loadBalancer: {} },
  };
};

const problems = (service: JsonRecord): readonly FieldProblem[] => {
  const ports = listOrEmptyAt(service, 'spec', 'ports');
  const headless = textAt(service, 'spec', 'clusterIP') === HEADLESS;
  const external = textAt(service, 'spec', 'type') === 'ExternalName';
  return [
    ...(ports.length === 0 && !headless && !external ? [required('spec.ports')] : []),
    ...ports.flatMap((port, index) => {
      const number = numberAt(port, 'port') ?? 0;
      return number >= 1 && number <= 65_535 ? [] : [
        invalid(`spec.ports[${index}].port`, number, 'must be between 1 and 65535, inclusive'),
      ];
    }),
  ];
};

/** The kind Service. */
export const serviceKind: Kind = {
  ...kindNames('', 'Service', { namespaced: true, shortNames: ['svc'], categories: ['all'] }),
  resource: 'services',
  custom: false,
  status: 'spec',
  nameRule: 'service',
  defaulted,
  onCreate,
  onUpdate: ({ wanted, current }) => ({
    ...wanted,
    spec: {
      ...recordAt(wanted, 'spec'),
      ...Object.fromEntries(
        ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']
          .filter((field) => recordAt(wanted, 'spec')?.[field] === undefined)
          .map((field) => [field, recordAt(current, 'spec')?.[field]]),
      ),
    },
    status: current['status'],
  }),
  problems,
  changeProblems: ({ wanted, current }) => {
    const [now, before] = [
      textAt(wanted, 'spec', 'clusterIP'),
      textAt(current, 'spec', 'clusterIP'),
    ];
    return now === before ? [] : [invalid('spec.clusterIPs[0]', [now], 'may not change once set')];
  },
  fields: (service) => ({
    'spec.clusterIP': textAt(service, 'spec', 'clusterIP') ?? '',
    'spec.type': textAt(service, 'spec', 'type') ?? '',
  }),
  returnsDeleted: true,
  unconditionalUpdate: true,
  createOnUpdate: true,
};
