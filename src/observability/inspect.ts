/**
 * One tap on XState's inspection: every transition of every statechart becomes a log line and a
 * count.
 *
 * Promises: costs a lookup and a counter for each transition and keeps nothing for an actor, so
 * that 100,000 of them can be watched; label values are the states as they are drawn, of machines
 * that the catalogue knows, so their number is bounded; never throws into the actor.
 */
import type { InspectionEvent } from 'xstate';
import type { LogLevel, Telemetry } from '../api/telemetry.ts';
import { actorId, type Inspect } from './inspector.ts';
import type { Logs } from './logs.ts';

/** What the tap needs. */
export interface InspectOptions {
  readonly telemetry: Pick<Telemetry, 'log' | 'count'>;
  readonly enabled: Logs['enabled'];
  /**
   * The catalogue: how loud the transitions of each machine are, by its id. A machine of which
   * there is one in a process is worth `info`; one of thousands `debug`.
   */
  readonly levels: Readonly<Record<string, LogLevel>>;
}

type Microstep = Extract<InspectionEvent, { type: '@xstate.microstep' }>;
type Drawn = Microstep['_transitions'][number];

/** A state by its path in the chart; the root is the machine itself. */
const pathOf = (node: Drawn['source'] | undefined): string =>
  node === undefined || node.path.length === 0 ? 'root' : node.path.join('.');

/** A drawn transition as a metric and a log line name it. */
type Labels = Readonly<Record<'machine' | 'from' | 'to', string>>;

/** Charts do not change while a process runs, so each drawn transition is named once. */
const drawn = new WeakMap<Drawn, Labels>();

const labelsOf = (transition: Drawn): Labels => {
  const known = drawn.get(transition);
  if (known !== undefined) return known;
  const labels = Object.freeze({
    machine: transition.source.machine.id,
    from: pathOf(transition.source),
    to: (transition.target ?? []).map(pathOf).join(',') || pathOf(transition.source),
  });
  drawn.set(transition, labels);
  return labels;
};

/** The tap of logs and metrics. */
export const inspectionTap = (options: InspectOptions): Inspect => {
  const { telemetry, enabled, levels } = options;
  return (event) => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) {
      // Without a target nothing moved: an observation was taken in.
      if (transition.target === undefined) continue;
      const labels = labelsOf(transition);
      const level = levels[labels.machine];
      if (level === undefined) continue;
      telemetry.count('tidegate_machine_transitions_total', 1, labels);
      if (!enabled(level)) continue;
      telemetry.log(level, 'Statechart moved', {
        machine: labels.machine,
        actor: actorId(event),
        event: event.event.type,
        from: labels.from,
        to: labels.to,
      });
    }
  };
};
