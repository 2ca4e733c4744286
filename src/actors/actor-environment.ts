/** What every actor of a process shares: time, runtime, telemetry, the inspector and seeds. */
import type { ManagedRuntime } from 'effect';
import type { SchedulerLike } from 'rxjs';
import {
  type Actor,
  type AnyActorLogic,
  createActor,
  type InputFrom,
  type InspectionEvent,
} from 'xstate';
import type { Telemetry } from '../api/telemetry.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import type { Time } from '../domain/time.ts';
import { statechartClock, streamScheduler } from './clocks.ts';

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
      createActor<AnyActorLogic>(logic, {
        id,
        input,
        clock,
        ...(parts.inspect === undefined ? {} : { inspect: parts.inspect }),
      }) as Actor<Logic>,
  };
};
