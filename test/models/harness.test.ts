/** The harness itself: each of its checks must fail for a defective machine. */
import { describe, expect, test } from 'vitest';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  type EventObject,
  setup,
} from 'xstate';
import { numberAt, textAt } from '../../src/domain/json.ts';
import { statePaths } from '../../src/domain/state-value.ts';
import { required } from '../../src/machines/required.ts';
import {
  adjacencyMapToArray,
  createTestModel,
  getAdjacencyMap,
  getSimplePaths,
} from 'xstate/graph';
import { coverageOf } from './harness/coverage.ts';
import { receivedIn } from './harness/crash.ts';
import { deadEnds } from './harness/dead-ends.ts';
import { drive } from './harness/driver.ts';
import { explore, machineInWorld } from './harness/explorer.ts';
import { forgetting } from './harness/forgetting.ts';
import { checkedWalks } from './harness/independent-checks.ts';
import { eventLabel, namedEvents, type Step } from './harness/interpreter.ts';
import { exactly } from './harness/step-invariants.ts';
import { mutationResult } from './harness/mutation-run.ts';
import { edgeCover, kindsOf, simplePaths } from './harness/paths.ts';
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

/** What the cluster shows, and what was ordered but did not land yet. */
interface World extends Facts {
  readonly ordered?: number;
}

const modelOf = (remembers: boolean): Model<ReturnType<typeof drainInSmall>, World> => ({
  machine: drainInSmall(remembers),
  inputs: [{}, { deadline: 300 }],
  events: {
    'drain.ordered': [{ deadline: 600 }],
    'xstate.done.actor.cordonNode': [{ output: { _tag: 'Landed' } }, { output: { _tag: 'Fault' } }],
    'xstate.error.actor.cordonNode': [{ error: new Error('defect') }],
  },
  crash: {
    world: {},
    record: (world, { event }) => {
      if (event.type === 'pods.gone') return {};
      const received = numberAt(event['input'], 'deadline');
      if (received !== undefined) return { deadline: received };
      const ordered = numberAt(event, 'deadline') ?? world.ordered;
      if (ordered === undefined) return world;
      const landed = textAt(event['output'], '_tag') === 'Landed';
      return landed ? { deadline: ordered } : { ...world, ordered };
    },
    restart: ({ deadline }) => ({
      input: deadline === undefined ? {} : { deadline },
      events: [],
    }),
    obligations: (snapshot) => snapshot.matches('draining') ? snapshot.context.deadline : null,
  },
});

/** The same, with what makes it a tested one. */
const testedModelOf = (remembers: boolean) => {
  const { crash, ...model } = modelOf(remembers);
  if (crash === undefined) throw new Error('The model has no crash checks');
  return { ...model, crash, forgets: 'drain.ordered', settles: hasEnded };
};

/** An order may never come. */
const hasEnded = (snapshot: AnyMachineSnapshot): boolean =>
  snapshot.status === 'done' || snapshot.matches('idle');

describeModel('drainInSmall', testedModelOf(true));

/** Two states that lead to each other, and nowhere else. */
const pingPong = setup({ types: { events: {} as { type: 'ball.returned' } } }).createMachine({
  id: 'pingPong',
  initial: 'ping',
  states: {
    ping: { description: 'The ball is here.', on: { 'ball.returned': 'pong' } },
    pong: { description: 'The ball is there.', on: { 'ball.returned': 'ping' } },
  },
});

/** A lamp that rings when it is lit. */
const lamp = setup({
  types: { events: {} as { type: 'lamp.switched' } },
  actions: { ring: () => {} },
}).createMachine({
  id: 'lamp',
  initial: 'dark',
  states: {
    dark: {
      description: 'Dark.',
      on: { 'lamp.switched': { target: 'lit', actions: 'ring' } },
    },
    lit: { description: 'Lit.', tags: 'settled' },
  },
});

/** Regions that do not affect each other, of two states each. */
const lamps = setup({
  types: { events: {} as { type: `lamp.${'a' | 'b' | 'c' | 'd'}` } },
}).createMachine({
  id: 'lamps',
  type: 'parallel',
  states: Object.fromEntries((['a', 'b', 'c', 'd'] as const).map((name) => [name, {
    initial: 'dark',
    states: {
      dark: { on: { [`lamp.${name}`]: 'lit' } },
      lit: { on: { [`lamp.${name}`]: 'dark' } },
    },
  }])),
});

const pathsOf = (machine: AnyStateMachine) => edgeCover(exploreModel({ machine, inputs: [{}] }));

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

  test('calls states that only lead to each other dead ends', () => {
    const dead = deadEnds(exploreModel({ machine: pingPong, inputs: [{}] }));
    expect(dead).toEqual(['start', 'start\n  ball.returned']);
  });

  test('finds no dead end where a settled state can be reached', () => {
    expect(deadEnds(exploreModel({ machine: lamp, inputs: [{}] }))).toEqual([]);
  });

  test('finds a live actor that does something else on a drawn path', async () => {
    const rig = { machine: lamp, project: () => null, invariant: undefined };
    const silent = () => forgetting(lamp, 'lamp.switched');
    for (const path of pathsOf(lamp)) await drive({ ...rig, wire: undefined }, path);
    const driven = Promise.all(pathsOf(lamp).map((path) => drive({ ...rig, wire: silent }, path)));
    await expect(driven).rejects.toThrow('The live actor left the drawn path');
  });

  test('finds a live actor that begins otherwise', async () => {
    const rig = { machine: lamp, wire: () => pingPong, project: () => null, invariant: undefined };
    await expect(drive(rig, { input: {}, steps: [] }))
      .rejects.toThrow('The live actor left the drawn path');
  });

  test('finds a machine that forgets what it heard, by what was written', () => {
    const { machine, crash } = testedModelOf(true);
    const rules = { crash, invariant: undefined, stepInvariant: undefined, settles: undefined };
    const walks = edgeCover(exploreModel(modelOf(true)));
    expect(checkedWalks(machine, rules, walks).found).toBeUndefined();
    const forgetful = forgetting(machine, 'drain.ordered');
    expect(checkedWalks(forgetful, rules, walks).found?.check).toBe('crash law');
  });

  test('cannot forget what a machine never hears', () => {
    expect(() => forgetting(lamp, 'lamp.painted')).toThrow('lamp never hears "lamp.painted"');
  });

  test('counts a mutant as caught only by a check that knows what is right', () => {
    const explored = (machine: AnyStateMachine) => exploreModel({ machine, inputs: [{}] });
    const ground = { machine: lamp, paths: { recorded: pathsOf(lamp), further: [] }, explored };
    const none = { invariant: undefined, stepInvariant: undefined, settles: undefined };
    const lawless = mutationResult({ ...ground, rules: { ...none, crash: undefined } });
    expect(lawless.byTranscriptsOnly).toEqual([
      'lamp.dark --lamp.switched--> lamp.lit: without ring',
    ]);
    const stepInvariant = (step: Step) =>
      exactly(step, 'ring', step.event.type === 'lamp.switched');
    const lawful = mutationResult({
      ...ground,
      rules: { ...none, stepInvariant, crash: undefined },
    });
    expect(lawful.byTranscriptsOnly).toEqual([]);
    expect(lawful.checks.invariants).toBeGreaterThan(0);
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
    const record = (world: World, step: Step) => crash.record(world, receivedIn(step));
    const { world } = crash;
    const exploration = { machine, inputs: [input], events, project, world, record, limit: 100 };
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

  test('covers the steps and the pairs of states of parallel regions, not their product', () => {
    const explored = exploreModel({ machine: lamps, inputs: [undefined] });
    const paths = edgeCover(explored);
    const steps = paths.flatMap((path) => path.steps);
    const covered = new Set(steps.flatMap(kindsOf));
    expect(explored.edges.flatMap(({ step }) => kindsOf(step)).filter((kind) => !covered.has(kind)))
      .toEqual([]);
    const values = steps.map(({ after }) => statePaths(after.value));
    const both = (...states: readonly string[]) =>
      values.some((paths) => states.every((state) => paths.includes(state)));
    expect([both('a.dark', 'd.lit'), both('a.lit', 'd.lit'), both('a.lit', 'd.dark')])
      .toEqual([true, true, true]);
    expect(explored.edges).toHaveLength(2 ** 4 * 4);
    expect(paths.length).toBeLessThan(2 * 4 * 2);
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
