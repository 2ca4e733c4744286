/**
 * How long each reason has held up each drain, so that it is told once when it has lasted.
 *
 * Promises: looks now and then while anything drains, and at nothing otherwise; what was told is
 * told again only after it had gone away.
 */
import { type Subscription, timer } from 'rxjs';
import type { World } from './world.ts';
import type { BlockedPods } from './drain-pods.ts';
import { BLOCKED_MS } from './drain-voice.ts';

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

interface Lasting {
  readonly sinceMs: number;
  told: boolean;
}

/** Nothing is looked at before `wake`. */
export const startDrainBlockers = <Drain extends object, Services>(
  { time, scheduler }: World<Services>,
  { drains, blocked, tell }: DrainBlockersOptions<Drain>,
): DrainBlockers => {
  const known = new WeakMap<Drain, Map<string, Lasting>>();
  let looking: Subscription | undefined;

  const review = (drain: Drain): void => {
    const before = known.get(drain) ?? new Map<string, Lasting>();
    const now = new Map<string, Lasting>();
    const nowMs = time.monotonic();
    for (const group of blocked(drain)) {
      const key = `${group.blocker.reason} ${group.blocker.subject}`;
      const lasting = before.get(key) ?? { sinceMs: nowMs, told: false };
      now.set(key, lasting);
      if (lasting.told || nowMs - lasting.sinceMs < BLOCKED_MS) continue;
      lasting.told = true;
      tell(drain, group);
    }
    known.set(drain, now);
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
