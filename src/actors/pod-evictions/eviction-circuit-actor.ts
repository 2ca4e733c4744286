/**
 * The circuit breaker of evictions as an actor, fed by the answers of evictions and by watches.
 *
 * Promises: the circuit counts as open while its actor restarts, so that a defect sends nothing.
 */
import type { SnapshotFrom } from 'xstate';
import type { EvictionOutcome } from '../../domain/drain/answer.ts';
import type { BlockerReason } from '../../domain/drain/blocker.ts';
import { evictionCircuit, type EvictionCircuitEvent } from '../../machines/eviction-circuit.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import type { Defer } from '../actor-logic.ts';

/** Why no eviction is sent. */
export interface CircuitProblem {
  readonly reason: BlockerReason;
  readonly text: string;
}

/** The inputs of the circuit. */
export interface EvictionCircuitOptions {
  readonly defer: Defer;
  /** One eviction may be sent; false when none waits. */
  readonly dispatchOne: () => boolean;
  /** The circuit closed or opened. */
  readonly onChange: () => void;
}

const eventOf = (outcome: EvictionOutcome): EvictionCircuitEvent => {
  switch (outcome._tag) {
    case 'Throttled':
      return {
        type: 'server.throttled',
        retryAfterMs: outcome.retryAfterSeconds * 1000,
        why: 'the API server throttles requests',
      };
    case 'Unauthenticated':
      return { type: 'credentials.refused', why: outcome.why };
    case 'NotSent':
      return { type: 'server.lost', why: outcome.why };
    case 'Unknown':
      return { type: 'answer.lost', why: outcome.why };
    default:
      return { type: 'eviction.answered' };
  }
};

type CircuitSnapshot = SnapshotFrom<typeof evictionCircuit>;

/** One circuit for all evictions of the process. */
export class EvictionCircuit {
  readonly #environment: Pick<ActorEnvironment<never>, 'telemetry'>;
  readonly #options: EvictionCircuitOptions;
  readonly #registry: ActorRegistry<typeof evictionCircuit, 'circuit'>;
  #isClosed = false;

  constructor(environment: ActorEnvironment<never>, options: EvictionCircuitOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#registry = actorRegistry(environment, {
      name: 'evictionCircuit',
      logic: evictionCircuit.provide({
        actions: { probe: () => options.defer(() => this.#probe()) },
      }),
      keyOf: (key: 'circuit') => key,
      input: () => ({}),
      onSnapshot: (_, snapshot) => this.#moved(snapshot),
      onCrash: () => this.#changed(false),
    });
  }

  readonly start = (): void => this.#registry.consider('circuit');

  readonly isClosed = (): boolean => this.#isClosed;

  /** The outcome of an eviction; `withheld` when this process did not send it. */
  readonly answered = (outcome: EvictionOutcome, withheld: boolean): void =>
    this.#registry.get('circuit')?.send(withheld ? { type: 'probe.declined' } : eventOf(outcome));

  /** An eviction that was dispatched is not sent now: half-open, another one probes. */
  readonly postponed = (): void => this.#options.defer(() => this.#probe());

  /** A watch delivered an event. */
  readonly serverResponded = (): void => {
    if (!this.#isClosed) this.#registry.get('circuit')?.send({ type: 'server.responded' });
  };

  /** `undefined` while evictions are sent. */
  readonly problem = (): CircuitProblem | undefined => {
    if (this.#isClosed) return undefined;
    const snapshot = this.#registry.get('circuit')?.getSnapshot();
    const text = snapshot?.context.problem ?? 'the eviction circuit is restarting';
    if (snapshot?.matches({ open: 'throttled' })) return { reason: 'ServerThrottling', text };
    if (snapshot?.matches({ open: 'unauthenticated' })) {
      return { reason: 'CredentialsRefused', text };
    }
    return { reason: 'EvictionFailing', text };
  };

  readonly stop = (): Promise<void> => this.#registry.stop();

  #probe(): void {
    const actor = this.#registry.get('circuit');
    if (actor?.getSnapshot().matches('halfOpen') !== true) return;
    if (!this.#options.dispatchOne()) actor.send({ type: 'probe.declined' });
  }

  #moved(snapshot: CircuitSnapshot): void {
    const isClosed = snapshot.matches('closed');
    if (isClosed === this.#isClosed) return;
    if (!isClosed) {
      this.#environment.telemetry.log('warn', 'Eviction circuit opened', {
        problem: snapshot.context.problem,
      });
    }
    this.#changed(isClosed);
  }

  #changed(isClosed: boolean): void {
    if (this.#isClosed === isClosed) return;
    this.#isClosed = isClosed;
    this.#options.onChange();
  }
}
