/**
 * The cost of the actor registry beside bare actors in a `Map`, in the same run: starting one actor
 * for each of many keys, sending each an event, and looking up passive ones.
 */
import { ManagedRuntime } from 'effect';
import { assign, setup } from 'xstate';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { actorRegistry } from '../../src/actors/actor-registry.ts';
import { clockLayer } from '../../src/effects/effect-clock.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { realTime } from '../../src/effects/real-time.ts';
import {
  collectGarbage,
  duration,
  median,
  print,
  printFigure,
  ratio,
  repeated,
} from './measurement.ts';

const ROUNDS = 5;

interface Fact {
  readonly key: string;
  count: number;
}

const observed = setup({
  types: {
    context: {} as { readonly count: number },
    input: {} as { readonly count: number },
    events: {} as { readonly type: 'count.observed'; readonly count: number },
    tags: {} as 'settled',
  },
}).createMachine({
  id: 'observed',
  context: ({ input }) => input,
  initial: 'settled',
  on: { 'count.observed': { actions: assign({ count: ({ event }) => event.count }) } },
  states: { settled: { tags: 'settled' } },
});

const makeEnvironment = () =>
  makeActorEnvironment({
    time: realTime,
    runtime: ManagedRuntime.make(clockLayer(realTime)),
    telemetry: silentTelemetry,
    firstSeed: 1,
  });

const makeFacts = (keys: number): readonly Fact[] =>
  Array.from({ length: keys }, (_, index) => ({ key: `key-${index}`, count: 0 }));

const bareActors = (facts: readonly Fact[]): void => {
  const environment = makeEnvironment();
  const actors = new Map(facts.map(({ key, count }) => {
    const actor = environment.actor(observed, `observed/${key}`, { count });
    actor.subscribe({ next: () => {}, error: () => {} });
    return [key, actor.start()] as const;
  }));
  for (const { key } of facts) actors.get(key)?.send({ type: 'count.observed', count: 1 });
};

const registered = (activeMax: number) => {
  const registry = actorRegistry(makeEnvironment(), {
    name: 'observed',
    logic: observed,
    keyOf: ({ key }: Fact) => key,
    input: ({ count }) => ({ count }),
    observe: ({ count }, actor) => actor.send({ type: 'count.observed', count }),
    passivation: { activeMax, isPending: ({ count }) => count === 1, isSafe: () => true },
  });
  return (facts: readonly Fact[]): void => {
    for (const fact of facts) {
      fact.count = 1;
      registry.consider(fact);
    }
    for (const fact of facts) {
      fact.count = 2;
      registry.consider(fact);
    }
  };
};

/** Prints the cost of `keys` actors. */
export const benchRegistry = async (keys: number): Promise<void> => {
  print(`Actor registry: ${keys} actors, each started and told one fact, ${ROUNDS} rounds`);
  const measure = async (run: (facts: readonly Fact[]) => void): Promise<number> => {
    collectGarbage();
    return median(await repeated(ROUNDS, () => run(makeFacts(keys))));
  };
  const bareMs = await measure(bareActors);
  const keptMs = await measure((facts) => registered(keys)(facts));
  const passiveMs = await measure((facts) => registered(0)(facts));
  printFigure('bare actors in a Map', duration(bareMs));
  printFigure('registry, all stay active', duration(keptMs), `${ratio(keptMs, bareMs)} of bare`);
  printFigure(
    'registry, all passivated',
    duration(passiveMs),
    `${ratio(passiveMs, bareMs)} of bare`,
  );
};
