/**
 * The lifecycle of a machine in the stand-in fleet: bought, idle, bound to a cluster, drained,
 * idle.
 *
 * Promises: the state alone determines the report to the cluster (`meta.machineState`); an
 * unanswered pull times out; a machine resumes where it was after its fleet is killed.
 */
import { assign, setup } from 'xstate';
import type { FleetTiming } from './fleet-time.ts';

/** A machine's state in the wire's terms. */
export const FLEET_MACHINE_STATES = [
  'SPECULATIVE',
  'CREATING',
  'IDLE',
  'CONFIGURING',
  'CONFIGURED',
  'DRAINING',
  'DELETING',
  'FAILED',
] as const;
export type FleetMachineState = (typeof FLEET_MACHINE_STATES)[number];

/** Durations of the phases of a machine. */
export type MachineTiming = Pick<
  FleetTiming,
  'bootstrapMs' | 'creationMs' | 'joiningMs' | 'drainingMs' | 'deletionMs'
>;

interface MachineContext {
  /** The last journaled state. */
  readonly woken: FleetMachineState;
  readonly timing: MachineTiming;
  /** The grace of the reclaim that drains it. */
  readonly graceMs: number;
  readonly lastError: string;
}

/** The input of a machine. */
export interface MachineInput {
  readonly state: FleetMachineState;
  readonly timing: MachineTiming;
  readonly lastError: string;
}

/** Events of a machine. */
export type MachineEvent =
  | { readonly type: 'machine.ordered' }
  | { readonly type: 'machine.bound' }
  | { readonly type: 'bootstrap.answered' }
  | { readonly type: 'bootstrap.refused'; readonly error: string }
  | { readonly type: 'machine.reclaimed'; readonly graceMs: number }
  | { readonly type: 'machine.repaired' }
  | { readonly type: 'machine.released' };

/** One machine of the fleet. */
export const fleetMachine = setup({
  types: {
    context: {} as MachineContext,
    input: {} as MachineInput,
    events: {} as MachineEvent,
    meta: {} as { readonly machineState: FleetMachineState },
  },
  delays: {
    creation: ({ context }) => context.timing.creationMs,
    bootstrapDeadline: ({ context }) => context.timing.bootstrapMs,
    joining: ({ context }) => context.timing.joiningMs,
    providerDrain: ({ context }) => Math.min(context.timing.drainingMs, context.graceMs),
    deletion: ({ context }) => context.timing.deletionMs,
  },
  guards: {
    wasIn: ({ context }, state: FleetMachineState) => context.woken === state,
  },
  actions: {
    forgetError: assign({ lastError: '' }),
  },
}).createMachine({
  id: 'fleetMachine',
  context: ({ input }) => ({
    woken: input.state,
    timing: input.timing,
    graceMs: input.timing.drainingMs,
    lastError: input.lastError,
  }),
  initial: 'waking',
  states: {
    waking: {
      description: 'The fleet has just started and goes by what it wrote down.',
      always: [
        { guard: { type: 'wasIn', params: 'SPECULATIVE' }, target: 'speculative' },
        { guard: { type: 'wasIn', params: 'CREATING' }, target: 'creating' },
        { guard: { type: 'wasIn', params: 'CONFIGURING' }, target: 'configuring' },
        { guard: { type: 'wasIn', params: 'CONFIGURED' }, target: 'configured' },
        { guard: { type: 'wasIn', params: 'DRAINING' }, target: 'draining' },
        { guard: { type: 'wasIn', params: 'DELETING' }, target: 'deleting' },
        { guard: { type: 'wasIn', params: 'FAILED' }, target: 'failed' },
        { target: 'idle' },
      ],
    },
    speculative: {
      description: 'It could be bought.',
      tags: 'settled',
      meta: { machineState: 'SPECULATIVE' },
      on: { 'machine.ordered': 'creating' },
    },
    creating: {
      description: 'The provider is making it.',
      meta: { machineState: 'CREATING' },
      after: { creation: 'idle' },
    },
    idle: {
      description: 'It exists and belongs to no cluster.',
      tags: 'settled',
      meta: { machineState: 'IDLE' },
      entry: 'forgetError',
      on: { 'machine.bound': 'configuring', 'machine.released': 'deleting' },
    },
    configuring: {
      description: 'It is bound to a cluster and is made into one of its nodes.',
      meta: { machineState: 'CONFIGURING' },
      initial: 'pulling',
      states: {
        pulling: {
          description: 'The cluster is asked how a machine joins it.',
          on: {
            'bootstrap.answered': 'joining',
            'bootstrap.refused': {
              target: '#fleetMachine.failed',
              actions: assign({ lastError: ({ event }) => event.error }),
            },
          },
          after: { bootstrapDeadline: '#fleetMachine.idle' },
        },
        joining: {
          description: 'It boots with what the cluster answered.',
          after: { joining: '#fleetMachine.configured' },
        },
      },
    },
    configured: {
      description: 'It runs as a node of the cluster.',
      tags: 'settled',
      meta: { machineState: 'CONFIGURED' },
      on: {
        'machine.reclaimed': {
          target: 'draining',
          actions: assign({ graceMs: ({ event }) => event.graceMs }),
        },
      },
    },
    draining: {
      description: 'The provider empties it, whatever the cluster does meanwhile.',
      meta: { machineState: 'DRAINING' },
      after: { providerDrain: 'idle' },
    },
    deleting: {
      description: 'It goes back to the provider.',
      meta: { machineState: 'DELETING' },
      after: { deletion: 'speculative' },
    },
    failed: {
      description: 'The cluster could not say how it joins; a person has to look.',
      tags: 'settled',
      meta: { machineState: 'FAILED' },
      on: { 'machine.repaired': 'idle' },
    },
  },
});
