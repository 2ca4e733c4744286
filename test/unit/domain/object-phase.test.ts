/** DR-40: which phase is written when both frames and a drain affect it. */
import { describe, expect, test } from 'vitest';
import { type MachinePhase, type Phase, PHASES } from '../../../src/domain/machine-phase.ts';
import type { NodeLink } from '../../../src/domain/node-link.ts';
import {
  endsUndrained,
  errorToShow,
  type PhaseFacts,
  phaseToShow,
} from '../../../src/domain/object-phase.ts';

const node = (held: boolean): NodeLink => ({
  name: 'n1',
  uid: 'nu1',
  ready: true,
  held,
  ended: null,
  releasable: false,
});

const facts = (
  reported: MachinePhase | null,
  phase: Phase | null,
  more: Partial<PhaseFacts> = {},
): PhaseFacts => ({
  reported,
  current: phase === null ? null : { phase, lastError: 'what it said', nodeName: 'n1' },
  node: node(false),
  drain: null,
  servesAgain: false,
  ...more,
});

const HELD = { node: node(true) };
const OF_DRAINS = ['Draining', 'Drained', 'Failed'] as const;
const EARLIER = ['Provisioning', 'Launched', 'Registered', 'Ready', 'Draining'] as const;

describe('phaseToShow', () => {
  test.each(OF_DRAINS)('DR-40: no frame moves a held machine back from %s', (current) => {
    for (const reported of EARLIER) {
      expect(phaseToShow(facts(reported, current, HELD)), reported).toBe(current);
    }
  });

  test.each(['Drained', 'Failed'] as const)(
    'DR-40: Draining that is written after the end is on the Node gives way to %s',
    (ended) => {
      const marked = { node: { ...node(true), ended } };
      for (const reported of EARLIER) {
        expect(phaseToShow(facts(reported, 'Draining', marked)), reported).toBe(ended);
      }
    },
  );

  test.each(['Drained', 'Failed'] as const)(
    'DR-40: %s on the Node is shown when no frame is newer, and not to the next lifecycle',
    (ended) => {
      const marked = { node: { ...node(true), ended } };
      for (const current of ['Registered', 'Ready'] as const) {
        expect(phaseToShow(facts('Ready', current, marked)), current).toBe(ended);
        const again = { ...marked, servesAgain: true };
        expect(phaseToShow(facts('Ready', current, again)), current).toBe('Ready');
        expect(phaseToShow(facts('Registered', current, marked)), current).toBe('Registered');
      }
    },
  );

  test('DR-40: frames decide while no drain has reported', () => {
    for (const reported of PHASES) {
      expect(phaseToShow(facts(reported, 'Ready', HELD))).toBe(reported);
    }
  });

  test('DR-40: an object without a status shows the end on the Node of a machine that has one', () => {
    const current = { phase: null, lastError: '', nodeName: '' };
    for (const ended of ['Drained', 'Failed'] as const) {
      const marked = { current, node: { ...node(true), ended }, servesAgain: true };
      for (const reported of EARLIER) {
        const wanted = reported === 'Ready' || reported === 'Draining' ? ended : reported;
        expect(phaseToShow(facts(reported, null, marked)), reported).toBe(wanted);
      }
    }
    const opened = { ...node(true), ended: 'Drained' as const, releasable: true };
    expect(phaseToShow(facts('Ready', null, { current, node: opened, servesAgain: true })))
      .toBe('Ready');
    const cancelled = { current, node: { ...node(false), ended: 'Cancelled' as const } };
    expect(phaseToShow(facts('Ready', null, cancelled))).toBe('Ready');
  });

  test('DR-40: frames decide when no key holds the Node', () => {
    for (const reported of EARLIER) {
      for (const current of OF_DRAINS) expect(phaseToShow(facts(reported, current))).toBe(reported);
    }
  });

  test('DR-40: the last report of the drain is written, whatever was written before', () => {
    for (const current of PHASES) {
      for (const drain of [{ _tag: 'Draining' }, { _tag: 'Drained' }] as const) {
        expect(phaseToShow(facts('Ready', current, { ...HELD, drain }))).toBe(drain._tag);
        expect(phaseToShow(facts(null, current, { ...HELD, drain }))).toBe(drain._tag);
      }
    }
  });

  test('DR-40: a machine that the fleet reports FAILED is Failed, drained or not', () => {
    for (const current of PHASES) {
      expect(phaseToShow(facts('Failed', current, HELD))).toBe('Failed');
      expect(phaseToShow(facts('Failed', current, { ...HELD, drain: { _tag: 'Draining' } })))
        .toBe('Failed');
    }
  });

  test('DR-40: an unbound machine ends whatever its drain reports', () => {
    for (const reported of ['Gone', 'Drained'] as const) {
      expect(phaseToShow(facts(reported, 'Draining', { ...HELD, drain: { _tag: 'Draining' } })))
        .toBe(reported);
    }
  });

  test('DR-06: a machine drained until its Node was deleted stays Drained until its next lifecycle', () => {
    const gone = { node: null };
    expect(phaseToShow(facts('Draining', 'Drained', gone))).toBe('Drained');
    expect(phaseToShow(facts('Ready', 'Drained', gone))).toBe('Drained');
    expect(phaseToShow(facts('Registered', 'Drained', gone))).toBe('Registered');
    expect(phaseToShow(facts('Ready', 'Drained'))).toBe('Ready');
  });

  test('DR-40: a Drained by another client without a Node is overwritten', () => {
    const current = { phase: 'Drained', lastError: '', nodeName: '' } as const;
    expect(phaseToShow(facts('Ready', null, { current, node: null }))).toBe('Ready');
  });
});

describe('errorToShow', () => {
  test('DR-41: the error of a failed drain is written, and stays while the key holds', () => {
    const drain = { _tag: 'Failed', lastError: '1 pod remains: ns/a (two budgets)' } as const;
    expect(errorToShow(facts('Draining', 'Draining', { ...HELD, drain }), 'Failed', ''))
      .toBe(drain.lastError);
    expect(errorToShow(facts('Draining', 'Failed', HELD), 'Failed', '')).toBe('what it said');
    expect(errorToShow(facts('Failed', 'Failed'), 'Failed', '')).toBe('');
  });

  test('DR-41: an object that did not get the error of its failed drain refers to its Node', () => {
    const current = { phase: null, lastError: '', nodeName: '' };
    const text = (ended: NodeLink['ended']) =>
      errorToShow(facts('Ready', null, { current, node: { ...node(true), ended } }), 'Failed', '');
    expect(text('Failed')).toBe('the drain of Node "n1" failed; its Events say why');
    expect(text('Drained')).toBe('');
  });

  test('DR-41: the error of a FAILED frame takes precedence', () => {
    expect(errorToShow(facts('Failed', 'Failed', HELD), 'Failed', 'no disk')).toBe('no disk');
  });

  test('DR-41: a phase other than Failed has no error of a failed drain', () => {
    expect(errorToShow(facts('Draining', 'Failed', HELD), 'Draining', '')).toBe('');
    expect(errorToShow(facts('Draining', 'Failed', HELD), 'Drained', '')).toBe('');
  });

  test('DR-42: what blocks a drain is shown while it drains, and kept by a process that does not know it yet', () => {
    const shows = (drain: PhaseFacts['drain']) =>
      errorToShow(facts('Draining', 'Draining', { ...HELD, drain }), 'Draining', '');
    expect(shows({ _tag: 'Draining', blocked: 'two budgets' })).toBe('two budgets');
    expect(shows({ _tag: 'Draining', blocked: '' })).toBe('');
    expect(shows({ _tag: 'Draining' })).toBe('what it said');
    expect(shows(null)).toBe('what it said');
  });
});

test('DR-40: a machine whose drain failed is not Drained when the fleet takes it', () => {
  expect(endsUndrained(facts('Drained', 'Failed', HELD))).toBe(true);
  expect(endsUndrained(facts('Drained', 'Draining', HELD))).toBe(false);
  expect(endsUndrained(facts('Drained', 'Failed'))).toBe(false);
});
