/** The actors of the playground: which statechart each runs, and what can happen to it. */
import type { AnyStateMachine } from 'xstate';
import { evictionCircuit } from '../../src/machines/eviction-circuit.ts';
import { fleetSession } from '../../src/machines/fleet-session.ts';
import { leadership } from '../../src/machines/leadership.ts';
import { listWatch } from '../../src/machines/list-watch.ts';
import { nodeDrain } from '../../src/machines/node-drain.ts';
import { podEviction } from '../../src/machines/pod-eviction.ts';
import { NODE_DRAIN_CASES, NODE_DRAIN_INPUT } from './drain-cases.ts';
import type { EventCase } from './event-case.ts';
import { EVICTION_CIRCUIT_CASES, POD_EVICTION_CASES, POD_INPUTS } from './eviction-cases.ts';
import {
  FLEET_SESSION_CASES,
  LEADERSHIP_CASES,
  LIST_WATCH_CASES,
  PROCESS_INPUTS,
} from './process-cases.ts';

/** The statecharts of the playground. */
export const STATECHARTS: Readonly<Record<string, AnyStateMachine>> = {
  nodeDrain,
  podEviction,
  evictionCircuit,
  leadership,
  fleetSession,
  listWatch,
};

/** An actor. */
export interface PlayActor {
  readonly id: string;
  readonly about: string;
  readonly input: unknown;
}

/** All actors. A shared address names them by their place: append only. */
export const ACTORS: readonly PlayActor[] = [
  {
    id: `podEviction/${POD_INPUTS.db.key}`,
    about: 'A pod behind a budget',
    input: POD_INPUTS.db,
  },
  {
    id: `podEviction/${POD_INPUTS.web.key}`,
    about: 'A pod without a budget',
    input: POD_INPUTS.web,
  },
  { id: 'nodeDrain/node-1', about: 'The drain of a node', input: NODE_DRAIN_INPUT },
  { id: 'evictionCircuit', about: 'The circuit breaker of evictions', input: undefined },
  { id: 'leadership', about: 'The lease', input: PROCESS_INPUTS.leadership },
  {
    id: 'fleetSession/eu-1',
    about: 'The session with the fleet',
    input: PROCESS_INPUTS.fleetSession,
  },
  { id: 'listWatch/nodes', about: 'The watch of Nodes', input: PROCESS_INPUTS.listWatch },
];

/** What can happen, by statechart. A shared address names cases by their place: append only. */
export const CASES: Readonly<Record<string, readonly EventCase[]>> = {
  nodeDrain: NODE_DRAIN_CASES,
  podEviction: POD_EVICTION_CASES,
  evictionCircuit: EVICTION_CIRCUIT_CASES,
  leadership: LEADERSHIP_CASES,
  fleetSession: FLEET_SESSION_CASES,
  listWatch: LIST_WATCH_CASES,
};
