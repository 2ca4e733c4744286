/** The windows of NodeMaintenances, from the registry to Nodes, status and Events. */
import { expect, test } from 'vitest';
import { maintenanceOwner } from '../../../src/domain/drain/cordon.ts';
import { nodeOf, registryRig } from '../../support/node-maintenance/registry-rig.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SETTLED_MS = 2000;
/** Opens two hours after the clock of the rig starts, in the night of 1 January 2026. */
const AT_TWO = { schedule: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC' };
const OWNER = maintenanceOwner('uid-kernel');

/** A leading registry with one Node and a maintenance in Drain, five minutes before midnight. */
const limited = (window: object, stage: 'Cordon' | 'Drain' = 'Drain') => {
  const rig = registryRig();
  rig.sync();
  rig.registry.onLeading();
  rig.nodes.put(nodeOf('n1'));
  rig.maintain('kernel', { stage, isProtected: true, spec: { window } });
  return {
    ...rig,
    /** What the last written status has as the condition `Drained`. */
    condition: (): string => {
      const statuses = rig.writes.flatMap((one) => one.write === 'setStatus' ? [one.status] : []);
      const drained = statuses.at(-1)?.conditions.find(({ type }) => type === 'Drained');
      return drained === undefined ? '' : `${drained.reason}: ${drained.message}`;
    },
    reasons: () => rig.notes.map(({ reason }) => reason),
  };
};

test('NM-50: no Node begins before the window opens, which is its next change', async () => {
  const { time, ordered, notes, condition, reasons } = limited(AT_TWO);
  await time.advance(SETTLED_MS);
  expect(condition())
    .toBe('WindowClosed: The window opens at 2026-01-01T02:00:00Z; not begun: 1 of 1 node');
  expect(notes).toMatchObject([{
    reason: 'MaintenanceWindowClosed',
    note: 'No Node begins, those under way are finished. The window opens at 2026-01-01T02:00:00Z',
  }]);
  await time.advance(2 * HOUR_MS - 2 * SETTLED_MS);
  expect([...ordered]).toEqual([]);
  await time.advance(2 * SETTLED_MS);
  expect([...ordered]).toEqual([`n1 ${OWNER}`]);
  expect(reasons(), 'once, however often the clock is looked at')
    .toEqual(['MaintenanceWindowClosed']);
  expect(condition()).toBe('Evacuating: 0 pods left on 0 of 1 node');
});

test('NM-50: a Node that shows up when the window is closed again waits for the next', async () => {
  const { time, nodes, ordered, condition } = limited(AT_TWO);
  await time.advance(3 * HOUR_MS + SETTLED_MS);
  nodes.put(nodeOf('n2'));
  await time.advance(20 * HOUR_MS);
  expect([...ordered]).toEqual([`n1 ${OWNER}`]);
  expect(condition())
    .toBe('WindowClosed: The window opens at 2026-01-02T02:00:00Z; not begun: 1 of 2 nodes');
  await time.advance(3 * HOUR_MS);
  expect([...ordered]).toEqual([`n1 ${OWNER}`, `n2 ${OWNER}`]);
});

test('NM-51: a stage Cordon shows the window, and no more when it is open', async () => {
  const { time, condition, ordered } = limited(AT_TWO, 'Cordon');
  await time.advance(SETTLED_MS);
  expect(condition()).toContain('WindowClosed');
  await time.advance(2 * HOUR_MS);
  expect(condition()).toBe('');
  expect([...ordered]).toEqual([`n1 ${OWNER}`]);
});

test('NM-50: a step of the clock into the window opens it within five minutes', async () => {
  const { time, ordered } = limited(AT_TWO);
  await time.advance(SETTLED_MS);
  time.jumpWallClock(2 * HOUR_MS);
  await time.advance(5 * MINUTE_MS);
  expect(ordered.size).toBe(1);
});

test.each([['forward', 2 * HOUR_MS], ['back', -HOUR_MS]])(
  'NM-50: an open window closes within five minutes of a step of the clock %s',
  async (_, stepMs) => {
    const { time, nodes, ordered } = limited({ ...AT_TWO, schedule: '0 0 * * *' });
    await time.advance(SETTLED_MS);
    expect(ordered.size).toBe(1);
    time.jumpWallClock(stepMs);
    await time.advance(5 * MINUTE_MS);
    nodes.put(nodeOf('n2'));
    await time.advance(SETTLED_MS);
    expect(ordered.size).toBe(1);
  },
);

test.each([
  [
    { schedule: '61 2 * * *' },
    'Cannot read spec.window.schedule "61 2 * * *" of NodeMaintenance "kernel": CronPattern: ' +
    'Invalid value for minute: 61; write five fields of cron, such as "0 2 * * 6" for ' +
    'Saturdays at 02:00',
  ],
  [
    { timeZone: 'Mars/One' },
    'Cannot read spec.window.timeZone "Mars/One" of NodeMaintenance "kernel": ' +
    'no such time zone; write an IANA name, such as "Europe/Berlin"',
  ],
])('NM-51: %j touches no Node and names object, field and remedy', async (bad, text) => {
  const { time, ordered, notes, condition, maintain } = limited({ ...AT_TWO, ...bad });
  await time.advance(24 * HOUR_MS);
  expect([...ordered]).toEqual([]);
  expect(condition()).toBe(`WindowMalformed: ${text}; not begun: 1 of 1 node`);
  expect(notes).toMatchObject([
    { reason: 'MaintenanceWindowMalformed', note: `No Node begins. ${text}` },
  ]);
  maintain('kernel', { stage: 'Drain', isProtected: true, generation: 2 }, '100');
  await time.advance(SETTLED_MS);
  expect(ordered.size, 'without the window').toBe(1);
});

test('NM-51: a window that does not open again is named', async () => {
  const { time, condition } = limited({ ...AT_TWO, schedule: '0 0 31 2 *' });
  await time.advance(SETTLED_MS);
  expect(condition()).toBe(
    'WindowClosed: The window does not open again: spec.window.schedule "0 0 31 2 *" of ' +
      'NodeMaintenance "kernel" has no further start; change it; not begun: 1 of 1 node',
  );
});
