/**
 * How long each reason has held up each drain, so that it is told once when it has lasted.
 *
 * Promises: looks now and then while anything drains, and at nothing otherwise; what was told is
 * not told again in the same drain.
 */
import { type Subscription, timer } from 'rxjs';
import {
  type BlockedSince,
  noteBlocked,
  NOTHING_BLOCKED,
} from '../../domain/drain/blocked-notes.ts';
import type { BlockedPods } from './drain-pods.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Between two looks. */
const LOOK_MS = 2000;

/** What is looked at. */
export interface DrainBlockersOptions<Drain> {
  readonly drains: () => Iterable<Drain>;
  readonly blocked: (drain: Drain) => readonly BlockedPods[];
  readonly tell: (drain: Drain, blocked: BlockedPods) => void;
}

/** The watch over blockers. */
export interface DrainBlockers {
  /** Something drains. */
  readonly wake: () => void;
  readonly stop: () => void;
}

/** Nothing is looked at before `wake`. */
export const startDrainBlockers = <Drain extends object, Services>(
  { time, scheduler }: ActorEnvironment<Services>,
  { drains, blocked, tell }: DrainBlockersOptions<Drain>,
): DrainBlockers => {
  const known = new WeakMap<Drain, BlockedSince>();
  let looking: Subscription | undefined;

  const review = (drain: Drain): void => {
    const groups = new Map<string, BlockedPods>(
      blocked(drain).map((group) =>
        [`${group.blocker.reason} ${group.blocker.subject}`, group] as const
      ),
    );
    const before = known.get(drain) ?? NOTHING_BLOCKED;
    const { due, since } = noteBlocked(before, [...groups.keys()], time.monotonic());
    known.set(drain, since);
    for (const cause of due) {
      const group = groups.get(cause);
      if (group !== undefined) tell(drain, group);
    }
  };
  const look = (): void => {
    const all = [...drains()];
    for (const drain of all) review(drain);
    if (all.length > 0) return;
    looking?.unsubscribe();
    looking = undefined;
  };
  return {
    wake: () => {
      looking ??= timer(0, LOOK_MS, scheduler).subscribe(look);
    },
    stop: () => looking?.unsubscribe(),
  };
};
