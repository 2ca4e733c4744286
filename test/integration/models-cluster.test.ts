/** What executes paths on clusters is tried itself: on a request for a namespace. */
import { Effect, ManagedRuntime } from 'effect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { KubeApi } from '../../src/effects/kube-api.ts';
import { required } from '../../src/machines/required.ts';
import { type Executable, explored, pathsOf } from '../models/cluster/executable.ts';
import { executeAll } from '../models/cluster/executions.ts';
import type { SiteAddress } from '../models/cluster/site.ts';
import type {
  ClusterHarness,
  PathRun,
  PathStep,
  RunEnvironment,
} from '../models/cluster/cluster-harness.ts';
import { makeActGate } from '../models/cluster/act-gate.ts';
import type { Order } from '../models/cluster/fault-line.ts';
import { loseAnswer } from '../models/cluster/troubles.ts';
import { embeddedHttp } from '../support/api/embedded-http.ts';

type Found = { readonly _tag: 'Made' } | { readonly _tag: 'There' } | { readonly _tag: 'Lost' };

const namespaceRequest = setup({
  types: { input: {} as object },
  actors: { makeIt: required<Found, undefined>('makeIt') },
}).createMachine({
  id: 'namespaceRequest',
  initial: 'making',
  states: {
    making: {
      invoke: {
        id: 'makeIt',
        src: 'makeIt',
        onDone: [
          { guard: ({ event }) => event.output._tag === 'Lost', target: 'making', reenter: true },
          { guard: ({ event }) => event.output._tag === 'There', target: 'there' },
          { target: 'made' },
        ],
      },
    },
    there: { type: 'final' },
    made: { type: 'final' },
  },
});

const PATH = '/api/v1/namespaces';

const tagIn = ({ event }: Pick<PathStep, 'event'>): Found['_tag'] =>
  (event['output'] as Found)._tag;

/** Creates the namespace of the path; a conflict means that it exists. */
const makeIt = (name: string): Effect.Effect<Found, never, KubeApi> =>
  KubeApi.use((api) => api.call({ method: 'POST', path: PATH, body: { metadata: { name } } })).pipe(
    Effect.match({
      onSuccess: ({ status }): Found => ({ _tag: status === 409 ? 'There' : 'Made' }),
      onFailure: (): Found => ({ _tag: 'Lost' }),
    }),
  );

/** Whether the answer to an applied request was lost. */
interface World {
  readonly lost: boolean;
}

type Hindrance = ClusterHarness<World>['hindrance'];

const runAt = ({ number, line, services }: RunEnvironment): PathRun<World> => {
  const runtime = ManagedRuntime.make(services);
  return {
    machine: namespaceRequest.provide({
      actors: {
        makeIt: fromPromise(({ signal }) =>
          runtime.runPromise(makeIt(`namespace-${number}`), { signal })
        ),
      },
    }),
    arrange: (pathStep) =>
      Promise.resolve(tagIn(pathStep) === 'Lost' ? loseAnswer({ line }) : 'server'),
    observe: ({ event }) => Promise.resolve({ event, by: 'word' }),
    stop: () => runtime.dispose(),
  };
};

const harnessOf = (hindrance: Hindrance): ClusterHarness<World> => ({
  world: { lost: false },
  hindrance,
  follows: (world, { event }) =>
    event.type === 'xstate.init' ? world : { lost: world.lost || tagIn({ event }) === 'Lost' },
  open: () =>
    Promise.resolve({
      begin: (environment) => Promise.resolve(runAt(environment)),
      close: () => Promise.resolve(),
    }),
});

const requestExecuted = (hindrance: Hindrance): Executable<World> => ({
  name: 'namespaceRequest',
  machine: namespaceRequest,
  exploration: {
    inputs: [{}],
    events: {
      'xstate.done.actor.makeIt': [
        { output: { _tag: 'Made' } },
        { output: { _tag: 'There' } },
        { output: { _tag: 'Lost' } },
      ],
    },
    project: () => ({}),
    limit: 100,
  },
  invariant: undefined,
  harness: harnessOf(hindrance),
  generated: () => [],
});

/** Executes all executable paths on an embedded cluster. */
const execution = async (executable: Executable<World>) => {
  const { server, stop } = await embeddedHttp();
  onTestFinished(stop);
  const site: SiteAddress = {
    name: 'embedded',
    server,
    authority: '',
    operatorToken: '',
    strangerToken: '',
  };
  return await executeAll(executable, site, pathsOf(executable, explored(executable, false)));
};

/** As above, by an action; what it finds is sent as an event. */
const namespaceAction = setup({
  types: { input: {} as object, events: {} as { type: 'made' | 'lost' } },
  actions: { makeIt: () => {} },
}).createMachine({
  id: 'namespaceAction',
  initial: 'making',
  states: {
    making: { entry: 'makeIt', on: { made: 'made', lost: 'lost' } },
    lost: { type: 'final' },
    made: { type: 'final' },
  },
});

/** An action behind a gate of its own, and the answers that are arranged for the events. */
const actionAt = (
  { number, line, services, gate }: RunEnvironment,
  orders: Readonly<Record<string, Order>>,
): PathRun<World> => {
  const runtime = ManagedRuntime.make(services);
  const own = makeActGate();
  gate.open();
  return {
    machine: namespaceAction.provide({
      actions: {
        makeIt: ({ self }) => {
          const made = Effect.andThen(own.pass, makeIt(`acted-${number}`));
          void runtime.runPromise(made).then(({ _tag }) =>
            self.send({ type: _tag === 'Made' ? 'made' : 'lost' })
          );
        },
      },
    }),
    gateOf: () => own,
    arrange: ({ event }) => {
      const order = orders[event.type];
      if (order === undefined) return Promise.resolve('server');
      line.order(order);
      return Promise.resolve('line');
    },
    observe: ({ event }) => Promise.resolve({ event, by: 'word' }),
    stop: () => runtime.dispose(),
  };
};

const actionExecuted = (orders: Readonly<Record<string, Order>>): Executable<World> => ({
  ...requestExecuted(() => undefined),
  name: 'namespaceAction',
  machine: namespaceAction,
  exploration: { inputs: [{}], events: {}, project: () => ({}), limit: 100 },
  harness: {
    world: { lost: false },
    answers: { made: 'makeIt', lost: 'makeIt' },
    hindrance: () => undefined,
    follows: (world) => world,
    open: () =>
      Promise.resolve({
        begin: (environment) => Promise.resolve(actionAt(environment, orders)),
        close: () => Promise.resolve(),
      }),
  },
});

/** A count of four, beside which so much else happens that a limit cuts it off. */
const crowdedCount = setup({
  types: {
    context: {} as { readonly count: number; readonly crowd: number },
    events: {} as { type: 'counted' | 'crowded' },
  },
}).createMachine({
  id: 'crowdedCount',
  context: { count: 0, crowd: 0 },
  on: { crowded: { actions: assign({ crowd: ({ context }) => context.crowd + 1 }) } },
  initial: 'counting',
  states: {
    counting: {
      always: { guard: ({ context }) => context.count === 4, target: 'counted' },
      on: { counted: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
    },
    counted: {},
  },
});

/** How many paths to the end of the count are found. */
const pathsToCount = (parts: ClusterHarness<World>['parts']): number => {
  const counting = requestExecuted(() => undefined);
  const { edges } = explored({
    ...counting,
    machine: crowdedCount,
    exploration: { inputs: [{}], events: {}, project: (context) => context, limit: 5 },
    harness: { ...counting.harness, follows: (world) => world, ...(parts && { parts }) },
  }, false);
  return edges.filter(({ step: { after } }) => after.matches('counted')).length;
};

describe('paths on a cluster', () => {
  it('are gone when a cluster does what the harness says: what was lost is done', async () => {
    const results = await execution(
      requestExecuted(({ lost }, moment) =>
        tagIn(moment) !== 'Lost' && lost !== (tagIn(moment) === 'There')
          ? 'it is there when an answer was lost'
          : undefined
      ),
    );
    const moves = results.map((one) => one.moves.map(({ by }) => by).join(' '));
    expect(moves.toSorted()).toEqual(['line line', 'line server', 'server']);
  });

  it('end with both answers when a server answers otherwise than is drawn', async () => {
    await expect(execution(requestExecuted(() => undefined))).rejects.toThrow(
      /"makeIt" was answered otherwise: the answer._tag is "(Made|There)", drawn is "(Made|There)"/,
    );
  });

  it('answer an action by the event that the server or the wire leads to', async () => {
    const results = await execution(actionExecuted({ lost: { kind: 'cut', done: false } }));
    const moves = results.map((one) => one.moves.map(({ by }) => by).join(' '));
    expect(moves.toSorted()).toEqual(['line', 'server']);
  });

  it('end when an action is answered by another event than is drawn', async () => {
    await expect(execution(actionExecuted({}))).rejects.toThrow(
      '"makeIt" was answered otherwise: the answer.type is "made", drawn is "lost"',
    );
  });

  it('go a part further than the whole, which the limit cuts off', () => {
    expect(pathsToCount(undefined)).toBe(0);
    expect(pathsToCount([({ event }) => event.type !== 'crowded'])).toBe(1);
  });
});
