/** The stand-in fleet's machine, explored to its end. */
import type { AnyMachineSnapshot } from 'xstate';
import {
  FLEET_MACHINE_STATES,
  fleetMachine,
  type FleetMachineState,
} from '../../packages/stand-in-fleet/src/machine.ts';
import { textAt } from '../../src/domain/json.ts';
import { follows, type Line, must } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const timing = {
  bootstrapMs: 30_000,
  creationMs: 2000,
  joiningMs: 500,
  drainingMs: 2000,
  deletionMs: 1000,
};

/** The reported and journaled state: the outermost one. */
const stateOf = ({ value }: AnyMachineSnapshot): string =>
  (typeof value === 'string' ? value : Object.keys(value)[0] ?? '').toUpperCase();

const known = (state: string | undefined): FleetMachineState =>
  FLEET_MACHINE_STATES.find((candidate) => candidate === state) ?? 'IDLE';

/** How machines change hands, in the wire's terms. */
const MOVES: readonly (readonly [string, FleetMachineState, FleetMachineState, string])[] = [
  ['machine.ordered', 'SPECULATIVE', 'CREATING', 'creating'],
  ['after creation', 'CREATING', 'IDLE', 'idle'],
  ['machine.bound', 'IDLE', 'CONFIGURING', 'configuring.pulling'],
  ['bootstrap.refused', 'CONFIGURING', 'FAILED', 'failed'],
  ['after bootstrapDeadline', 'CONFIGURING', 'IDLE', 'idle'],
  ['bootstrap.answered', 'CONFIGURING', 'CONFIGURING', 'configuring.joining'],
  ['after joining', 'CONFIGURING', 'CONFIGURED', 'configured'],
  ['machine.reclaimed', 'CONFIGURED', 'DRAINING', 'draining'],
  ['after providerDrain', 'DRAINING', 'IDLE', 'idle'],
  ['machine.released', 'IDLE', 'DELETING', 'deleting'],
  ['after deletion', 'DELETING', 'SPECULATIVE', 'speculative'],
  ['machine.repaired', 'FAILED', 'IDLE', 'idle'],
];

const transitions = follows([
  ...FLEET_MACHINE_STATES.map((state): Line => ({
    on: 'xstate.init',
    when: ({ after }) => after.context.woken === state,
    to: state === 'CONFIGURING' ? 'configuring.pulling' : state.toLowerCase(),
  })),
  ...MOVES.map(([on, from, , to]): Line => ({ on, from: [from.toLowerCase()], to })),
]);

const received = (type: string, on: string): boolean =>
  on.startsWith('after ') ? type.startsWith(`xstate.${on.replace(' ', '.')}.`) : type === on;

describeModel('fleetMachine', {
  machine: fleetMachine,
  inputs: FLEET_MACHINE_STATES.map((state) => ({ state, timing, lastError: '' })),
  events: {
    'bootstrap.refused': [{ error: 'no template' }],
    'machine.reclaimed': [{ graceMs: 600_000 }, { graceMs: 1000 }],
  },
  project: ({ lastError, graceMs }) => ({ lastError, graceMs }),
  invariant: (snapshot) => {
    const { lastError } = snapshot.context;
    if (lastError !== '' && !snapshot.matches('failed')) {
      throw new Error(`${stateOf(snapshot)} still shows the error "${lastError}"`);
    }
  },
  stepInvariant: (step) => {
    transitions(step);
    const { event, after } = step;
    if (event.type === 'bootstrap.refused') {
      must(after.context.lastError === event['error'], 'a person is told what to mend');
    }
    if (event.type === 'machine.reclaimed') {
      must(after.context.graceMs === event['graceMs'], 'the grace is that of the reclaim');
    }
  },
  // The journal has what happened to the machine.
  crash: {
    world: { state: known('IDLE') },
    record: ({ state }, { event }) => ({
      state: event.type === 'xstate.init'
        ? known(textAt(event, 'input', 'state'))
        : MOVES.find(([on, from]) => received(event.type, on) && from === state)?.[2] ?? state,
    }),
    restart: ({ state }) => ({ input: { state, timing, lastError: '' }, events: [] }),
    obligations: (snapshot) => stateOf(snapshot),
  },
  forgets: 'machine.bound',
  limit: 200,
});
