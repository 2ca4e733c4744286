/**
 * Recovers reclaims that were lost with a process: the `reclaimRecovery` statechart, fed by the
 * session, and the machines that the replay reported as DRAINING (DR-14).
 *
 * Promises: only machines of the replay count, and only until a later frame reports another state.
 */
import type { ShardEvent } from '../../domain/frames.ts';
import { SHARD_LIMITS } from '../../domain/shard-limits.ts';
import { reclaimRecovery, type ReclaimRecoveryEvent } from '../../machines/reclaim-recovery.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';

const EVENTS: Partial<Readonly<Record<ShardEvent['_tag'], ReclaimRecoveryEvent>>> = {
  StreamOpened: { type: 'stream.opened' },
  Resynced: { type: 'replay.completed' },
  // What drains was reported; a malformed frame takes nothing from that.
  ReplayUnproven: { type: 'replay.completed' },
  StreamEnded: { type: 'stream.ended' },
};

/** The recovery of one process. */
export class ReclaimRecovery {
  readonly #registry: ActorRegistry<typeof reclaimRecovery, 'recovery'>;
  #draining = new Set<string>();
  /** From the end of a stream on, because frames of the next may precede the ack of its `hello`. */
  #isReplaying = true;

  /** `recover` gets the machines that were DRAINING in the replay and still are. */
  constructor(
    environment: ActorEnvironment<never>,
    recover: (machines: readonly string[]) => void,
  ) {
    this.#registry = actorRegistry(environment, {
      name: 'reclaimRecovery',
      logic: reclaimRecovery.provide({
        actions: { recoverReclaims: () => recover([...this.#draining]) },
      }),
      keyOf: (key: 'recovery') => key,
      input: () => ({}),
      // The replay before the crash was complete.
      onStart: (_, actor) => {
        if (this.#hasReplayed()) actor.send({ type: 'replay.completed' });
      },
    });
    this.#registry.consider('recovery');
  }

  readonly observe = (seen: ShardEvent): void => {
    if (seen._tag === 'MachineObserved') {
      const { machineId, state } = seen.machine;
      if (state !== 'Draining') this.#draining.delete(machineId);
      else if (this.#isReplaying && !this.#isFull()) this.#draining.add(machineId);
      return;
    }
    if (seen._tag === 'StreamEnded') {
      this.#draining = new Set();
      this.#isReplaying = true;
    }
    const event = EVENTS[seen._tag];
    if (event?.type === 'replay.completed') this.#isReplaying = false;
    if (event !== undefined) this.#registry.get('recovery')?.send(event);
  };

  /** What the last replay showed is recovered once more: nothing could begin so far. */
  readonly again = (): void => {
    if (this.#hasReplayed()) this.#registry.get('recovery')?.send({ type: 'replay.completed' });
  };

  #hasReplayed(): boolean {
    return !this.#isReplaying && this.#draining.size > 0;
  }

  #isFull(): boolean {
    return this.#draining.size >= SHARD_LIMITS.reclaim_machines.max;
  }

  readonly stop = (): Promise<void> => this.#registry.stop();
}
