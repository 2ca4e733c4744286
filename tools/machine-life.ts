/**
 * The life of a machine as a user sees it in the phase of its UpcomingNode: drawn for the concepts.
 *
 * Promises: a test compares it with the phases that frames of the shard lead to.
 */
import { createMachine } from 'xstate';
import type { MachineState } from '../src/domain/frames.ts';

/** The state in the shard's frame behind an event; null for one that the cluster brings about. */
export const LIFE_EVENTS: Readonly<Record<string, MachineState | null>> = {
  'machine.created': 'Idle',
  'machine.bound': 'Configuring',
  'machine.configured': 'Configured',
  'machine.reclaimed': 'Draining',
  'pods.left': null,
  'deadline.passed': null,
  'machine.failed': 'Failed',
  'machine.removed': 'Deleting',
};

const toRegistered = { 'machine.bound': 'Registered' };

/** Its states are the phases; the last one is the end of the object. */
export const machineLife = createMachine({
  id: 'machine',
  description: 'One machine of the fleet in this cluster, as its UpcomingNode shows it.',
  initial: 'Provisioning',
  on: { 'machine.failed': '.Failed', 'machine.removed': '.Removed' },
  states: {
    Provisioning: {
      description: 'The fleet creates the machine.',
      on: { 'machine.created': 'Launched', ...toRegistered },
    },
    Launched: {
      description: 'The machine exists and is not bound yet.',
      on: toRegistered,
    },
    Registered: {
      description: 'The machine reads its user data and joins as a Node.',
      on: { 'machine.configured': 'Ready' },
    },
    Ready: {
      description: 'The Node runs pods.',
      on: { 'machine.reclaimed': 'Draining' },
    },
    Draining: {
      description: 'The Node is cordoned and its pods leave.',
      on: { 'pods.left': 'Drained', 'deadline.passed': 'Failed' },
    },
    Drained: {
      description: 'All pods that had to leave are gone; the fleet removes the machine.',
    },
    Failed: {
      description: 'The machine failed, or pods remained at the deadline; lastError says why.',
    },
    Removed: {
      description: 'The machine has left, and its UpcomingNode is deleted.',
      type: 'final',
    },
  },
});
