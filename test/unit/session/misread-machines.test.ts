/** A machine whose frame cannot be read is bound to this cluster all the same. */
import { expect, test } from 'vitest';
import { makeRoster } from '../../../src/actors/upcoming-nodes/machine-roster.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { machineId } from '../../../src/domain/ids.ts';

test('a machine that was replayed in a frame nobody could read is not collected as stale', () => {
  const roster = makeRoster({
    object: () => undefined,
    telemetry: silentTelemetry,
    intern: (text) => text,
  });
  for (const id of ['read', 'misread', 'absent']) {
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
    roster.hear(frame, 1, 0);
    if (id === 'read') roster.hear(frame, 2, 0);
  }
  roster.mention('misread', 2);
  roster.mention('never heard of', 2);
  expect(roster.unbind(2).map((member) => member.machineId)).toEqual(['absent']);
  expect(roster.size()).toBe(3);
});
