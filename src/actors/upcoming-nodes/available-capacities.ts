/**
 * The registry of free capacity: one root actor a profile, the only writer of its object.
 *
 * Promises: frames act only when the list of objects is complete, and until then the last of each
 * profile is kept; the number of profiles is bounded, and one beyond it is refused, counted and
 * said.
 */
import { type Observable, Subscription } from 'rxjs';
import type { ActorRefFrom } from 'xstate';
import type { RecordEvent } from '../../api/event-note.ts';
import { defectText } from '../../api/telemetry.ts';
import { type AvailableCapacityProjection, capacitySaid } from '../../domain/available-capacity.ts';
import type { CapacitySaid } from '../../domain/available-capacity.ts';
import type { Fact } from '../../domain/facts.ts';
import type { SessionNews } from '../../domain/frames.ts';
import { type ObjectKey, objectKey } from '../../domain/ids.ts';
import { availableCapacityName } from '../../domain/names.ts';
import type { AvailableCapacities } from '../../effects/available-capacities.ts';
import type { availableCapacity } from '../../machines/available-capacity.ts';
import type { Informer } from '../informers/informer.ts';
import { innermostState, stateCounts } from '../state-counts.ts';
import { startConcurrencyLimit } from '../concurrency-limit.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { writeDoor } from '../write-door.ts';
import { provideAvailableCapacity } from './available-capacity-acts.ts';

/** Profiles that write at once. */
const PROFILES_AT_ONCE = 8;
/** Profiles that are followed; a fleet has far fewer. */
export const PROFILES_MAX = 10_000;

type Actor = ActorRefFrom<typeof availableCapacity>;

interface Profile {
  readonly key: ObjectKey;
  said: CapacitySaid;
  actor: Actor | undefined;
  state: string | undefined;
}

/** What the registry listens to. */
export interface AvailableCapacitiesOptions {
  readonly news: Observable<SessionNews>;
  readonly availableCapacities: Pick<Informer<AvailableCapacityProjection>, 'facts' | 'get'>;
  readonly record: RecordEvent;
}

/** All profiles of free capacity. */
export interface AvailableCapacityRegistry {
  readonly actors: () => Iterable<Actor>;
  readonly get: (supersedesKey: string) => Actor | undefined;
  readonly counts: () => Readonly<Record<string, number>>;
  /** Forgets what the fleet said; for the end of a term of leadership. */
  readonly renounce: () => void;
  /** Resolves when no profile writes or waits for its turn. */
  readonly idle: () => Promise<void>;
  /** Begins no more writes and resolves when those under way have their answers. */
  readonly stop: () => Promise<void>;
}

/** Starts the registry. */
export const startAvailableCapacities = (
  environment: ActorEnvironment<AvailableCapacities>,
  { news, availableCapacities, record }: AvailableCapacitiesOptions,
): AvailableCapacityRegistry => {
  const { telemetry } = environment;
  const profiles = new Map<ObjectKey, Profile>();
  const door = writeDoor();
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_available_capacities', count, { state })
  );
  let oriented = false;
  let stopped = false;

  const showState = (profile: Profile, state: string | undefined): void => {
    counts.move(profile.state, state);
    profile.state = state;
  };
  const drop = (profile: Profile): void => {
    const { actor } = profile;
    profile.actor = undefined;
    profiles.delete(profile.key);
    showState(profile, undefined);
    actor?.stop();
  };
  const logic = provideAvailableCapacity(environment.runtime, {
    askForTurn: ({ name }) => {
      const profile = profiles.get(objectKey(name));
      if (profile !== undefined && !stopped) turns.ask(profile);
    },
    complain: (reason, { name, facts, problem }) => {
      telemetry.log('warn', 'An AvailableCapacity could not be written', { name, reason, problem });
      record({
        regarding: {
          apiVersion: 'bigfleet.lucy.sh/v1alpha1',
          kind: 'AvailableCapacity',
          name,
          uid: facts.shown?.uid ?? '',
        },
        reason,
        note: `Cannot write AvailableCapacity "${name}": ${problem}`,
      });
    },
  }, door);
  const wake = (profile: Profile): Actor | undefined => {
    // One that was dropped while it waited for its turn has nothing to write any more.
    if (stopped || profiles.get(profile.key) !== profile) return undefined;
    if (profile.actor !== undefined) return profile.actor;
    const actor = environment.actor(logic, `availableCapacity/${profile.key}`, {
      name: profile.key,
      facts: { said: profile.said, shown: availableCapacities.get(profile.key) ?? null },
      seed: environment.seed(),
    });
    profile.actor = actor;
    actor.subscribe({
      next: (snapshot) => {
        if (profile.actor !== actor) return;
        showState(profile, innermostState(snapshot.value));
        if (snapshot.matches('gone') && !availableCapacities.get(profile.key)) drop(profile);
      },
      error: (cause) => {
        telemetry.count('tidegate_actor_defects_total', 1, { machine: 'availableCapacity' });
        telemetry.log('error', 'The actor of a profile failed by a defect', {
          name: profile.key,
          problem: defectText(cause),
        });
        drop(profile);
      },
    });
    actor.start();
    return profile.actor;
  };
  const turns = startConcurrencyLimit<Profile>({
    atOnce: PROFILES_AT_ONCE,
    name: ({ key }) => key,
    wake,
  });

  const hear = (key: ObjectKey, said: CapacitySaid): void => {
    const known = profiles.get(key);
    if (known === undefined && profiles.size >= PROFILES_MAX) {
      telemetry.count('tidegate_available_capacities_left_out_total', 1);
      telemetry.log('warn', 'Too many profiles of free capacity: one is left out', { name: key });
      return;
    }
    const profile = known ?? { key, said, actor: undefined, state: undefined };
    profiles.set(key, profile);
    profile.said = said;
    if (profile.actor !== undefined) profile.actor.send({ type: 'capacity.observed', said });
    else if (oriented) wake(profile);
  };
  const onNews = (item: SessionNews): void => {
    if (item._tag !== 'CapacityObserved') return;
    hear(
      objectKey(availableCapacityName(item.capacity.supersedesKey)),
      capacitySaid(item.capacity),
    );
  };
  const onObject = (shown: AvailableCapacityProjection): void =>
    profiles.get(shown.key)?.actor?.send({ type: 'object.observed', shown });
  const onObjects = (fact: Fact<AvailableCapacityProjection>): void => {
    if (fact._tag === 'Present') return onObject(fact.object);
    if (fact._tag === 'Listed') {
      fact.objects.forEach(onObject);
      oriented = true;
      for (const profile of [...profiles.values()]) wake(profile);
      return;
    }
    const profile = profiles.get(fact.key);
    profile?.actor?.send({ type: 'object.vanished', uid: fact.last.uid });
    if (profile?.actor?.getSnapshot().matches('gone') === true) drop(profile);
  };

  const subscription = new Subscription();
  subscription.add(availableCapacities.facts.subscribe(onObjects));
  subscription.add(news.subscribe(onNews));

  return {
    actors: function* () {
      for (const { actor } of profiles.values()) if (actor !== undefined) yield actor;
    },
    get: (supersedesKey) => profiles.get(objectKey(availableCapacityName(supersedesKey)))?.actor,
    counts: counts.all,
    renounce: () => {
      const all = [...profiles.values()];
      profiles.clear();
      all.forEach(drop);
    },
    idle: turns.idle,
    stop: async () => {
      stopped = true;
      subscription.unsubscribe();
      turns.stop();
      await door.close();
      for (const { actor } of profiles.values()) actor?.stop();
    },
  };
};
