/** The QoS class of a pod (`pkg/apis/core/v1/helper/qos/qos.go`). */
import { type JsonRecord, listOrEmptyAt, recordAt } from '../values/json.ts';

const COUNTED = ['cpu', 'memory'];

const isNothing = (quantity: unknown): boolean =>
  quantity === undefined || /^[+-]?0*(\.0*)?[a-zA-Z]*$/.test(`${quantity}`);

const named = (container: unknown, field: string): readonly (readonly [string, string])[] =>
  Object.entries(recordAt(container, 'resources', field) ?? {})
    .filter(([name, quantity]) => COUNTED.includes(name) && !isNothing(quantity))
    .map(([name, quantity]) => [name, `${quantity}`] as const);

const isGuaranteed = (container: unknown): boolean => {
  const limits = named(container, 'limits');
  const requests = new Map(named(container, 'requests'));
  return limits.length === COUNTED.length &&
    limits.every(([name, quantity]) => (requests.get(name) ?? quantity) === quantity);
};

/** `Guaranteed`, `Burstable` or `BestEffort`. */
export const qualityOfService = (spec: JsonRecord): string => {
  const containers = [
    ...listOrEmptyAt(spec, 'containers'),
    ...listOrEmptyAt(spec, 'initContainers'),
  ];
  const asks = containers.some((one) =>
    named(one, 'limits').length > 0 || named(one, 'requests').length > 0
  );
  if (!asks) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
};
