/** The window of the statechart `nodeMaintenance`, by the spec and what was last read of it. */
import type { NodeMaintenanceContext } from '../../../src/machines/node-maintenance-context.ts';
import type { Step } from './interpreter.ts';
import { exactly, isTimer, must } from './step-invariants.ts';

/** Where the window is, told by the spec and what was last read of it. */
export const windowOf = ({ maintenance, window, vanished }: NodeMaintenanceContext): string => {
  const { spec: { stage, window: limit }, deleting, generation } = maintenance;
  const isWorkedOn = !vanished && !deleting && (stage === 'Cordon' || stage === 'Drain');
  if (!isWorkedOn || limit === null) return 'unlimited';
  return window?.generation === generation ? window.state._tag.toLowerCase() : 'unknown';
};

/** The actions that begin with each state of the window. */
const WINDOW_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  unlimited: ['beginNodes'],
  unknown: ['withholdNodes', 'requestWindow'],
  open: ['beginNodes'],
  closed: ['withholdNodes', 'recordWindowClosed'],
  malformed: ['withholdNodes', 'recordWindowMalformed'],
};

/** When Nodes may begin, when the clock is looked at again, and what is recorded. */
export const checkWindow = (step: Step): void => {
  const { before, after, event } = step;
  const window = windowOf(after.context);
  must(after.matches({ window }), `NM-50: the window is ${window}`);
  const isEntered = event.type === 'xstate.init' || !before.matches({ window });
  const isDue = isTimer(step, 'windowChange');
  const expected = isEntered ? WINDOW_ACTIONS[window] ?? [] : isDue ? ['requestWindow'] : [];
  for (const action of new Set(Object.values(WINDOW_ACTIONS).flat())) {
    exactly(step, action, expected.includes(action));
  }
};
