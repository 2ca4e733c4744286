/** The stand-in fleet's machine, explored to its end. */
import type { AnyMachineSnapshot } from 'xstate';
import { FLEET_MACHINE_STATES, fleetMachine } from '../../packages/stand-in-fleet/src/machine.ts';
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

const known = (state: string): (typeof FLEET_MACHINE_STATES)[number] =>
  FLEET_MACHINE_STATES.find((candidate) => candidate === state) ?? 'IDLE';

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
  crash: {
    world: { state: 'IDLE' },
    record: (_, step) => ({ state: stateOf(step.after) }),
    restart: ({ state }) => ({
      input: { state: known(state), timing, lastError: '' },
      events: [],
    }),
    obligations: (snapshot) => stateOf(snapshot),
  },
  limit: 200,
});
