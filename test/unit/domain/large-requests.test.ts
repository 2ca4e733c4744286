/** A CapacityRequest with more resources than a request may have. */
import { expect, test } from 'vitest';
import { capacityRequestProjector } from '../../../src/domain/demand/request.ts';

const ENTRIES = 1000;

// The text of the spec was made, and each entry measured, before their number was looked at: 80 ms
// for a request as large as the API server stores.
test('a request with too many resources is refused without reading one of them', () => {
  let reads = 0;
  const resources: Record<string, string> = {};
  for (let number = 0; number < ENTRIES; number += 1) {
    Object.defineProperty(resources, `cpu${number}`, {
      enumerable: true,
      get: () => {
        reads += 1;
        return '8';
      },
    });
  }
  const raw = {
    metadata: { name: 'a', namespace: 'ns', uid: 'uid', resourceVersion: '1' },
    spec: { priority: 1, resources },
  };
  expect(capacityRequestProjector()(raw)?.reading).toMatchObject({
    _tag: 'Unreadable',
    tooLarge: true,
  });
  expect(reads).toBe(0);
});
