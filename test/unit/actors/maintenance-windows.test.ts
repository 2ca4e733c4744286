/** When the window of a maintenance is read. */
import { expect, test } from 'vitest';
import { maintenanceEntry } from '../../../src/actors/node-maintenance/node-maintenance-actor.ts';
import { MaintenanceWindows } from '../../../src/actors/node-maintenance/maintenance-windows.ts';
import type { ObservedWindow } from '../../../src/domain/node-maintenance/window.ts';
import { maintenanceOf, NOW_MS } from '../../support/node-maintenance/maintenance-fixture.ts';

const WINDOW = { schedule: '0 0 * * *', durationMinutes: 60, timeZone: 'UTC' };

test('NM-50: a window is read once each time that it is asked for', () => {
  let nowMs = NOW_MS;
  const sent: ObservedWindow[] = [];
  const windows = new MaintenanceWindows({ now: () => nowMs }, (_, window) => sent.push(window));
  const entry = maintenanceEntry(maintenanceOf('1', { spec: { window: WINDOW }, generation: 3 }));
  windows.renew(entry);
  expect(sent, 'nobody has asked').toEqual([]);
  entry.wantsWindow = true;
  windows.renew(entry);
  nowMs += 1000;
  windows.renew(entry);
  expect(sent).toMatchObject([{ generation: 3, observedMs: NOW_MS }]);
  entry.wantsWindow = true;
  windows.renew(entry);
  expect(sent.slice(1)).toMatchObject([{ generation: 3, observedMs: nowMs }]);
});

test('a maintenance without a window has none to read', () => {
  const sent: ObservedWindow[] = [];
  const windows = new MaintenanceWindows({ now: () => NOW_MS }, (_, window) => sent.push(window));
  const entry = maintenanceEntry(maintenanceOf('1', {}));
  entry.wantsWindow = true;
  windows.renew(entry);
  expect(sent).toEqual([]);
});
