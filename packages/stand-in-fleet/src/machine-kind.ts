/** Kinds of machines with labels, resources and price, and a default catalogue. */
import { type Amounts, isUnreadable, readAmounts } from './quantity.ts';

/** The properties shared by machines of one kind. */
export interface MachineKind {
  /** Equal for equal kinds. */
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: Readonly<Record<string, string>>;
  readonly amounts: Amounts;
  /** Dollars. */
  readonly costPerHour: number;
}

/** A kind as people write it in files. */
export type KindDescription = Pick<MachineKind, 'labels' | 'resources' | 'costPerHour'>;

const sorted = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(record).sort(([left], [right]) => left < right ? -1 : 1));

/** Creates a kind; throws when a resource is not a quantity. */
export const machineKind = (description: KindDescription): MachineKind => {
  const labels = sorted(description.labels);
  const resources = sorted(description.resources);
  const amounts = readAmounts(resources);
  if (isUnreadable(amounts)) {
    throw new Error(`Cannot make a machine: ${amounts.resource} "${amounts.text}" is no quantity`);
  }
  const { costPerHour } = description;
  return {
    key: JSON.stringify([labels, resources, costPerHour]),
    labels,
    resources,
    amounts,
    costPerHour,
  };
};

/** The labels of a kind of the catalogue. */
export const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const ARCH = 'kubernetes.io/arch';
const OS = 'kubernetes.io/os';

interface InstanceType {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
  readonly gpu?: string;
  readonly costPerHour: number;
}

/** In seeding order. */
const INSTANCE_TYPES: readonly InstanceType[] = [
  { name: 'standard-8', cpu: '8', memory: '32Gi', costPerHour: 0.39 },
  { name: 'standard-16', cpu: '16', memory: '64Gi', costPerHour: 0.78 },
  { name: 'standard-8', cpu: '8', memory: '32Gi', costPerHour: 0.39 },
  { name: 'highmem-8', cpu: '8', memory: '64Gi', costPerHour: 0.52 },
  { name: 'standard-4', cpu: '4', memory: '16Gi', costPerHour: 0.2 },
  { name: 'standard-8', cpu: '8', memory: '32Gi', costPerHour: 0.39 },
  { name: 'highcpu-32', cpu: '32', memory: '32Gi', costPerHour: 1.2 },
  { name: 'a3-highgpu-8g', cpu: '208', memory: '1872Gi', gpu: '8', costPerHour: 88.25 },
];

const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
const PODS = '110';

const catalogueKind = (type: InstanceType, zone: string): MachineKind =>
  machineKind({
    labels: {
      [INSTANCE_TYPE]: type.name,
      [ZONE]: zone,
      [REGION]: 'region-1',
      [ARCH]: 'amd64',
      [OS]: 'linux',
    },
    resources: {
      cpu: type.cpu,
      memory: type.memory,
      pods: PODS,
      ...(type.gpu === undefined ? {} : { 'nvidia.com/gpu': type.gpu }),
    },
    costPerHour: type.costPerHour,
  });

/** The kinds of the seeded machines, cycled by their numbers. */
export const CATALOGUE: readonly MachineKind[] = INSTANCE_TYPES.flatMap((type) =>
  ZONES.map((zone) => catalogueKind(type, zone))
);

/** The kind of a name and zone of the catalogue; undefined when there is none. */
export const kindNamed = (name: string, zone: string): MachineKind | undefined =>
  CATALOGUE.find(({ labels }) => labels[INSTANCE_TYPE] === name && labels[ZONE] === zone);

/** A seeded machine. */
export interface SeedMachine {
  readonly id: string;
  readonly kind: MachineKind;
}

/** The seeded machine number `n`, from 0: the same at every start. */
export const seedMachine = (number: number): SeedMachine => {
  const kind = CATALOGUE[number % CATALOGUE.length];
  if (kind === undefined) throw new Error(`No kind for machine number ${number}`);
  return { id: `m-${String(number + 1).padStart(6, '0')}`, kind };
};
