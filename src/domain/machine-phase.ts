/**
 * From the shard's frames to the phase of an UpcomingNode: facts in, verdict out.
 *
 * Promises: every sequence of states ends where UPN-01 says, also when frames were superseded by
 * newer ones; what a verdict needs to know of the past is the machine's last phase, which can be
 * read back from its object, and whether it was being created.
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
export type MachinePhase = Phase | 'Gone';

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

/**
 * The effect of IDLE: launched while it was being created, else no longer bound. Without a frame
 * that says otherwise, an object in Provisioning was being created.
 */
const afterIdle = (phase: MachinePhase, last: MachineState = 'Creating'): MachinePhase => {
  switch (phase) {
    case 'Provisioning':
      return last === 'Creating' ? 'Launched' : 'Gone';
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
 * The phase after one more frame. `phase` is what the machine's last frame led to or, when
 * this process has seen none, the phase that its object shows; `undefined` for a machine of which
 * nothing is known, and IDLE or DELETING of such a machine leave it unknown. `last` is the state of
 * its last frame, when this process has seen one.
 */
export const follow = (
  phase: MachinePhase | undefined,
  state: MachineState,
  last?: MachineState,
): MachinePhase | undefined => {
  if (state === 'Idle') return phase === undefined ? undefined : afterIdle(phase, last);
  if (state === 'Deleting') return phase === undefined ? undefined : 'Gone';
  return PHASE_OF[state];
};

/** True when a machine in this phase is to have no object, once it was shown as Drained. */
export const endsObject = (phase: MachinePhase): phase is 'Gone' | 'Drained' =>
  phase === 'Gone' || phase === 'Drained';

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
