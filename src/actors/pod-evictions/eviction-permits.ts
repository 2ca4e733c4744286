/**
 * The permit to evict: one statechart for everyone, and those who wait for it.
 *
 * Promises: while all is well those who ask go in the order of their drains, few at a time; when it
 * is not, nobody goes until one call has shown that all is well again.
 */
import type { SnapshotFrom } from 'xstate';
import type { EvictionOutcome } from '../../domain/drain/answer.ts';
import type { BlockerReason } from '../../domain/drain/blocker.ts';
import { evictionPermit } from '../../machines/eviction-permit.ts';
import type { Defer } from '../deferred-sends.ts';
import type { SlotOffer } from './budgets.ts';
import { callQueue, type CallSeeker } from './call-queue.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Why everyone waits. */
export interface PermitStanding {
  readonly reason: BlockerReason;
  readonly text: string;
}

/** Who may call now. */
export interface EvictionPermits {
  /** Lets the seeker go when the call may be made and it comes first. */
  readonly ask: (who: string, node: string, seeker: CallSeeker) => void;
  /** A slot to be handed out when the call of its taker may be made and comes first. */
  readonly offer: (budget: string, slot: SlotOffer) => void;
  readonly withdraw: (who: string) => void;
  /** The call has left, or will not. */
  readonly left: (who: string) => void;
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
  readonly later: Defer;
  /** Everyone has to wait, or not any more. */
  readonly onChange: () => void;
}

/** Starts with everyone permitted. */
export const startEvictionPermits = <Services>(
  environment: ActorEnvironment<Services>,
  { later, onChange }: EvictionPermitsOptions,
): EvictionPermits => {
  const queue = callQueue(environment.time.monotonic);
  let open = true;
  let sending = false;
  const sendMany = (): void => {
    sending = false;
    // Whoever went before may have brought bad news.
    queue.sendMany(() => open);
  };
  /** After everyone who asks now has asked. */
  const sendSoon = (): void => {
    if (sending || !open) return;
    sending = true;
    later(sendMany);
  };
  const permitOne = (): void => {
    if (!actor.getSnapshot().matches('trying')) return;
    if (!queue.sendOne()) actor.send({ type: 'trial.declined' });
  };
  const actor = environment.actor(
    evictionPermit.provide({ actions: { permitOne: () => later(permitOne) } }),
    'evictionPermit',
    undefined,
  );
  const moved = (snapshot: SnapshotFrom<typeof evictionPermit>): void => {
    const before = open;
    open = snapshot.matches('open');
    if (open === before) return;
    if (open) sendSoon();
    else {
      environment.telemetry.log('warn', 'Evictions wait for the API server', {
        problem: snapshot.context.problem,
      });
    }
    onChange();
  };
  actor.subscribe(moved);
  actor.start();

  return {
    ask: (who, node, seeker) => {
      queue.add(who, node, seeker);
      sendSoon();
    },
    offer: (budget, slot) => {
      queue.offer(budget, slot);
      sendSoon();
    },
    withdraw: (who) => {
      queue.remove(who);
      queue.left(who);
      sendSoon();
    },
    left: (who) => {
      queue.left(who);
      sendSoon();
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
