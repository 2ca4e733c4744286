/** CapacityRequests as a cache shows them, with a watch that the test drives. */
import { Subject } from 'rxjs';
import {
  type CapacityRequestProjection,
  capacityRequestProjector,
} from '../../../src/domain/demand/request.ts';
import type { Fact } from '../../../src/domain/facts.ts';
import type { ObjectKey } from '../../../src/domain/ids.ts';

const project = capacityRequestProjector();

/** What differs from a plain request for one CPU. */
export interface RequestTraits {
  readonly spec?: object;
  readonly phase?: string;
  readonly version?: string;
  readonly generation?: number;
  readonly conditions?: readonly object[];
}

/** A request in namespace `ns`, as the cache keeps it. */
export const request = (
  name: string,
  { spec, phase, version = '1', generation = 1, conditions = [] }: RequestTraits = {},
) => {
  const projection = project({
    metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: version, generation },
    spec: { resources: { cpu: '1' }, priority: 0, ...spec },
    ...(phase === undefined ? {} : { status: { phase, conditions } }),
  });
  if (projection === undefined) throw new Error('no object');
  return projection;
};

/** The cache that the cluster shows; `show` and `hide` are its watch. */
export const fedRequests = () => {
  const objects = new Map<ObjectKey, CapacityRequestProjection>();
  const facts = new Subject<Fact<CapacityRequestProjection>>();
  return {
    facts,
    get: (key: ObjectKey) => objects.get(key),
    list: (...all: readonly CapacityRequestProjection[]): void => {
      objects.clear();
      for (const one of all) objects.set(one.key, one);
      facts.next({ _tag: 'Listed', objects: all });
    },
    show: (object: CapacityRequestProjection): void => {
      objects.set(object.key, object);
      facts.next({ _tag: 'Present', object });
    },
    hide: (last: CapacityRequestProjection): void => {
      objects.delete(last.key);
      facts.next({ _tag: 'Absent', key: last.key, last });
    },
  };
};
