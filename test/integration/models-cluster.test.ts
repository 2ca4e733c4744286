/** What executes paths on clusters is tried itself: on a request for a namespace. */
import { Effect, ManagedRuntime } from 'effect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromPromise, setup } from 'xstate';
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
const execution = async (hindrance: Hindrance) => {
  const { server, stop } = await embeddedHttp();
  onTestFinished(stop);
  const site: SiteAddress = {
    name: 'embedded',
    server,
    authority: '',
    operatorToken: '',
    strangerToken: '',
  };
  const executable = requestExecuted(hindrance);
  return await executeAll(executable, site, pathsOf(executable, explored(executable, false)));
};

describe('paths on a cluster', () => {
  it('are gone when a cluster does what the harness says: what was lost is done', async () => {
    const results = await execution(({ lost }, moment) =>
      tagIn(moment) !== 'Lost' && lost !== (tagIn(moment) === 'There')
        ? 'it is there when an answer was lost'
        : undefined
    );
    const moves = results.map((one) => one.moves.map(({ by }) => by).join(' '));
    expect(moves.toSorted()).toEqual(['line line', 'line server', 'server']);
  });

  it('end with both answers when a server answers otherwise than is drawn', async () => {
    await expect(execution(() => undefined)).rejects.toThrow(
      /"makeIt" was answered otherwise: the answer._tag is "(Made|There)", drawn is "(Made|There)"/,
    );
  });
});
