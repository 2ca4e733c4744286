/** The catalogue of statecharts: what docs, page, command line and model tests are made from. */
import { availableCapacity } from './available-capacity.ts';
import { fleetSession } from './fleet-session.ts';
import { leadership } from './leadership.ts';
import { listWatch } from './list-watch.ts';
import { operator } from './operator.ts';
import { upcomingNode } from './upcoming-node.ts';

/** Every statechart by its name. */
export const MACHINES = {
  availableCapacity,
  fleetSession,
  leadership,
  listWatch,
  operator,
  upcomingNode,
} as const;
