/** The harness itself: each of its checks must fail for a defective machine. */
import { describe, expect, test } from 'vitest';
import { assign, type EventObject, setup } from 'xstate';
import { required } from '../../src/machines/required.ts';
import {
  adjacencyMapToArray,
  createTestModel,
  getAdjacencyMap,
  getSimplePaths,
} from 'xstate/graph';
import { coverageOf } from './harness/coverage.ts';
import { explore, machineInWorld } from './harness/explorer.ts';
import { eventLabel, namedEvents } from './harness/interpreter.ts';
import { simplePaths } from './harness/paths.ts';
import { crashChecks, describeModel, exploreModel, type Model } from './model.ts';

interface Facts {
  readonly deadline?: number;
}

/** A minimal drain: records a deadline, works, and is done at the deadline. */
const drainInSmall = (remembers: boolean) =>
  setup({
    types: {
      context: {} as { deadline: number | null; written: boolean },
      events: {} as
        | { type: 'drain.ordered'; deadline: number }
        | { type: 'pods.gone' }
        | { type: 'xstate.done.actor.cordonNode'; output: { _tag: 'Landed' | 'Fault' } },
      input: {} as Facts,
    },
    actors: {
      cordonNode: required<{ _tag: 'Landed' | 'Fault' }, { deadline: number | null }>('cordonNode'),
    },
    delays: { retryBackoff: 1000 },
    guards: { annotated: ({ context }) => context.deadline !== null },
  }).createMachine({
    id: 'drainInSmall',
    context: ({ input }) => ({
      deadline: remembers ? input.deadline ?? null : null,
      written: false,
    }),
    initial: 'deciding',
    states: {
      deciding: {
        description: 'Reads the node.',
        always: [{ guard: 'annotated', target: 'draining' }, { target: 'idle' }],
      },
      idle: {
        description: 'Nothing was ordered.',
        on: {
          'drain.ordered': {
            target: 'cordoning',
            actions: assign({ deadline: ({ event }) => event.deadline }),
          },
        },
      },
      cordoning: {
        description: 'Writes cordon and deadline in one patch.',
        invoke: {
          id: 'cordonNode',
          src: 'cordonNode',
          input: ({ context }) => ({ deadline: context.deadline }),
          onDone: [
            { guard: ({ event }) => event.output._tag === 'Landed', target: 'draining' },
            { target: 'backingOff' },
          ],
          onError: 'backingOff',
        },
      },
      backingOff: {
        description: 'The patch failed; waits before the next try.',
        after: { retryBackoff: 'cordoning' },
      },
      draining: { description: 'Pods leave.', on: { 'pods.gone': 'drained' } },
      drained: { description: 'The node is empty.', type: 'final' },
    },
  });

const modelOf = (remembers: boolean): Model<ReturnType<typeof drainInSmall>, Facts> => ({
  machine: drainInSmall(remembers),
  inputs: [{}, { deadline: 300 }],
  events: {
    'drain.ordered': [{ deadline: 600 }],
    'xstate.done.actor.cordonNode': [{ output: { _tag: 'Landed' } }, { output: { _tag: 'Fault' } }],
    'xstate.error.actor.cordonNode': [{ error: new Error('defect') }],
  },
  crash: {
    world: {},
    record: (world, { event, before, after }) => {
      if (event.type === 'pods.gone') return {};
      const landed = after.matches('draining') && !before.matches('idle');
      return landed ? { deadline: after.context.deadline } : world;
    },
    restart: (world) => ({ input: world, events: [] }),
    obligations: (snapshot) => snapshot.matches('draining') ? snapshot.context.deadline : null,
  },
});

describeModel('drainInSmall', modelOf(true));

describe('the model harness', () => {
  test('finds a machine that keeps its deadline only in memory', () => {
    const model = modelOf(false);
    const violations = crashChecks(model, exploreModel(model))?.violations() ?? [];
    expect(violations.join('\n')).toContain('before the crash: 600; after the restart: null');
  });

  test('finds that a restart in the registry loses what was kept only in memory', () => {
    const model = modelOf(false);
    const { violations = [] } = crashChecks(model, exploreModel(model))?.inRegistry() ?? {};
    expect(violations.join('\n')).toContain('before the crash: 600; after the restart: null');
  });

  test('names states and transitions that nothing reaches', () => {
    const machine = setup({ types: { events: {} as { type: 'gate.opened' } } }).createMachine({
      id: 'gate',
      initial: 'closed',
      states: {
        closed: {
          description: 'Shut.',
          on: {
            'gate.opened': {
              guard: function neverTrue() {
                return false;
              },
              target: 'open',
            },
          },
        },
        open: {},
      },
    });
    const coverage = coverageOf(machine, exploreModel({ machine, inputs: [undefined] }));
    expect(coverage.missingStates).toEqual(['gate.open']);
    expect(coverage.missingTransitions).toEqual([
      'gate.closed --gate.opened when neverTrue--> gate.open',
    ]);
    expect(coverage.undescribedStates).toEqual(['gate.open']);
  });

  test('finds the configurations and edges of the adjacency map of xstate/graph', () => {
    const model = modelOf(true);
    const { machine, inputs: [input = {}], events = {}, crash } = model;
    if (crash === undefined) throw new Error('The model has no crash checks');
    const project = (context: unknown) => context;
    const exploration = { machine, inputs: [input], events, project, ...crash, limit: 100 };
    const { possibleIn, nameOf } = namedEvents(events);
    const adjacency = getAdjacencyMap(machineInWorld(exploration, input).logic, {
      serializeState: ({ key }) => key,
      serializeEvent: nameOf,
      events: ({ snapshot }) => possibleIn(snapshot),
    });
    const { configurations, edges } = explore(exploration);
    expect([...configurations.keys()]).toEqual(Object.keys(adjacency));
    expect(edges.map(({ from, step, toKey }) => [from.key, step.event, toKey])).toEqual(
      adjacencyMapToArray(adjacency)
        .map(({ state, event, nextState }) => [state.key, event, nextState.key]),
    );
  });

  test('draws simple paths that are among those of xstate/graph', () => {
    const { machine, inputs, events = {} } = modelOf(true);
    const project = (context: unknown) => context;
    const { possibleIn, nameOf } = namedEvents(events);
    const named = (steps: readonly { readonly event: EventObject }[]): string =>
      steps.map(({ event }) => eventLabel(event)).join();
    const all = inputs.flatMap((input) => {
      const exploration = { machine, inputs, events, project, world: null, limit: 100 };
      const { logic } = machineInWorld({ ...exploration, record: () => null }, input);
      return getSimplePaths(logic, {
        serializeState: ({ key }) => key,
        serializeEvent: nameOf,
        events: ({ snapshot }) => possibleIn(snapshot),
      }).map(({ steps }) => named(steps.slice(1)));
    });
    const drawn = simplePaths({ machine, inputs, events, project, happens: () => true });
    expect(new Set(all)).toEqual(new Set([...all, ...drawn.map(({ steps }) => named(steps))]));
  });

  test('distinguishes payloads with equal JSON', () => {
    const machine = setup({
      types: { context: {} as { why: string }, events: {} as { type: 'failed'; error: Error } },
    }).createMachine({
      context: { why: '' },
      on: { failed: { actions: assign({ why: ({ event }) => event.error.message }) } },
    });
    const failed = [{ error: new Error('one') }, { error: new Error('another') }];
    const { configurations } = exploreModel({ machine, inputs: [undefined], events: { failed } });
    expect(configurations.size).toBe(3);
  });

  test('makes no test model of a machine that invokes or waits: xstate/graph refuses it', () => {
    expect(() => createTestModel(drainInSmall(true))).toThrow('not supported');
  });

  test('refuses a context that is no plain data', () => {
    const machine = setup({ types: { context: {} as { seen: Set<string> } } }).createMachine({
      context: { seen: new Set<string>() },
    });
    expect(() => exploreModel({ machine, inputs: [undefined] })).toThrow(
      'Context must be plain data, but context.seen holds a Set',
    );
  });

  test('reports an exploration that reached its limit', () => {
    const machine = setup({
      types: { context: {} as { n: number }, events: {} as { type: 'counted' } },
    }).createMachine({
      context: { n: 0 },
      on: { counted: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
    });
    expect(exploreModel({ machine, inputs: [undefined], limit: 10 }).truncated).toBe(true);
  });
});
