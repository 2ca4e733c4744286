/** The catalogue of statecharts: what docs, page, command line and model tests are made from. */
import { fleetSession } from './fleet-session.ts';
import { operator } from './operator.ts';

/** Every statechart by its name. */
export const MACHINES = {
  fleetSession,
  operator,
} as const;
