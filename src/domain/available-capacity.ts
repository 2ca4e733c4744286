/**
 * The wanted AvailableCapacity and the write that creates it.
 *
 * Promises: no write is pending when nothing changed; `cost` is the exact decimal of the wire's
 * double; the object is deleted when the fleet reports zero capacity with certainty.
 */
import { GROUP_VERSION } from './api-group.ts';
import { decimalText } from './decimal.ts';
import type { Identity } from './facts.ts';
import type { CapacityObservation } from './frames.ts';
import { asText, listOrEmptyAt, numberAt, parseJson, recordAt, textAt, valueAt } from './json.ts';
import { mergePatchOf } from './merge-patch.ts';
import { identityOf } from './object-meta.ts';
import type { ResourceMap } from './resources.ts';

/** The canonical JSON of an AvailableCapacity's spec; `gone` when the object must not exist. */
export type CapacitySpecText = string;

/** The cached fields of an AvailableCapacity. */
export interface AvailableCapacityProjection extends Identity {
  readonly spec: CapacitySpecText;
}

/** The fleet's last report about one profile. */
export interface CapacityReport {
  readonly spec: CapacitySpecText;
  /** True when there is certainly none. */
  readonly exhausted: boolean;
}

/** All inputs of the decision about one AvailableCapacity. */
export interface AvailableCapacityFacts {
  readonly reported: CapacityReport | null;
  readonly current: AvailableCapacityProjection | null;
}

/** A write of the object, as metrics name it. */
export type CapacityWrite = 'create' | 'spec_update' | 'delete';

interface SpecFields {
  readonly requirements: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
  readonly resources: ResourceMap;
  readonly availableCount: number;
  readonly availability: string;
  readonly cost: string;
}

const sorted = (resources: ResourceMap): ResourceMap =>
  Object.fromEntries(Object.entries(resources).sort(([a], [b]) => (a < b ? -1 : 1)));

const canonical = (fields: SpecFields): CapacitySpecText =>
  JSON.stringify({
    ...(fields.requirements.length === 0 ? {} : {
      requirements: fields.requirements.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values.length === 0 ? {} : { values }),
      })),
    }),
    resources: sorted(fields.resources),
    availableCount: fields.availableCount,
    availability: fields.availability,
    cost: fields.cost,
  });

/** A frame reduced to the stored fields. Its count and cost are valid, or it is malformed. */
export const capacityReport = (frame: CapacityObservation): CapacityReport => ({
  spec: canonical({
    requirements: frame.requirements,
    resources: frame.resources,
    availableCount: frame.availableCount,
    availability: frame.confidence,
    cost: decimalText(frame.costPerHour) ?? '0',
  }),
  exhausted: frame.availableCount === 0 && frame.confidence === 'None',
});

const quantityText = (value: unknown): string =>
  typeof value === 'number' ? String(value) : asText(value) ?? '';

/** Reads an AvailableCapacity as the API server returns it. Total. */
export const projectAvailableCapacity = (
  raw: unknown,
): AvailableCapacityProjection | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const resources = Object.entries(recordAt(raw, 'spec', 'resources') ?? {});
  return {
    ...identity,
    spec: canonical({
      requirements: listOrEmptyAt(raw, 'spec', 'requirements').map((requirement) => ({
        key: textAt(requirement, 'key') ?? '',
        operator: textAt(requirement, 'operator') ?? '',
        values: listOrEmptyAt(requirement, 'values').map((value) => asText(value) ?? ''),
      })),
      resources: Object.fromEntries(resources.map(([name, value]) => [name, quantityText(value)])),
      availableCount: numberAt(raw, 'spec', 'availableCount') ?? 0,
      availability: textAt(raw, 'spec', 'availability') ?? '',
      cost: quantityText(valueAt(raw, 'spec', 'cost')),
    }),
  };
};

/** The object to create. */
export const newAvailableCapacity = (name: string, spec: CapacitySpecText): object => ({
  apiVersion: GROUP_VERSION,
  kind: 'AvailableCapacity',
  metadata: { name },
  spec: parseJson(spec),
});

/** The merge patch of what changed; `undefined` when nothing did. */
export const capacityPatch = (
  { reported, current }: AvailableCapacityFacts,
): object | undefined => {
  if (reported === null || current === null || reported.spec === current.spec) return undefined;
  const spec = mergePatchOf(parseJson(current.spec), parseJson(reported.spec));
  return spec === undefined ? undefined : { spec };
};

/** The pending write; `undefined` when the object matches the fleet's report. */
export const pendingCapacityWrite = (
  { reported, current }: AvailableCapacityFacts,
): CapacityWrite | undefined => {
  if (reported === null) return undefined;
  if (reported.exhausted) return current === null ? undefined : 'delete';
  if (current === null) return 'create';
  return reported.spec === current.spec ? undefined : 'spec_update';
};
