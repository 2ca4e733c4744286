/**
 * The permit to evict: one statechart for everyone, and those who wait for it.
 *
 * Promises: who asks while all is well may go at once; who asks otherwise goes when one call has
 * shown that all is well again.
 */
import type { SnapshotFrom } from 'xstate';
import type { EvictionOutcome } from '../domain/drain/answer.ts';
import type { BlockerReason } from '../domain/drain/blocker.ts';
import { evictionPermit } from '../machines/eviction-permit.ts';
import type { Afterwards } from './afterwards.ts';
import type { World } from './world.ts';

/** Why everyone waits. */
export interface PermitStanding {
  readonly reason: BlockerReason;
  readonly text: string;
}

/** Who may call now. */
export interface EvictionPermits {
  /** Calls `go` when the call may be made; it gives false when nobody waits there any more. */
  readonly ask: (who: string, go: () => boolean) => void;
  readonly withdraw: (who: string) => void;
  /** What a call was answered; `withdrawn` when it was held back by ourselves. */
  readonly heard: (outcome: EvictionOutcome, withdrawn: boolean) => void;
  /** A watch said something. */
  readonly watchHeard: () => void;
  /** `undefined` while everyone may call. */
  readonly standing: () => PermitStanding | undefined;
  readonly stop: () => void;
}

/** How the permit speaks to others. */
export interface EvictionPermitsOptions {
  readonly later: Afterwards;
  /** Everyone has to wait, or not any more. */
  readonly onChange: () => void;
}

/** Starts with everyone permitted. */
export const startEvictionPermits = <Services>(
  world: World<Services>,
  { later, onChange }: EvictionPermitsOptions,
): EvictionPermits => {
  const waiting = new Map<string, () => boolean>();
  const take = (who: string, go: () => boolean): boolean => {
    waiting.delete(who);
    return go();
  };
  const permitOne = (): void => {
    if (!actor.getSnapshot().matches('trying')) return;
    for (const [who, go] of [...waiting]) if (take(who, go)) return;
    actor.send({ type: 'trial.declined' });
  };
  const permitAll = (): void => {
    for (const [who, go] of [...waiting]) {
      // Whoever went before may have brought bad news.
      if (!open) return;
      take(who, go);
    }
  };
  const actor = world.actor(
    evictionPermit.provide({ actions: { permitOne: () => later(permitOne) } }),
    'evictionPermit',
    undefined,
  );
  let open = true;
  const moved = (snapshot: SnapshotFrom<typeof evictionPermit>): void => {
    const before = open;
    open = snapshot.matches('open');
    if (open === before) return;
    if (open) later(permitAll);
    else {
      world.telemetry.log('warn', 'Evictions wait for the API server', {
        problem: snapshot.context.problem,
      });
    }
    onChange();
  };
  actor.subscribe(moved);
  actor.start();

  return {
    ask: (who, go) => {
      if (open) go();
      else waiting.set(who, go);
    },
    withdraw: (who) => {
      waiting.delete(who);
    },
    heard: (outcome, withdrawn) => {
      if (withdrawn) return actor.send({ type: 'trial.declined' });
      switch (outcome._tag) {
        case 'Throttled':
          return actor.send({
            type: 'server.throttled',
            retryAfterMs: outcome.retryAfterSeconds * 1000,
            why: 'the API server limits requests',
          });
        case 'Unauthenticated':
          return actor.send({ type: 'credentials.refused', why: outcome.why });
        case 'NotSent':
          return actor.send({ type: 'server.lost', why: outcome.why });
        case 'Unknown':
          return actor.send({ type: 'answer.lost', why: outcome.why });
        default:
          return actor.send({ type: 'call.answered' });
      }
    },
    watchHeard: () => {
      if (!open) actor.send({ type: 'server.heard' });
    },
    standing: () => {
      if (open) return undefined;
      const snapshot = actor.getSnapshot();
      const text = snapshot.context.problem;
      if (snapshot.matches('throttled')) return { reason: 'ServerThrottling', text };
      if (snapshot.matches('unauthenticated')) return { reason: 'CredentialsRefused', text };
      return { reason: 'EvictionFailing', text };
    },
    stop: () => actor.stop(),
  };
};
