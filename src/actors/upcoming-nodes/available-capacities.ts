/**
 * The profiles of free capacity and their AvailableCapacities, one writer each.
 *
 * Promises: frames act only when the list of objects is complete, and until then the last of each
 * profile is kept; of simultaneous frames the last of each profile counts; the number of profiles
 * is bounded, and further ones are ignored, counted and logged; an object whose profile is not in
 * the demand ages out.
 */
import { Effect } from 'effect';
import { filter, map, type Observable, Subject, Subscription } from 'rxjs';
import { type Actor, fromPromise } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { GROUP_VERSION } from '../../domain/api-group.ts';
import {
  type AvailableCapacityProjection,
  type CapacityReport,
  capacityReport,
} from '../../domain/available-capacity.ts';
import type { Need } from '../../domain/demand/need.ts';
import type { Fact } from '../../domain/facts.ts';
import type { CapacityObservation, ShardEvent } from '../../domain/frames.ts';
import { type ObjectKey, objectKey } from '../../domain/ids.ts';
import { availableCapacityName } from '../../domain/names.ts';
import { UnaskedCapacities } from '../../domain/unasked-capacities.ts';
import type { Rollup } from '../../domain/session.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import { AvailableCapacities } from '../../effects/available-capacities.ts';
import {
  availableCapacity,
  type AvailableCapacityAct,
  type AvailableCapacityContext,
} from '../../machines/available-capacity.ts';
import { coalescePerKey, microtaskEnd } from '../../streams/coalesce-per-key.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { ActorKind } from '../actor-kind.ts';
import { type EffectRuntime, type WriteInFlight, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import type { Informer } from '../informers/informer.ts';

/** Profiles that write at once. */
const PROFILES_AT_ONCE = 8;
/** The maximum number of profiles; a fleet has far fewer. */
const PROFILES_MAX = 10_000;

type Machine = typeof availableCapacity;

/** The data of one profile besides its object. */
interface ProfileEntry {
  readonly key: ObjectKey;
  reported: CapacityReport;
}

/** The inputs of the profiles. */
export interface AvailableCapacitiesOptions {
  readonly shardEvents: Observable<ShardEvent>;
  /** Each roll-up that the shard acknowledged. */
  readonly acknowledged: Observable<Pick<Rollup, 'needs'>>;
  readonly availableCapacities: Pick<
    Informer<AvailableCapacityProjection>,
    'facts' | 'get' | 'values'
  >;
  readonly record: RecordEvent;
}

/** All profiles of free capacity. */
export interface AvailableCapacityRegistry {
  readonly actors: () => Iterable<Actor<Machine>>;
  readonly get: (supersedesKey: string) => Actor<Machine> | undefined;
  readonly counts: () => Readonly<Record<string, number>>;
  /** Discards the fleet's reports, at the end of a term of leadership. */
  readonly onLeadershipLost: () => void;
  /** Resolves when no profile writes or waits for a slot. */
  readonly idle: () => Promise<void>;
  /** Starts no more writes and resolves when those in flight have their answers. */
  readonly stop: () => Promise<void>;
}

class Profiles implements AvailableCapacityRegistry {
  readonly #environment: ActorEnvironment<AvailableCapacities>;
  readonly #objects: Pick<AvailableCapacitiesOptions['availableCapacities'], 'get' | 'values'>;
  readonly #unasked = new UnaskedCapacities();
  readonly #profiles = new Map<ObjectKey, ProfileEntry>();
  readonly #registry: ActorRegistry<Machine, ProfileEntry>;
  readonly #slots: ConcurrencyLimit<ProfileEntry>;
  readonly #subscription = new Subscription();
  readonly #flush = new Subject<void>();
  #listed = false;

  constructor(
    environment: ActorEnvironment<AvailableCapacities>,
    { shardEvents, acknowledged, availableCapacities, record }: AvailableCapacitiesOptions,
  ) {
    this.#environment = environment;
    this.#objects = availableCapacities;
    this.#registry = actorRegistry(environment, this.#kind(record));
    this.#slots = startConcurrencyLimit<ProfileEntry>({
      atOnce: PROFILES_AT_ONCE,
      keyOf: ({ key }) => key,
      // A profile that was removed while it waited has nothing to write.
      activate: ({ key }) => this.#registry.get(key),
    });
    this.#subscription.add(availableCapacities.facts.subscribe(this.#onObjects));
    const coalesced = shardEvents.pipe(
      filter((item) => item._tag === 'CapacityObserved'),
      map(({ capacity }) => capacity),
      coalescePerKey({
        keyOf: ({ supersedesKey }) => supersedesKey,
        release: microtaskEnd,
        flush: this.#flush,
        keysMax: PROFILES_MAX,
      }),
    );
    this.#subscription.add(coalesced.subscribe(this.#onCapacity));
    this.#subscription.add(acknowledged.subscribe(({ needs }) => this.#age(needs)));
  }

  readonly actors = () => this.#registry.actors();
  readonly get = (supersedesKey: string) =>
    this.#registry.get(availableCapacityName(supersedesKey));
  readonly counts = () => this.#registry.counts();

  readonly idle = (): Promise<void> => {
    this.#flush.next();
    return this.#slots.idle();
  };

  readonly onLeadershipLost = (): void => {
    const all = [...this.#profiles.values()];
    this.#profiles.clear();
    this.#unasked.clear();
    this.#registry.suspend(all);
  };

  readonly stop = (): Promise<void> => {
    this.#subscription.unsubscribe();
    this.#slots.stop();
    return this.#registry.stop();
  };

  #kind(record: RecordEvent): ActorKind<Machine, ProfileEntry> {
    const { runtime, telemetry } = this.#environment;
    const requestSlot = (name: string): void => {
      const entry = this.#profiles.get(objectKey(name));
      if (entry !== undefined) this.#slots.request(entry);
    };
    const logic = provideAvailableCapacity(runtime, {
      ...availableCapacityEvents(telemetry, record),
      requestSlot: ({ name }) => requestSlot(name),
    }, (write) => this.#registry.inFlight(write, WRITES_STOPPED));
    return {
      name: 'availableCapacity',
      logic,
      keyOf: ({ key }) => key,
      input: ({ key, reported }, seed) => ({
        name: key,
        facts: { reported: reported, current: this.#objects.get(key) ?? null },
        seed,
      }),
      observe: ({ reported }, actor) =>
        actor.send({ type: 'capacity.observed', reported: reported }),
      onSnapshot: ({ key }, snapshot) => {
        if (snapshot.matches('gone') && this.#objects.get(key) === undefined) this.#remove(key);
      },
      onCount: (state, count) => telemetry.gauge('tidegate_available_capacities', count, { state }),
    };
  }

  #remove(key: ObjectKey): void {
    this.#profiles.delete(key);
    this.#registry.remove(key);
  }

  /** Deletes the objects that nobody has requested for long. */
  #age(needs: readonly Need[]): void {
    const objects = [...this.#objects.values()].map(({ key }) => key);
    for (const key of this.#unasked.expired(objects, needs, this.#environment.time.monotonic())) {
      this.#environment.telemetry.log('info', 'Free capacity without demand removed', {
        name: key,
      });
      const spec = this.#objects.get(key)?.spec ?? '';
      this.#apply(key, { spec, exhausted: true });
    }
  }

  readonly #onCapacity = (capacity: CapacityObservation): void => {
    const key = objectKey(availableCapacityName(capacity.supersedesKey));
    this.#unasked.reported(key);
    this.#apply(key, capacityReport(capacity));
  };

  #apply(key: ObjectKey, reported: CapacityReport): void {
    const known = this.#profiles.get(key);
    if (known === undefined && this.#profiles.size >= PROFILES_MAX) {
      const { telemetry } = this.#environment;
      telemetry.count('tidegate_available_capacities_left_out_total', 1);
      telemetry.log('warn', 'Too many profiles of free capacity: profile ignored', { name: key });
      return;
    }
    const entry = known ?? { key, reported };
    entry.reported = reported;
    this.#profiles.set(key, entry);
    if (this.#listed) this.#registry.consider(entry);
  }

  readonly #onObject = (current: AvailableCapacityProjection): void =>
    this.#registry.get(current.key)?.send({ type: 'object.observed', current });

  readonly #onObjects = (fact: Fact<AvailableCapacityProjection>): void => {
    if (fact._tag === 'Present') return this.#onObject(fact.object);
    if (fact._tag === 'Listed') {
      fact.objects.forEach(this.#onObject);
      this.#listed = true;
      for (const entry of [...this.#profiles.values()]) this.#registry.activate(entry);
      return;
    }
    const actor = this.#registry.get(fact.key);
    actor?.send({ type: 'object.vanished', uid: fact.last.uid });
    if (actor?.getSnapshot().matches('gone') === true) this.#remove(fact.key);
  };
}

/** Starts to follow the session and the AvailableCapacities. */
export const startAvailableCapacities = (
  environment: ActorEnvironment<AvailableCapacities>,
  options: AvailableCapacitiesOptions,
): AvailableCapacityRegistry => new Profiles(environment, options);

/** The actions of the statechart. */
export interface AvailableCapacityActions {
  readonly requestSlot: (context: AvailableCapacityContext) => void;
  readonly recordRefused: (context: AvailableCapacityContext) => void;
  readonly recordFailing: (context: AvailableCapacityContext) => void;
}

/** The statechart, provided once for all profiles. */
export const provideAvailableCapacity = (
  runtime: EffectRuntime<AvailableCapacities>,
  actions: AvailableCapacityActions,
  inFlight: WriteInFlight,
): typeof availableCapacity => {
  const write = (verb: keyof AvailableCapacities['Service']) =>
    fromPromise<WriteOutcome<AvailableCapacityProjection>, AvailableCapacityAct>((
      { input, signal },
    ) =>
      runtime.runPromise(
        Effect.flatMap(AvailableCapacities, (capacities) => inFlight(capacities[verb](input))),
        { signal },
      )
    );
  return availableCapacity.provide({
    actors: {
      createObject: write('create'),
      patchObject: write('patch'),
      deleteObject: write('remove'),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** Records the Events of AvailableCapacities. */
const availableCapacityEvents = (
  { log }: Pick<Telemetry, 'log'>,
  record: RecordEvent,
): Omit<AvailableCapacityActions, 'requestSlot'> => {
  const recordProblem =
    (reason: EventNote['reason']) => ({ name, facts, problem }: AvailableCapacityContext): void => {
      log('warn', 'Cannot write AvailableCapacity', { name, reason, problem });
      record({
        regarding: {
          apiVersion: GROUP_VERSION,
          kind: 'AvailableCapacity',
          name,
          uid: facts.current?.uid ?? '',
        },
        reason,
        note: `Cannot write AvailableCapacity "${name}": ${problem}`,
      });
    };
  return {
    recordRefused: recordProblem('WriteRefused'),
    recordFailing: recordProblem('WriteFailing'),
  };
};
