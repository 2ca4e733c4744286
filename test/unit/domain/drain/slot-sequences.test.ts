/**
 * Slots against a small API server with a disruption controller: evictions, statuses, observations
 * and bookmarks in every order that the real one can produce, within the lifetime of a reservation.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../../src/domain/drain/budget.ts';
import {
  answerReservation,
  beginReservation,
  departReservation,
  freeSlots,
  openReservations,
  type Reservation,
} from '../../../../src/domain/drain/slots.ts';
import { resourceVersion, uid } from '../../../../src/domain/ids.ts';
import { budgetOf } from '../../../support/drains/drain-facts.ts';

interface Call {
  readonly pod: string;
  phase: 'sent' | 'charged' | 'deleted' | 'refused';
}

const PODS = ['a', 'b', 'c', 'd'];

/** A cluster of a few pods behind one budget, and a client that assigns its slots. */
const slotsUnderTest = (desired: number, callsAtOnce: number) => {
  let now = 100;
  const healthy = new Set(PODS);
  const terminating = new Set<string>();
  const disrupted = new Map<string, number>();
  let replacements = 0;
  let allowed = PODS.length - desired;
  const statuses: Budget[] = [];
  const terminations: { readonly pod: string; readonly resourceVersion: string }[] = [];
  const calls: Call[] = [];

  const status = (): Budget =>
    budgetOf({
      resourceVersion: String(now),
      status: {
        disruptionsAllowed: allowed,
        currentHealthy: healthy.size,
        desiredHealthy: desired,
        disruptedPods: Object.fromEntries(
          [...disrupted].map(([name, at]) => [name, new Date(at * 1000).toISOString()]),
        ),
      },
    });
  const publish = (): void => {
    now += 1;
    statuses.push(status());
  };

  let budget = status();
  let watched = budget.resourceVersion;
  let reservations: readonly Reservation[] = [];
  const waiting = [...PODS];
  let refusals = 0;

  const settle = (): void => {
    reservations = openReservations(reservations, { budget, watched, nowMs: 0 });
  };
  const free = (): number => freeSlots(budget, reservations, null);
  const callIn = (phase: Call['phase']): Call | undefined =>
    calls.find((call) => call.phase === phase);

  /** All possible next steps; the client acts at any time after an observation. */
  const moves = (): readonly (() => void)[] => {
    const found: (() => void)[] = [];
    const next = waiting[0];
    if (next !== undefined && free() > 0 && calls.length < callsAtOnce) {
      found.push(() => {
        waiting.shift();
        calls.push({ pod: next, phase: 'sent' });
        reservations = beginReservation(reservations, { uid: uid(next), name: next }, budget);
      });
    }
    const sent = callIn('sent');
    if (sent !== undefined) {
      found.push(() => {
        if (allowed <= 0) {
          refusals += 1;
          sent.phase = 'refused';
          return;
        }
        allowed -= 1;
        disrupted.set(sent.pod, now);
        sent.phase = 'charged';
        publish();
      });
    }
    const charged = callIn('charged');
    if (charged !== undefined) {
      found.push(() => {
        charged.phase = 'deleted';
        terminating.add(charged.pod);
        now += 1;
        terminations.push({ pod: charged.pod, resourceVersion: String(now) });
      });
    }
    const done = callIn('deleted') ?? callIn('refused');
    if (done !== undefined) {
      found.push(() => {
        calls.splice(calls.indexOf(done), 1);
        const outcome = done.phase === 'refused' ? 'Refused' : 'Accepted';
        reservations = answerReservation(reservations, uid(done.pod), { outcome, nowMs: 0 });
        settle();
      });
    }
    // The controller counts pods that it knows to be listed or terminating as gone.
    found.push(() => {
      for (const name of disrupted.keys()) if (terminating.has(name)) disrupted.delete(name);
      const counted = [...healthy].filter((pod) => !terminating.has(pod) && !disrupted.has(pod));
      const room = Math.max(0, counted.length - desired);
      if (room !== allowed || disrupted.size !== Object.keys(budget.disruptedPods).length) {
        allowed = room;
        publish();
      }
    });
    const [leaving] = terminating;
    if (leaving !== undefined && !disrupted.has(leaving)) {
      found.push(() => {
        terminating.delete(leaving);
        healthy.delete(leaving);
        replacements += 1;
        healthy.add(`replacement-${replacements}`);
        now += 1;
      });
    }
    if (statuses.length > 0) {
      found.push(() => {
        budget = statuses.shift() ?? budget;
        watched = budget.resourceVersion;
        settle();
      });
    } else {
      found.push(() => {
        watched = resourceVersion(String(now));
        settle();
      });
    }
    if (terminations.length > 0) {
      found.push(() => {
        const departure = terminations.shift();
        if (departure === undefined) return;
        reservations = departReservation(reservations, uid(departure.pod), {
          resourceVersion: resourceVersion(departure.resourceVersion),
          nowMs: 0,
        });
        settle();
      });
    }
    return found;
  };

  return {
    move: (choice: number): void => {
      const possible = moves();
      possible[choice % possible.length]?.();
    },
    outcome: () => ({
      refusals,
      available: healthy.size - terminating.size,
      waiting,
      reservations,
    }),
  };
};

describe('slots', () => {
  it.each([1, 3])(
    'DR-51: with %i calls at once, no call is refused and no budget overdrawn in any order',
    (callsAtOnce) => {
      const choices = fc.array(fc.nat(1000), { minLength: 60, maxLength: 160 });
      fc.assert(
        fc.property(choices, fc.integer({ min: 1, max: 3 }), (moves, desired) => {
          const { move, outcome } = slotsUnderTest(desired, callsAtOnce);
          for (const choice of moves) {
            move(choice);
            const { refusals, available } = outcome();
            expect(refusals).toBe(0);
            expect(available).toBeGreaterThanOrEqual(desired);
          }
        }),
        { numRuns: 500 },
      );
    },
  );

  it('DR-32: every slot is freed: all pods leave and no reservation remains', () => {
    const seeds = fc.array(fc.nat(1000), { minLength: 600, maxLength: 600 });
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 3 }), (moves, desired) => {
        const { move, outcome } = slotsUnderTest(desired, 1);
        for (const choice of moves) move(choice);
        expect(outcome()).toMatchObject({ waiting: [], refusals: 0, reservations: [] });
      }),
      { numRuns: 50 },
    );
  });
});
