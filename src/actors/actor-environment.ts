/** What every actor of a process shares: time, runtime, telemetry, the inspector and seeds. */
import type { ManagedRuntime } from 'effect';
import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import {
  type Actor,
  type ActorOptions,
  type AnyActorLogic,
  createActor,
  type InputFrom,
  type InspectionEvent,
} from 'xstate';
import type { Telemetry } from '../api/telemetry.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import type { Time } from '../domain/time.ts';

/** The environment of the actors of one process. `Services` are the Effect services they use. */
export interface ActorEnvironment<Services> {
  readonly time: Time;
  readonly runtime: ManagedRuntime.ManagedRuntime<Services, never>;
  readonly telemetry: Telemetry;
  readonly scheduler: SchedulerLike;
  /** A new seed for a statechart that uses jitter. */
  readonly seed: () => Seed;
  /** Creates an actor that follows `time` and is observed by the inspector; not yet started. */
  readonly actor: <Logic extends AnyActorLogic>(
    logic: Logic,
    id: string,
    input: InputFrom<Logic>,
  ) => Actor<Logic>;
}

/** The inputs of an environment. */
export interface ActorEnvironmentOptions<Services> {
  readonly time: Time;
  readonly runtime: ManagedRuntime.ManagedRuntime<Services, never>;
  readonly telemetry: Telemetry;
  readonly firstSeed: Seed;
  readonly inspect?: (event: InspectionEvent) => void;
}

/** Creates the environment of a process. */
export const makeActorEnvironment = <Services>(
  parts: ActorEnvironmentOptions<Services>,
): ActorEnvironment<Services> => {
  const clock = statechartClock(parts.time);
  let seed = parts.firstSeed;
  return {
    time: parts.time,
    runtime: parts.runtime,
    telemetry: parts.telemetry,
    scheduler: streamScheduler(parts.time),
    seed: () => {
      seed = nextSeed(seed);
      return seed;
    },
    actor: <Logic extends AnyActorLogic>(logic: Logic, id: string, input: InputFrom<Logic>) =>
      // XState makes the options depend on Logic, which is generic here; logic and input are of
      // one type.
      createActor<AnyActorLogic>(logic, {
        id,
        input,
        clock,
        ...(parts.inspect === undefined ? {} : { inspect: parts.inspect }),
      }) as Actor<Logic>,
  };
};

/** The clock interface of XState. */
type StatechartClock = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

/** The clock for `createActor(machine, { clock })`. */
const statechartClock = (time: Time): StatechartClock => ({
  setTimeout: (run: () => void, delayMs: number) => time.schedule(delayMs, run),
  clearTimeout: (cancel: unknown) => {
    if (typeof cancel === 'function') cancel();
  },
});

class TimedAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #time: Time;
  readonly #work: (this: SchedulerAction<T>, state?: T) => void;
  #cancel: () => void = () => {};

  constructor(time: Time, work: (this: SchedulerAction<T>, state?: T) => void) {
    super(() => this.#cancel());
    this.#time = time;
    this.#work = work;
  }

  schedule(state?: T, delayMs = 0): Subscription {
    this.#cancel();
    this.#cancel = this.#time.schedule(delayMs, () => {
      if (!this.closed) this.#work.call(this, state);
    });
    return this;
  }
}

/** The scheduler argument of RxJS operators. */
const streamScheduler = (time: Time): SchedulerLike => ({
  now: () => time.monotonic(),
  schedule: <T>(
    work: (this: SchedulerAction<T>, state: T) => void,
    delayMs?: number,
    state?: T,
  ): Subscription =>
    // The work gets the state that schedule() was given; only the types of RxJS make it optional.
    new TimedAction<T>(time, work as (this: SchedulerAction<T>, state?: T) => void)
      .schedule(state, delayMs ?? 0),
});
