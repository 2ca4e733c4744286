/** CapacityRequests for real clusters. */
import type { JsonRecord } from '../../../src/domain/json.ts';

/** A request for what one machine of the catalogue's smallest common kind has. */
export const wantedMachine = (name: string, spec: JsonRecord = {}): JsonRecord => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'CapacityRequest',
  metadata: { name, namespace: 'default' },
  spec: {
    requirements: [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['standard-8'] },
    ],
    resources: { cpu: '8', memory: '32Gi' },
    priority: 1000,
    ...spec,
  },
});

/** `count` such requests, named `prefix` and a number. */
export const wantedMachines = (
  count: number,
  prefix: string,
  spec: (index: number) => JsonRecord = () => ({}),
): readonly JsonRecord[] =>
  Array.from({ length: count }, (_, index) => wantedMachine(`${prefix}-${index}`, spec(index)));
