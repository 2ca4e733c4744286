/**
 * Counters as a kind of actor: each writes its wanted number and may crash at any time. The
 * smallest lifecycle that exercises everything a registry does.
 */
import { Effect, ManagedRuntime } from 'effect';
import { assign, fromPromise, setup } from 'xstate';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { type ActorRegistry, actorRegistry } from '../../../src/actors/actor-registry.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { required } from '../../../src/machines/required.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../time/simulated-time.ts';

/** The wanted number of a counter, and the number in the cluster. */
export interface Counter {
  readonly key: string;
  wanted: number;
  current: number;
}

interface Numbers {
  readonly key: string;
  readonly wanted: number;
  readonly current: number;
}

const counter = setup({
  types: {
    context: {} as Numbers,
    input: {} as Numbers,
    events: {} as { type: 'number.wanted'; wanted: number } | { type: 'crash.planted' },
    tags: {} as 'settled' | 'acting',
  },
  actors: { writeNumber: required<number, Numbers>('writeNumber') },
  actions: {
    crash: () => {
      throw new Error('planted');
    },
  },
  guards: { isPending: ({ context }) => context.wanted !== context.current },
}).createMachine({
  id: 'counter',
  context: ({ input }) => input,
  initial: 'settled',
  on: {
    'number.wanted': { actions: assign({ wanted: ({ event }) => event.wanted }) },
    'crash.planted': { actions: 'crash' },
  },
  states: {
    settled: { tags: 'settled', always: { guard: 'isPending', target: 'writing' } },
    writing: {
      tags: 'acting',
      invoke: {
        id: 'writeNumber',
        src: 'writeNumber',
        input: ({ context }) => context,
        onDone: {
          target: 'settled',
          actions: assign({ current: ({ event }) => event.output }),
        },
      },
    },
  },
});

export type CounterRegistry = ActorRegistry<typeof counter, Counter>;

const WRITE_MS = 100;

/** A registry of counters on simulated time. */
export const registryRig = (activeMax = 2) => {
  const time = simulatedTime();
  const logs: { message: string; fields: unknown }[] = [];
  const defects: string[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    log: (_, message, fields) => void logs.push({ message, fields }),
    count: (name, by, ...[labels]) => {
      if (by > 0) defects.push(`${name} ${JSON.stringify(labels)}`);
    },
  };
  const runtime = ManagedRuntime.make(clockLayer(time));
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const cluster = new Map<string, Counter>();
  const crashed: string[] = [];
  const written: string[] = [];
  const write = ({ key, wanted }: { readonly key: string; readonly wanted: number }) =>
    Effect.sleep(WRITE_MS).pipe(Effect.map(() => {
      written.push(`${key}=${wanted}`);
      const counter = cluster.get(key);
      if (counter !== undefined) counter.current = wanted;
      return wanted;
    }));
  const registry: CounterRegistry = actorRegistry(environment, {
    name: 'counter',
    logic: counter.provide({
      actors: {
        writeNumber: fromPromise<number, Numbers>(({ input, signal }) =>
          runtime.runPromise(registry.inFlight(write(input), -1), { signal })
        ),
      },
    }),
    keyOf: ({ key }: Counter) => key,
    input: ({ key, wanted, current }) => ({ key, wanted, current }),
    observe: ({ wanted }, actor) => {
      if (actor.getSnapshot().context.wanted !== wanted) {
        actor.send({ type: 'number.wanted', wanted });
      }
    },
    onCrash: ({ key }) => crashed.push(key),
    passivation: {
      activeMax,
      isPending: ({ wanted, current }) => wanted !== current,
      isSafe: ({ current }, { context }) => context.current === current,
    },
  });
  const want = (key: string, wanted: number): void => {
    const entry = cluster.get(key) ?? { key, wanted: 0, current: 0 };
    cluster.set(key, entry);
    entry.wanted = wanted;
    registry.consider(entry);
  };
  const crash = (key: string): void => registry.get(key)?.send({ type: 'crash.planted' });
  return { registry, time, cluster, want, crash, crashed, written, logs, defects };
};
