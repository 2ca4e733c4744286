/** A machine whose frame is malformed stays bound to this cluster. */
import { expect, test } from 'vitest';
import { machineIndex } from '../../../src/actors/upcoming-nodes/machine-index.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { machineId } from '../../../src/domain/ids.ts';

test('a machine that was replayed in a malformed frame is not deleted as stale', () => {
  const index = machineIndex({
    object: () => undefined,
    telemetry: silentTelemetry,
    intern: (text) => text,
  });
  for (const id of ['read', 'malformed', 'absent']) {
    const frame = {
      machineId: machineId(id),
      state: 'Configured',
      nodeName: '',
      providerId: '',
      lastError: '',
      labels: {},
      resources: {},
      taints: [],
    } as const;
    index.putFrame(frame, 1, 0);
    if (id === 'read') index.putFrame(frame, 2, 0);
  }
  index.mention('malformed', 2);
  index.mention('never heard of', 2);
  expect(index.unbind(2).map((entry) => entry.machineId)).toEqual(['absent']);
  expect(index.size()).toBe(3);
});
