/** What `tidegate explain node` says of a Node that fails. */
import { expect, test } from 'vitest';
import { withAvailability } from '../../../src/view/explain-availability.ts';
import type { Explanation } from '../../../src/view/explanation.ts';
import type { AvailabilityLabel } from '../../../src/domain/node-availability/node-state.ts';

const explanation = (state: string): Explanation => ({
  kind: 'Node',
  name: 'node-1',
  state,
  what: 'A Node of this cluster',
  why: 'It is schedulable',
  waitsFor: 'Nothing',
  canAct: 'nobody',
  action: '',
  runbook: '',
  problems: [],
  details: [],
  events: [],
});

const explained = (label: AvailabilityLabel | null, state = 'Schedulable', more: object = {}) =>
  withAvailability(explanation(state), {
    availability: { label, isTainted: false, isConfirmedGone: false, isConfirmedByCommand: false },
    whyDisabled: '',
    ...more,
  });

test('RS-01: a Node that fails is explained by its failure, with who can act', () => {
  expect(explained('OfflineStorm')).toMatchObject({
    state: 'OfflineStorm',
    why: 'Many Nodes went offline together, so none of their pods is deleted',
    waitsFor: 'The Node to come back, or a person to confirm that its machine is gone',
    canAct: 'platform',
    runbook: expect.stringContaining('#offline-storm'),
    details: [{ name: 'Availability', value: 'OfflineStorm' }],
  });
  expect(explained('Offline')).toMatchObject({ state: 'Offline', canAct: 'provider' });
});

test('RS-01: a drain stays the main thing, and the failure is beside it', () => {
  const { state, details } = explained('Offline', 'Draining');
  expect([state, details.map(({ name }) => name)])
    .toEqual(['Draining', ['Availability', 'NodeOffline', 'Runbook']]);
});

test('RS-03: a disabled Node says why, and one without a state says nothing', () => {
  const { details } = explained('Disabled', 'Draining', { whyDisabled: 'a fan is loud' });
  expect(details).toEqual([
    { name: 'Availability', value: 'Disabled' },
    { name: 'Disabled because', value: 'a fan is loud' },
  ]);
  expect(explained(null)).toEqual(explanation('Schedulable'));
});
