/**
 * Computes the phase of an UpcomingNode from the shard's frames.
 *
 * Promises: every sequence of states ends where UPN-01 requires, also when newer frames superseded
 * some; the only memory is the machine's last phase, which can be read back from the object.
 */
import type { MachineState } from './frames.ts';

/** Phases of an UpcomingNode, in lifecycle order. */
export const PHASES = [
  'Provisioning',
  'Launched',
  'Registered',
  'Ready',
  'Draining',
  'Drained',
  'Failed',
] as const;
export type Phase = (typeof PHASES)[number];

/**
 * The status of a machine after its last frame: a phase, or `Gone` when it is no longer bound.
 * `Drained` is both: it is written, and then the object is deleted.
 */
export type Standing = Phase | 'Gone';

/** The text as a phase; `undefined` when unknown. */
export const phaseNamed = (text: string | undefined): Phase | undefined =>
  PHASES.find((phase) => phase === text);

const PHASE_OF = {
  Unspecified: 'Provisioning',
  Speculative: 'Provisioning',
  Creating: 'Provisioning',
  Configuring: 'Registered',
  Configured: 'Ready',
  Draining: 'Draining',
  Failed: 'Failed',
} as const satisfies Record<Exclude<MachineState, 'Idle' | 'Deleting'>, Phase>;

/** The effect of IDLE: launched while it was being created, else no longer bound. */
const afterIdle = (standing: Standing): Standing => {
  switch (standing) {
    case 'Provisioning':
    case 'Launched':
      return 'Launched';
    case 'Draining':
    case 'Drained':
      return 'Drained';
    case 'Registered':
    case 'Ready':
    case 'Failed':
    case 'Gone':
      return 'Gone';
  }
};

/**
 * The status after one more frame. `standing` results from the machine's previous frame or, when
 * this process has seen none, from the phase of its object; `undefined` for an unknown machine, for
 * which IDLE and DELETING change nothing.
 */
export const follow = (
  standing: Standing | undefined,
  state: MachineState,
): Standing | undefined => {
  if (state === 'Idle') return standing === undefined ? undefined : afterIdle(standing);
  if (state === 'Deleting') return standing === undefined ? undefined : 'Gone';
  return PHASE_OF[state];
};

/** True when a machine with this status must have no object, after it was written as Drained. */
export const endsObject = (standing: Standing): standing is 'Gone' | 'Drained' =>
  standing === 'Gone' || standing === 'Drained';

/** The transitions of a machine, including those with one superseded frame in between. */
const NEXT: Readonly<Record<MachineState, readonly MachineState[]>> = {
  Unspecified: [],
  Speculative: ['Creating', 'Idle', 'Configuring', 'Deleting', 'Failed'],
  Creating: ['Idle', 'Configuring', 'Configured', 'Deleting', 'Failed'],
  Idle: ['Speculative', 'Creating', 'Configuring', 'Configured', 'Deleting', 'Failed'],
  Configuring: ['Configured', 'Idle', 'Draining', 'Deleting', 'Failed'],
  Configured: ['Draining', 'Idle', 'Deleting', 'Failed'],
  Draining: ['Idle', 'Configuring', 'Deleting', 'Failed'],
  Deleting: ['Speculative', 'Creating', 'Idle', 'Failed'],
  Failed: ['Idle', 'Configuring', 'Creating', 'Deleting'],
};

/**
 * True when the transition is expected; unexpected ones are applied as well.
 */
export const isKnownTransition = (from: MachineState, to: MachineState): boolean =>
  from === to || NEXT[from].includes(to);
